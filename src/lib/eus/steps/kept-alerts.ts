import { isFields } from '../../cluster/apply/field-path.ts'
import type { Reader } from '../../cluster/cluster.ts'
import { type Fired, firedNow } from '../../facts/openshift/new-alerts.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'

/** The journal has other things to keep, and a part of them would make old alerts new ones. */
const mostAlerts = 200

const key = (name: string): string => `${name}/alerts`

export async function keepAlerts(journal: Journal, name: string, reader: Reader): Promise<void> {
  await journal.keep(key(name), keepable(await firedNow(reader)))
}

const keepable = (fired: Fired): Fired =>
  'firing' in fired && fired.firing.length > mostAlerts
    ? { why: `they were ${fired.firing.length}, and at most ${mostAlerts} are kept` }
    : fired

/** As it was when the window was opened, or as it is now where nothing was kept yet. */
export async function alertsBefore(
  { reader, journal }: { reader: Reader; journal: JournalReader },
  name: string,
): Promise<Fired> {
  const found = await journal.kept(key(name))
  if (!isFields(found)) return firedNow(reader)
  if (Array.isArray(found['firing'])) return { firing: found['firing'].map(String) }
  return { why: String(found['why']) }
}
