import type { NewAlerts } from '../../facts/openshift/new-alerts.ts'
import type { Paint } from '../printer.ts'
import { upToTwenty } from './up-to-twenty.ts'

/** Alerts that fire since; none where nobody asked. */
export function alertLines({ alerts }: { alerts?: NewAlerts }, { mark }: Paint): readonly string[] {
  if (alerts === undefined) return []
  if ('notCompared' in alerts) return [`alerts were not compared: ${alerts.notCompared}`]
  if (alerts.new.length === 0) return ['no alert fires that did not before']
  return [`${mark.warning} alerts that did not fire before: ${upToTwenty(alerts.new)}`]
}
