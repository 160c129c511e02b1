import type {
  KubeVirt,
  MigrationState,
  VirtualMachineInstanceMigration,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import type { LauncherTrouble } from '../../kubevirt/diagnosis/launcher-trouble.ts'
import {
  hungProblem,
  isDecentralized,
  leftBehindSentence,
  type MigrationProblem,
  startProblem,
} from '../../kubevirt/diagnosis/stuck-migrations.ts'

/** Who made it, by what its object says (facts 3.2, 3.4). */
export type Maker = 'workload-update' | 'volume-update' | 'evacuation' | 'kvup' | 'somebody'

/** What is kept of a VirtualMachineInstanceMigration (facts 3.7). Times are RFC 3339. */
export interface Migration {
  uid: string
  namespace: string
  name: string
  /** Name of the VMI, which is in the same namespace. */
  vmi: string
  /** Empty until virt-controller has taken it up. */
  phase: string
  by: Maker
  createdAt?: string
  /** When the present phase began. */
  since?: string
  /** Of a finished one. */
  from?: string
  to?: string
  startedAt?: string
  failureReason?: string
  /** Types of its conditions that are True. */
  conditions: readonly string[]
  /** Deleted, which cancels it; its finalizer keeps it until it is over. */
  cancelled: boolean
  /** To or from another cluster: one of the two launchers is there. */
  decentralized?: true
  /** For how many ms its target pod may be pending, where an annotation says so. */
  patience: { unschedulable?: number; pending?: number }
}

/** On what KubeVirt's workload updater makes (facts 3.2). */
export const updaterAnnotation = 'kubevirt.io/workloadUpdateMigration'
const evacuationAnnotation = 'kubevirt.io/evacuationMigration'
const volumeLabel = 'kubevirt.io/volume-update-migration'
/** On what kvup makes. */
const ownLabel = 'app.kubernetes.io/managed-by'

const unschedulableAnnotation = 'kubevirt.io/migrationUnschedulablePodTimeoutSeconds'
const pendingAnnotation = 'kubevirt.io/migrationPendingPodTimeoutSeconds'

/** Pure; forgets the rest of the object. */
export function migrationOf(object: VirtualMachineInstanceMigration): Migration {
  const { metadata, spec, status } = object
  const phase = status?.phase ?? ''
  return {
    uid: metadata.uid ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    vmi: spec?.vmiName ?? '',
    phase,
    by: makerOf(object),
    ...present('createdAt', metadata.creationTimestamp),
    ...present('since', sinceOf(object, phase)),
    ...stateOf(status?.migrationState),
    conditions: (status?.conditions ?? []).filter((one) => one.status === 'True').map(({ type }) => type),
    cancelled: metadata.deletionTimestamp !== undefined,
    ...(isDecentralized(object) && { decentralized: true }),
    patience: patienceOf(metadata.annotations),
  }
}

const stateOf = ({ sourceNode, targetNode, startTimestamp, failureReason }: MigrationState = {}) => ({
  ...present('from', sourceNode),
  ...present('to', targetNode),
  ...present('startedAt', startTimestamp),
  ...present('failureReason', failureReason),
})

/** `namespace/name` of its VMI. */
export const vmOf = ({ namespace, vmi }: Pick<Migration, 'namespace' | 'vmi'>): string =>
  `${namespace}/${vmi}`

/** Only Succeeded and Failed are ends. */
export const isFinished = ({ phase }: Pick<Migration, 'phase'>): boolean =>
  phase === 'Succeeded' || phase === 'Failed'

/** Has a target pod, and counts against the limits; Pending ones do not (facts 3.2, 3.3). */
export const isRunning = (migration: Pick<Migration, 'phase'>): boolean =>
  !isFinished(migration) && migration.phase !== '' && migration.phase !== 'Pending'

/** KubeVirt makes another one of these when it failed, and holds that back for a while (facts 3.3). */
export const isRepeated = ({ by }: Pick<Migration, 'by'>): boolean =>
  by === 'workload-update' || by === 'volume-update' || by === 'evacuation'

/** KubeVirt made it by itself: its workload updater, or off a node that is drained. */
export const isAutomatic = ({ by }: Pick<Migration, 'by'>): boolean =>
  by === 'workload-update' || by === 'evacuation'

/** When it ended, or when it was made, in ms since the epoch. */
export const endOf = ({ since, createdAt }: Migration): number => Date.parse(since ?? createdAt ?? '') || 0

function makerOf({ metadata }: VirtualMachineInstanceMigration): Maker {
  const { annotations = {}, labels = {} } = metadata
  if (labels[ownLabel] === 'kvup') return 'kvup'
  if (volumeLabel in labels) return 'volume-update'
  if (updaterAnnotation in annotations) return 'workload-update'
  return evacuationAnnotation in annotations ? 'evacuation' : 'somebody'
}

function sinceOf({ metadata, status }: VirtualMachineInstanceMigration, phase: string): string | undefined {
  const reached = status?.phaseTransitionTimestamps?.findLast((one) => one.phase === phase)
  const { endTimestamp, startTimestamp } = status?.migrationState ?? {}
  const ended = isFinished({ phase }) ? endTimestamp : startTimestamp
  return reached?.phaseTransitionTimestamp ?? ended ?? metadata.creationTimestamp
}

const patienceOf = (annotations: Record<string, string> = {}): Migration['patience'] => ({
  ...present('unschedulable', secondsIn(annotations[unschedulableAnnotation])),
  ...present('pending', secondsIn(annotations[pendingAnnotation])),
})

function secondsIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) * seconds : undefined
}

