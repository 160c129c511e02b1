import { isFields } from '../../cluster/apply/field-path.ts'
import type { Reader } from '../../cluster/cluster.ts'
import { firingAlerts } from '../../facts/openshift/firing-alerts.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'
import { allWords } from '../alerts-in-words.ts'

/** What fired, in words; or why nobody knows. */
type Fired = { firing: readonly string[] } | { why: string }

/** The journal has other things to keep. */
const mostAlerts = 200

const key = (name: string): string => `${name}/alerts`

export async function keepAlerts(journal: Journal, name: string, reader: Reader): Promise<void> {
  await journal.keep(key(name), await firedNow(reader))
}

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

/** Alerts that fire now and did not then (night E11); or why that cannot be told. */
export async function newAlerts(
  reader: Reader,
  before: Fired,
): Promise<{ new: readonly string[] } | { notCompared: string }> {
  if ('why' in before) return { notCompared: `nobody knows what fired when the window began: ${before.why}` }
  const now = await firedNow(reader)
  if ('why' in now) return { notCompared: now.why }
  return { new: now.firing.filter((one) => !before.firing.includes(one)) }
}

async function firedNow(reader: Reader): Promise<Fired> {
  const alerts = await firingAlerts(reader)
  return alerts.known ? { firing: allWords(alerts.items).slice(0, mostAlerts) } : { why: alerts.why }
}
