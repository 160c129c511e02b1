import { createHash } from 'node:crypto'
import { isFields } from '../../cluster/apply/field-path.ts'
import type { Reader } from '../../cluster/cluster.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'
import { takeCensus } from '../../workloads/census.ts'

/** `claim namespace/name`, `DataVolume namespace/name` → a short mark of its uid and phase. */
type Marks = Readonly<Record<string, string>>

/** The journal has room for some thousand names, and other things to keep. */
const mostVolumes = 500

const key = (name: string): string => `${name}/volumes`

export async function keepVolumes(journal: Journal, name: string, reader: Reader): Promise<void> {
  const marks = Object.entries(await marksOf(reader))
  await journal.keep(key(name), Object.fromEntries(marks.slice(0, mostVolumes)))
}

/** As they were when the window was opened, or as they are now where nothing was kept yet. */
export async function volumesBefore(
  { reader, journal }: { reader: Reader; journal: JournalReader },
  name: string,
): Promise<Marks> {
  const found = await journal.kept(key(name))
  if (!isFields(found)) return marksOf(reader)
  return Object.fromEntries(Object.entries(found).map(([volume, mark]) => [volume, String(mark)]))
}

/** DataVolumes and claims that are other ones, or in another phase, and those that are gone (night E11). What came since is not among them. */
export async function changedVolumes(
  reader: Reader,
  before: Marks,
): Promise<{ changed: readonly string[]; gone: readonly string[] }> {
  const after = await marksOf(reader)
  const names = Object.keys(before)
  return {
    changed: names.filter((volume) => after[volume] !== undefined && after[volume] !== before[volume]),
    gone: names.filter((volume) => after[volume] === undefined),
  }
}

async function marksOf(reader: Reader): Promise<Marks> {
  const { volumes } = await takeCensus(reader)
  return Object.fromEntries(
    [...volumes].map(([volume, { uid, phase }]) => [
      volume,
      createHash('sha256').update(`${uid} ${phase}`).digest('base64url').slice(0, 8),
    ]),
  )
}
