import type { FiringAlert } from './firing-alerts.ts'

/** By design, while VMs keep their launcher for more than a day (ocp 1.10). */
const expectedWhileHeld = new Set(['OutdatedVirtualMachineInstanceWorkloads'])

/** Those that `oc adm upgrade recommend` stops at, critical or not (ocp 4). */
const aboutVms = new Set(['VirtHandlerDaemonSetRolloutFailing', 'VMCannotBeEvicted'])

export const isExpected = (name: string): boolean => expectedWhileHeld.has(name)

/** Worth naming before nodes are drained. */
export const isGrave = ({ name, severity }: FiringAlert): boolean =>
  severity === 'critical' || aboutVms.has(name)

/** `KubeNodeNotReady`, `TargetDown in namespace x`: what tells one from another, without counting pods. */
function alertWords({ name, namespace }: FiringAlert): string {
  return namespace === undefined ? name : `${name} in namespace ${namespace}`
}

/** Each once, in order. */
export const allWords = (alerts: readonly FiringAlert[]): readonly string[] =>
  [...new Set(alerts.map(alertWords))].toSorted()

/** For one line: what is grave by name, the others by number. */
export function alertsLine(alerts: readonly FiringAlert[], inWindow: boolean): string {
  if (alerts.length === 0) return 'none fires'
  const grave = allWords(alerts.filter(isGrave))
  const expected = allWords(alerts.filter(({ name }) => inWindow && isExpected(name)))
  return [
    alerts.length === 1 ? '1 fires' : `${alerts.length} fire`,
    ...(grave.length > 0 ? [`grave: ${grave.slice(0, 3).join(', ')}${more(grave)}`] : []),
    ...(expected.length > 0 ? [`expected in a window: ${expected.join(', ')}`] : []),
  ].join('; ')
}

const more = ({ length }: readonly string[]): string => (length > 3 ? ` and ${length - 3} more` : '')
