import type {
  KubeVirt,
  MigrationState,
  VirtualMachineInstanceMigration,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { seconds } from '../../kube/clock.ts'

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
  /** For how many ms its target pod may be pending, where an annotation says so. */
  patience: { unschedulable?: number; pending?: number }
}

/** On what KubeVirt's workload updater makes (facts 3.2). */
const updaterAnnotation = 'kubevirt.io/workloadUpdateMigration'
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
    patience: patienceOf(metadata.annotations),
  }
}

function stateOf({ sourceNode, targetNode, startTimestamp, failureReason }: MigrationState = {}) {
  return {
    ...present('from', sourceNode),
    ...present('to', targetNode),
    ...present('startedAt', startTimestamp),
    ...present('failureReason', failureReason),
  }
}

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

/** When it ended, or when it was made, in ms since the epoch. */
export function endOf({ since, createdAt }: Migration): number {
  return Date.parse(since ?? createdAt ?? '') || 0
}

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

function patienceOf(annotations: Record<string, string> = {}): Migration['patience'] {
  return {
    ...present('unschedulable', secondsIn(annotations[unschedulableAnnotation])),
    ...present('pending', secondsIn(annotations[pendingAnnotation])),
  }
}

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
