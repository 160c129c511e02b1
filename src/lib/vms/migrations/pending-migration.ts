import type { PodTrouble } from '../../kubevirt/diagnosis/pod-trouble.ts'
import { minutes } from '../../kube/clock.ts'
import type { Migration, MigrationLimits } from './migration.ts'

/** What a migration waits for. */
type PendingReason =
  | 'cancelled'
  | 'quota'
  | 'backup'
  | 'utility-volumes'
  | 'other-cluster'
  | 'back-off'
  | 'several-pods'
  | 'cluster-limit'
  | 'node-limit'
  | 'unschedulable'
  | 'target-pod'
  | 'not-taken-up'
  | 'starting'
  | 'not-known'

export interface Why {
  reason: PendingReason
  sentence: string
  /** RFC 3339: when KubeVirt tries again, or when it gives this one up. */
  until?: string
  /** Command that shows more. */
  look?: string
}

/** The pod that is made for a migration. */
export interface TargetPod {
  name: string
  createdAt?: string
  /** Why it does not start. */
  trouble?: Pick<PodTrouble, 'kind' | 'message' | 'reason'>
}

/** What is known around one migration that does not run yet. */
export interface Surroundings {
  at: Date
  /** KubeVirt's namespace, for commands. */
  home: string
  limits?: MigrationLimits | undefined
  /** Migrations that run, in the whole cluster; absent where only a part of it may be read. */
  running?: number | undefined
  /** Where its VMI runs, and how many migrations run away from there. */
  node?: string | undefined
  /** Of its VMI. */
  uid?: string | undefined
  runningFromNode: number
  /** ms since the epoch; see `backOffUntil`. */
  backOffUntil: number
  failures: number
  /** Launcher pods of its VMI that have not ended. Undefined: not read. */
  livingPods?: number | undefined
  target?: TargetPod | undefined
}

type Rule = (migration: Migration, around: Surroundings) => Why | undefined

const quiet = 30_000

/**
 * Why a migration does not run yet, the first reason being the one that has to go first. KubeVirt tells none of it but by conditions,
 * target pods and one event (facts 3.3, lab "Seen with workloads" 8). Pure.
 */
export function whyPending(migration: Migration, around: Surroundings): readonly Why[] {
  const rules = migration.phase === 'Scheduling' || around.target ? [onTarget] : beforeTarget
  const found = [byCondition, ...rules]
    .map((rule) => rule(migration, around))
    .filter((why) => why !== undefined)
  return found.length > 0 ? found : [notKnown(migration, around)]
}

const conditions: readonly (readonly [type: string, reason: PendingReason, sentence: string])[] = [
  ['migrationRejectedByResourceQuota', 'quota', 'a ResourceQuota leaves no room for the second pod'],
  ['migrationBlockedByBackup', 'backup', 'a backup of the VM is in progress'],
  ['migrationBlockedByUtilityVolumes', 'utility-volumes', 'a utility volume is still attached'],
  ['decentralizedMigrationBlocked', 'other-cluster', 'the other cluster is not ready for it'],
]

const byCondition: Rule = ({ conditions: holding, cancelled, namespace }) => {
  if (cancelled) return { reason: 'cancelled', sentence: 'it is being cancelled' }
  const found = conditions.find(([type]) => holding.includes(type))
  if (found === undefined) return undefined
  const [, reason, sentence] = found
  const look = reason === 'quota' ? { look: `kubectl -n ${namespace} get resourcequotas` } : {}
  return { reason, sentence, ...look }
}

const backOff: Rule = (_, { backOffUntil: until, failures, at }) => {
  if (until <= at.getTime()) return undefined
  return {
    reason: 'back-off',
    sentence: `back-off after ${failures} ${failures === 1 ? 'failure' : 'failures in a row'}`,
    until: new Date(until).toISOString(),
  }
}

const severalPods: Rule = ({ namespace }, { livingPods = 0, uid }) =>
  livingPods > 1
    ? {
        reason: 'several-pods',
        sentence: `${livingPods} launcher pods of this VM have not ended: KubeVirt waits until one is left`,
        look: `kubectl -n ${namespace} get pods -l kubevirt.io/created-by=${uid ?? ''}`,
      }
    : undefined

const clusterLimit: Rule = (_, { limits, running = 0 }) =>
  limits !== undefined && running >= limits.perCluster
    ? {
        reason: 'cluster-limit',
        sentence: `${running} migrations run, and parallelMigrationsPerCluster is ${limits.perCluster}`,
      }
    : undefined

const nodeLimit: Rule = (_, { limits, node, runningFromNode }) =>
  limits !== undefined && node !== undefined && runningFromNode >= limits.perNode
    ? {
        reason: 'node-limit',
        sentence: `${runningFromNode} migrations run away from ${node}, and parallelOutboundMigrationsPerNode is ${limits.perNode}`,
      }
    : undefined

const beforeTarget: readonly Rule[] = [backOff, severalPods, clusterLimit, nodeLimit]

/** KubeVirt's own, from the creation of the target pod on (facts 3.3). */
const unschedulableFor = 5 * minutes
const pendingFor = 15 * minutes

const onTarget: Rule = (migration, { target }) => {
  if (target === undefined) return undefined
  const { name, trouble } = target
  const until = givenUpAt(migration, target)
  if (trouble === undefined) return { reason: 'starting', sentence: 'the target pod is starting', ...until }
  const unschedulable = trouble.kind === 'unschedulable'
  const words = unschedulable ? 'no node takes the target pod' : 'the target pod does not start'
  return {
    reason: unschedulable ? 'unschedulable' : 'target-pod',
    sentence: `${words}: ${trouble.message === '' ? trouble.reason : trouble.message}`,
    ...until,
    look: `kubectl -n ${migration.namespace} describe pod ${name}`,
  }
}

function givenUpAt({ patience }: Migration, { createdAt, trouble }: TargetPod): { until?: string } {
  if (createdAt === undefined) return {}
  const { unschedulable = unschedulableFor, pending = pendingFor } = patience
  const ms = trouble?.kind === 'unschedulable' ? unschedulable : pending
  return { until: new Date(Date.parse(createdAt) + ms).toISOString() }
}

/** What virt-controller only writes into its log (lab "Seen with workloads" 8). */
function notKnown({ phase, since, name }: Migration, { at, home }: Surroundings): Why {
  const waited = at.getTime() - (Date.parse(since ?? '') || at.getTime())
  if (waited < quiet) return { reason: 'starting', sentence: 'it was made just now' }
  const look = `kubectl -n ${home} logs -l kubevirt.io=virt-controller --tail=-1 | grep ${name}`
  return phase === ''
    ? { reason: 'not-taken-up', sentence: 'virt-controller has not taken it up', look }
    : { reason: 'not-known', sentence: 'KubeVirt does not say why; its log may', look }
}
