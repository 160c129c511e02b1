import type { Reader } from '../../cluster/cluster.ts'
import { allWords } from './alerts-in-words.ts'
import { firingAlerts } from './firing-alerts.ts'

/** What fired at a look, in words; or why nobody knows. */
export type Fired = { firing: readonly string[] } | { why: string }

/** What fires since; or why that cannot be told, and what to type. */
export type NewAlerts = { new: readonly string[] } | { notCompared: string }

export async function firedNow(reader: Reader): Promise<Fired> {
  const alerts = await firingAlerts(reader)
  return alerts.known ? { firing: allWords(alerts.items) } : { why: alerts.why }
}

/** The same where there is a platform whose Prometheus could be asked; undefined on any other cluster. Throws ApiError. */
export async function firedOnPlatform(reader: Reader): Promise<Fired | undefined> {
  const served = await reader.versions('config.openshift.io')
  return served.length === 0 ? undefined : firedNow(reader)
}

/** Alerts that fire now and did not at that look (night E11). */
export async function newAlerts(reader: Reader, before: Fired): Promise<NewAlerts> {
  if ('why' in before) return { notCompared: `nobody knows what fired when it began: ${before.why}` }
  const now = await firedNow(reader)
  if ('why' in now) return { notCompared: now.why }
  return { new: now.firing.filter((one) => !before.firing.includes(one)) }
}
