import type { Reader } from '../../cluster/cluster.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'
import { takeCensus } from '../../workloads/census.ts'
import { type Changed, changedMarks, keepMarks, keptMarks, markOf, type Marks } from './kept-marks.ts'

/** The journal has room for some thousand names, and other things to keep. */
const mostVolumes = 500

const key = (name: string): string => `${name}/volumes`

/** Of each `claim namespace/name` and `DataVolume namespace/name` its uid and phase. */
export async function keepVolumes(journal: Journal, name: string, reader: Reader): Promise<void> {
  await keepMarks(journal, key(name), await marksOf(reader), mostVolumes)
}

/** As they were when the window was opened, or as they are now where nothing was kept yet. */
export async function volumesBefore(
  { reader, journal }: { reader: Reader; journal: JournalReader },
  name: string,
): Promise<Marks> {
  return (await keptMarks(journal, key(name))) ?? marksOf(reader)
}

/** DataVolumes and claims that are other ones, or in another phase, and those that are gone (night E11). */
export async function changedVolumes(reader: Reader, before: Marks): Promise<Changed> {
  return changedMarks(before, await marksOf(reader))
}

async function marksOf(reader: Reader): Promise<Marks> {
  const { volumes } = await takeCensus(reader)
  return Object.fromEntries(
    [...volumes].map(([volume, { uid, phase }]) => [volume, markOf(`${uid} ${phase}`, 8)]),
  )
}
