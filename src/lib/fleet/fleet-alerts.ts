import type { Reader } from '../kube/cluster.ts'
import type { Known } from '../kube/known.ts'
import {
  type Fired,
  alertsByRoute,
  allWords,
  firingAlerts,
  isExpected,
  isGrave,
  type FiringAlert,
} from '../openshift/firing-alerts.ts'

/** Which alerts end a fleet run, and how they are asked for: through the API server, or by the Route with the user's token. */
export interface AlertRule {
  atLeast: 'critical' | 'warning'
  by: 'proxy' | 'route'
}

/** What fires in one cluster that the rule counts, in words; or why nobody knows. What belongs to an upgrade that goes well is not counted. Throws nothing that the API server answers. */
export async function countedAlerts(
  reader: Parameters<typeof alertsByRoute>[0] & Pick<Reader, 'askService'>,
  { atLeast, by }: AlertRule,
): Promise<Fired> {
  const alerts: Known<FiringAlert> = await (by === 'route' ? alertsByRoute(reader) : firingAlerts(reader))
  if (!alerts.known) return { why: alerts.why }
  const isCounted = (alert: FiringAlert) =>
    !isExpected(alert.name) && (isGrave(alert) || (atLeast === 'warning' && alert.severity === 'warning'))
  return { firing: allWords(alerts.items.filter(isCounted)) }
}