function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V })
}

/** How many migrations run at a time. */
export interface MigrationLimits {
  perCluster: number
  /** Away from one node. */
  perNode: number
}

/** From the KubeVirt CR, which has what HyperConverged passes on; defaults are KubeVirt's own (facts 1.3). */
export function migrationLimits({ spec }: KubeVirt): MigrationLimits {
  const set = (spec?.configuration?.['migrations'] ?? {}) as { [limit: string]: unknown }
  const limit = (name: string, otherwise: number) => {
    const value = set[name]
    return typeof value === 'number' ? value : otherwise
  }
  return {
    perCluster: limit('parallelMigrationsPerCluster', 5),
    perNode: limit('parallelOutboundMigrationsPerNode', 2),
  }
}

const first = 20 * seconds
/** As many as KubeVirt still knows of: it keeps five finished ones, so it never waits longer than 20 s · 2⁴ (facts 3.3). */
const most = 5

/**
 * Until when KubeVirt holds the next migration of a VMI back that failed so often in a row, the newest first; ms since the epoch, 0 where it
 * does not. Only migrations that it makes itself are held back, and only those count (facts 3.3, pkg/virt-controller/watch/migration,
 * handleMigrationBackoff).
 */
export function backOffUntil(failures: readonly Migration[]): number {
  const counted = failures.filter(isRepeated).slice(0, most)
  const [last] = counted
  return last === undefined ? 0 : endOf(last) + first * 2 ** (counted.length - 1)
}

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
  | 'hung'
  | 'left-behind'
  | 'not-known'

export interface Why {
  reason: PendingReason
  sentence: string
  /** RFC 3339: when KubeVirt tries again, or when it gives this one up. */
  until?: string
  /** Command that shows more. */
  commands?: string
  /** Commands that remedy, where waiting does not: each may end in five blanks and what it does. */
  remedy?: readonly string[]
}

/** The pod that is made for a migration. */
export interface TargetPod {
  name: string
  createdAt?: string
  /** Why it does not start. */
  trouble?: LauncherTrouble
  /** It ended, and how. */
  ended?: string
}

