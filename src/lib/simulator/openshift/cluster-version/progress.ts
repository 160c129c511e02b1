import type { ClusterOperator, ClusterVersion } from '../../../cluster/kinds/openshift.ts'
import type { Condition } from '../../../cluster/object.ts'
import { type Claim, isTrue, msSince, withConditions } from '../conditions.ts'
import { minute } from '../platform-context.ts'

type Status = NonNullable<ClusterVersion['status']>

/** How many manifests a release has; each operator stands for as many. */
const manifests = 901
const limit = { slow: 30 * minute, slowMachines: 90 * minute, degraded: 40 * minute }

/** The version that an operator is at, itself. */
export function operatorVersion({ status }: ClusterOperator): string | undefined {
  return status?.versions?.find(({ name }) => name === 'operator')?.version
}

/** True when nothing of it is left to be done for that version. */
export function isAt(operator: ClusterOperator, version: string): boolean {
  const { conditions } = operator.status ?? {}
  const moving = isTrue(conditions, 'Progressing') || isTrue(conditions, 'Degraded')
  return operatorVersion(operator) === version && !moving
}

/** Where the update stands, and whether it fails (ocp 3.1): Completed once every operator is there. Pure. */
export function withProgress(status: Status, operators: readonly ClusterOperator[], now: Date): Status {
  const at = now.toISOString().replace(/\.\d+Z$/, 'Z')
  const version = status.desired?.version ?? ''
  const [last, ...before] = status.history ?? []
  const say = (claims: readonly Claim[]): Condition[] => withConditions(status.conditions ?? [], claims, at)
  if (last?.state !== 'Partial') return { ...status, conditions: say(reconciling(version, operators)) }
  const done = operators.filter((operator) => isAt(operator, version)).length
  if (done < operators.length)
    return { ...status, conditions: say(updating(version, { operators, done, now })) }
  const available = { type: 'Available', status: 'True', message: `Done applying ${version}` } as const
  return {
    ...status,
    history: [{ ...last, state: 'Completed', completionTime: at }, ...before],
    conditions: say([available, ...reconciling(version, operators)]),
  }
}

const fine: Claim = { type: 'Failing', status: 'False' }
const progressing = (status: 'True' | 'False', message: string, reason?: string): Claim => ({
  type: 'Progressing',
  status,
  message,
  ...(reason === undefined ? {} : { reason }),
})

function reconciling(version: string, operators: readonly ClusterOperator[]): Claim[] {
  const degraded = degradedNames(operators)
  if (degraded.length === 0) return [fine, progressing('False', `Cluster version is ${version}`)]
  const message = `Error while reconciling ${version}: ${degradedWords(degraded)}`
  return [failing(degraded), progressing('False', message, degradedReason(degraded))]
}

function updating(
  version: string,
  { operators, done, now }: { operators: readonly ClusterOperator[]; done: number; now: Date },
): Claim[] {
  const started = operators.filter(
    (o) => isTrue(o.status?.conditions, 'Progressing') || isTrue(o.status?.conditions, 'Degraded'),
  )
  const over = (ms: (name: string) => number): string[] =>
    names(started.filter((o) => msSince(o.status?.conditions, 'Progressing', now) > ms(o.metadata.name)))
  const degraded = degradedNames(started)
  const exceeded = over(() => limit.degraded).filter((name) => degraded.includes(name))
  if (exceeded.length > 0) {
    const message = `Unable to apply ${version}: wait has exceeded 40 minutes for these operators: ${exceeded.join(', ')}`
    return [failing(exceeded), progressing('True', message, degradedReason(exceeded))]
  }
  const parts = Math.round((manifests * done) / operators.length)
  const percent = Math.trunc((parts / manifests) * 100)
  const towards = `Working towards ${version}: ${parts} of ${manifests} done (${percent}% complete)`
  if (degraded.length > 0) {
    const message = `${towards}, waiting up to 40 minutes on ${degraded.join(', ')}`
    return [fine, progressing('True', message, degradedReason(degraded))]
  }
  const slow = over((name) => (name === 'machine-config' ? limit.slowMachines : limit.slow))
  if (slow.length > 0) {
    const words = slowWords(slow)
    const unsure = {
      type: 'Failing',
      status: 'Unknown',
      reason: 'SlowClusterOperator',
      message: words,
    } as const
    return [unsure, progressing('True', `${towards}, ${words}`, updatingReason(slow))]
  }
  if (started.length === 0) return [fine, progressing('True', towards)]
  const waited = names(started)
  return [fine, progressing('True', `${towards}, waiting on ${waited.join(', ')}`, updatingReason(waited))]
}

const names = (operators: readonly ClusterOperator[]): string[] =>
  operators.map(({ metadata }) => metadata.name).sort()

const degradedNames = (operators: readonly ClusterOperator[]): string[] =>
  names(operators.filter((o) => isTrue(o.status?.conditions, 'Degraded')))

const several = (of: readonly string[], one: string, many: string): string => (of.length === 1 ? one : many)
const updatingReason = (of: readonly string[]): string =>
  several(of, 'ClusterOperatorUpdating', 'ClusterOperatorsUpdating')
const degradedReason = (of: readonly string[]): string =>
  several(of, 'ClusterOperatorDegraded', 'ClusterOperatorsDegraded')
const degradedWords = (of: readonly string[]): string =>
  several(
    of,
    `the cluster operator ${of[0]} is degraded`,
    `the cluster operators ${of.join(', ')} are degraded`,
  )

function failing(of: readonly string[]): Claim {
  const message = several(
    of,
    `Cluster operator ${of[0]} is degraded`,
    `Cluster operators ${of.join(', ')} are degraded`,
  )
  return { type: 'Failing', status: 'True', reason: degradedReason(of), message }
}

function slowWords(slow: readonly string[]): string {
  const others = slow.filter((name) => name !== 'machine-config')
  const parts = [
    ...(others.length > 0 ? [`${others.join(', ')} over 30 minutes`] : []),
    ...(slow.includes('machine-config') ? ['machine-config over 90 minutes'] : []),
  ]
  return `waiting on ${parts.join(' and ')} which is longer than expected`
}