/** What is known around one migration that does not run yet. */
export interface MigrationContext {
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
  /** The last warning about its VMI. */
  warning?: string | undefined
  /** The node that its VMI was marked to leave, and that takes pods again: the mark was left behind. */
  leftBehind?: { node: string; remedy: readonly string[] } | undefined
  runningFromNode: number
  /** ms since the epoch; see `backOffUntil`. */
  backOffUntil: number
  failures: number
  /** Launcher pods of its VMI that have not ended. Undefined: not read. */
  livingPods?: number | undefined
  target?: TargetPod | undefined
}

type Rule = (migration: Migration, around: MigrationContext) => Why | undefined

const quiet = 30_000

/**
 * Why a migration does not run yet, the first reason being the one that has to go first. KubeVirt tells none of it but by conditions,
 * target pods and one event (facts 3.3, lab "Seen with workloads" 8). Pure.
 */
export function whyPending(migration: Migration, around: MigrationContext): readonly Why[] {
  const rules = migration.phase === 'Scheduling' || around.target ? [onTarget] : beforeTarget
  const found = [byCondition, onMark, ...rules]
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
  const commands = reason === 'quota' ? { commands: `kubectl -n ${namespace} get resourcequotas` } : {}
  return { reason, sentence, ...commands }
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
        commands: `kubectl -n ${namespace} get pods -l kubevirt.io/created-by=${uid ?? ''}`,
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
  const { sentence, remedy } = startProblem(trouble)
  return {
    reason: trouble.kind === 'unschedulable' ? 'unschedulable' : 'target-pod',
    sentence,
    ...until,
    commands: `kubectl -n ${migration.namespace} describe pod ${name}`,
    ...(isTold(trouble) && { remedy }),
  }
}

/** The scheduler's own words may be true for a moment only: who waits need not do anything about them. */
const isTold = ({ remedy, kind }: LauncherTrouble): boolean => kind !== 'unschedulable' || remedy.length > 1

/** The mark of a drain that is over makes KubeVirt begin one migration after the other (kubevirt issue 9585). */
const onMark: Rule = (_, { leftBehind }) =>
  leftBehind && {
    reason: 'left-behind',
    sentence: leftBehindSentence(leftBehind.node),
    remedy: leftBehind.remedy,
  }

/** Why a migration that runs does not get on: its target pod ended, or is gone where pods were read. Pure. */
export function whyHung(
  { namespace, name, phase, since, decentralized }: Migration,
  { at, target, livingPods }: Pick<MigrationContext, 'at' | 'target' | 'livingPods'>,
): Why | undefined {
  if (livingPods === undefined || decentralized) return undefined
  const found: MigrationProblem | undefined = hungProblem(
    { namespace, migration: name, phase, ...(since !== undefined && { since }) },
    target,
    at,
  )
  return found && { reason: 'hung', ...found, ...(found.remedy[0] && { commands: found.remedy[0] }) }
}

function givenUpAt({ patience }: Migration, { createdAt, trouble }: TargetPod): { until?: string } {
  if (createdAt === undefined) return {}
  const { unschedulable = unschedulableFor, pending = pendingFor } = patience
  const ms = trouble?.kind === 'unschedulable' ? unschedulable : pending
  return { until: new Date(Date.parse(createdAt) + ms).toISOString() }
}

/** What virt-controller only writes into its log (lab "Seen with workloads" 8). */
function notKnown({ phase, since, name }: Migration, { at, home, warning }: MigrationContext): Why {
  const waited = at.getTime() - (Date.parse(since ?? '') || at.getTime())
  if (waited < quiet) return { reason: 'starting', sentence: 'it is new' }
  const commands = `kubectl -n ${home} logs -l kubevirt.io=virt-controller --tail=-1 | grep ${name}`
  return phase === ''
    ? { reason: 'not-taken-up', sentence: 'virt-controller has not processed it', commands }
    : {
        reason: 'not-known',
        sentence:
          warning === undefined
            ? 'KubeVirt does not say why; its log may'
            : `KubeVirt does not say why; the last warning about its VM is ${warning}`,
        commands,
      }
}
