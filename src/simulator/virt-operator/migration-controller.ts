import {
  type KubeVirt,
  KubeVirts,
  type MigrationState,
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { type Pod, Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { control, ownedBy, recordEvent } from '../machinery/controller.ts'
import { isLiving, isReady } from '../machinery/owned-pods.ts'
import {
  createLauncher,
  currentLauncher,
  finishLauncher,
  launchersOf,
  migrationLabel,
  outdatedLabel,
  seconds,
  type VirtControllerContext,
} from './vmi-controller.ts'
import { outcomeAnnotations } from '../vm-shape.ts'
import { condition, type Condition } from '../../lib/kube/object.ts'
import { compareVersions, versionOf } from '../../lib/releases/release-versions.ts'
import { ApiError } from '../../lib/kube/errors.ts'

/** What a pass over the migrations knows. */
interface MigrationView {
  migrations: readonly VirtualMachineInstanceMigration[]
  instances: readonly VirtualMachineInstance[]
  limits: MigrationLimits
  /** Nodes whose virt-handler is there: without it a migration fails (facts 2.8). */
  handled: ReadonlySet<string>
  /** Started in this pass. */
  started: Set<VirtualMachineInstanceMigration>
  /** Migrations whose back-off was announced, by uid. */
  told: Set<string>
}

/** The migration controller, and what virt-handler does for it: facts 3.3 and 3.7. */
export function runMigrations(cx: VirtControllerContext): Promise<void> {
  const watched = [
    { kind: VirtualMachineInstanceMigrations },
    { kind: Pods, concerns: ownedBy('VirtualMachineInstance') },
    { kind: Pods, where: { namespace: cx.namespace, labels: 'kubevirt.io=virt-handler' } },
  ]
  const told = new Set<string>()
  return control(cx, watched, async () => {
    const view = { ...(await readMigrationView(cx)), told }
    let again: number | undefined
    for (const migration of view.migrations) {
      const later = await tend(cx, view, migration)
      if (later !== undefined) again = Math.min(later, again ?? later)
    }
    return again
  })
}

async function readMigrationView(cx: VirtControllerContext): Promise<Omit<MigrationView, 'told'>> {
  const [kubevirt]: KubeVirt[] = await cx.reader.list(KubeVirts, { namespace: cx.namespace })
  const handlers = await cx.reader.list(Pods, { namespace: cx.namespace, labels: 'kubevirt.io=virt-handler' })
  const serving = handlers.filter((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined)
  return {
    migrations: await cx.reader.list(VirtualMachineInstanceMigrations),
    instances: await cx.reader.list(VirtualMachineInstances),
    limits: limitsOf(kubevirt?.spec?.configuration),
    started: new Set(),
    handled: new Set(serving.map((pod) => pod.spec?.nodeName ?? '')),
  }
}

async function tend(
  cx: VirtControllerContext,
  view: MigrationView,
  migration: VirtualMachineInstanceMigration,
): Promise<number | undefined> {
  const { name = '', namespace } = { name: migration.spec?.vmiName, namespace: migration.metadata.namespace }
  const vmi = view.instances.find(({ metadata: m }) => m.name === name && m.namespace === namespace)
  if (migration.metadata.deletionTimestamp !== undefined) {
    await removeDeleted(cx, migration, vmi)
    return undefined
  }
  if (isFinal(migration)) {
    await collectOld(cx, view.migrations, migration)
    return undefined
  }
  return vmi ? advance(cx, { migration, vmi }, view) : fail(cx, migration, 'VMI does not exist')
}

/** How long a migration takes that was given no fate, in ms. */
const usual = 3000

type Step = (cx: VirtControllerContext, both: Migrated, view: MigrationView) => Promise<number | undefined>

/** What each phase does next: facts 3.7. */
const steps: Record<string, Step> = {
  '': admit,
  Pending: (cx, both, view) => schedule(cx, view, both),
  Scheduling: awaitTarget,
  Scheduled: (cx, { migration }) => become(cx, migration, 'PreparingTarget'),
  PreparingTarget: (cx, { migration }) => become(cx, migration, 'TargetReady'),
  TargetReady: start,
  Running: watch,
}

/** One step of a migration; the result is after how many ms to look again. */
async function advance(
  cx: VirtControllerContext,
  both: Migrated,
  view: MigrationView,
): Promise<number | undefined> {
  if (both.vmi.status?.phase !== 'Running') return fail(cx, both.migration, 'VMI is not running')
  return steps[both.migration.status?.phase ?? '']?.(cx, both, view)
}

async function awaitTarget(cx: VirtControllerContext, both: Migrated): Promise<number | undefined> {
  const target = await targetOf(cx, both)
  if (target === undefined || !isLiving(target))
    return fail(cx, both.migration, 'migration target pod is gone')
  if (isReady(target)) return become(cx, both.migration, 'Scheduled')
  if (condition(target, 'PodScheduled')?.status !== 'False') return undefined
  const waits = Date.parse(target.metadata.creationTimestamp ?? '') + unschedulable - cx.clock.now().getTime()
  if (waits > 0) return waits
  await finishLauncher(cx, target, seconds(cx))
  return fail(cx, both.migration, 'migration target pod is unschedulable')
}

/** So long a target pod may find no node (facts 3.7: unschedulable 300 s). */
const unschedulable = 300_000

async function start(cx: VirtControllerContext, both: Migrated): Promise<number> {
  const { migration, vmi } = both
  const target = await targetOf(cx, both)
  const migrationState: MigrationState = {
    startTimestamp: seconds(cx),
    migrationUid: migration.metadata.uid ?? '',
    sourceNode: vmi.status?.nodeName ?? '',
    targetNode: target?.spec?.nodeName ?? '',
    mode: 'PreCopy',
  }
  const cleared = { endTimestamp: null, completed: null, failed: null, failureReason: null }
  const status = { migrationState: { ...migrationState, ...cleared } }
  await cx.writer.mergePatch(VirtualMachineInstances, vmi.metadata, { status })
  return become(cx, migration, 'Running')
}

async function watch(
  cx: VirtControllerContext,
  both: Migrated,
  { handled, migrations }: MigrationView,
): Promise<number | undefined> {
  const { startTimestamp = '', ...nodes } = both.vmi.status?.migrationState ?? {}
  const alone = [nodes.sourceNode, nodes.targetNode].find((node) => node !== undefined && !handled.has(node))
  if (alone !== undefined) return abandon(cx, both, `virt-handler on ${alone} is not there`)
  const outcome = both.vmi.metadata.annotations?.[outcomeAnnotations.migration]
  if (fails(outcome, both, migrations)) return abandon(cx, both, incompatible)
  if (outcome === 'hang') return undefined
  if (await goesToOlder(cx, both)) return abandon(cx, both, older)
  const left = Date.parse(startTimestamp) + durationOf(outcome) - cx.clock.now().getTime()
  return left > 0 ? left : handOver(cx, both)
}

/** Of a guest that ran on a newer one nothing is taken by an older QEMU (night U4). */
async function goesToOlder(cx: VirtControllerContext, both: Migrated): Promise<boolean> {
  const target = await targetOf(cx, both)
  const [runs, goesTo] = [
    both.vmi.status?.launcherContainerImageVersion,
    target?.spec?.containers?.[0]?.image,
  ].map((image = '') => versionOf(image.slice(image.lastIndexOf(':') + 1)))
  return runs !== undefined && goesTo !== undefined && compareVersions(goesTo, runs) < 0
}

const older = 'operation failed: the virt-launcher of the target is older than that of the source'

/** What QEMU says when the target's CPU lacks a feature. */
const incompatible = "operation failed: guest CPU doesn't match specification: extra features: ht"
const durationOf = (outcome = ''): number =>
  /^\d/u.test(outcome) ? Number.parseFloat(outcome) * 1000 : usual

function fails(
  outcome: string | undefined,
  both: Migrated,
  migrations: MigrationView['migrations'],
): boolean {
  return outcome === 'fail' || (outcome === 'fail-once' && !failedBefore(both, migrations))
}

function failedBefore({ vmi }: Migrated, migrations: MigrationView['migrations']): boolean {
  const { name, namespace } = vmi.metadata
  return migrations.some(
    ({ metadata, spec, status }) =>
      status?.phase === 'Failed' && spec?.vmiName === name && metadata.namespace === namespace,
  )
}

const ended = (cx: VirtControllerContext, { status }: VirtualMachineInstance): MigrationState => ({
  ...status?.migrationState,
  completed: true,
  endTimestamp: seconds(cx),
})

/** The guest runs on the target, with what was asked of it meanwhile; the source launcher ends. */
async function handOver(cx: VirtControllerContext, both: Migrated): Promise<undefined> {
  const { migration, vmi } = both
  const target = await targetOf(cx, both)
  const source = currentLauncher(vmi, await launchersOf(cx, vmi))
  const nodeName = target?.spec?.nodeName ?? ''
  const migrationState = ended(cx, vmi)
  const activePods = { [target?.metadata.uid ?? '']: nodeName }
  await cx.writer.mergePatch(VirtualMachineInstances, vmi.metadata, {
    metadata: { labels: { [outdatedLabel]: null, 'kubevirt.io/nodeName': nodeName } },
    status: {
      nodeName,
      activePods,
      migrationState,
      conditions: withoutAsked(vmi.status?.conditions),
      evacuationNodeName: null,
      launcherContainerImageVersion: null,
    },
  })
  const stays = vmi.metadata.annotations?.[outcomeAnnotations.migration] === 'split'
  if (source && !stays) await finishLauncher(cx, source, seconds(cx))
  await become(cx, migration, 'Succeeded', migrationState)
}

/** The guest stays where it is; the target launcher ends. */
async function abandon(cx: VirtControllerContext, both: Migrated, failureReason: string): Promise<undefined> {
  const { migration, vmi } = both
  const migrationState = { ...ended(cx, vmi), failed: true, failureReason }
  await cx.writer.mergePatch(VirtualMachineInstances, vmi.metadata, { status: { migrationState } })
  const target = await targetOf(cx, both)
  if (target) await finishLauncher(cx, target, seconds(cx))
  return fail(cx, migration, 'source node reported migration failed', migrationState)
}

const by = 'virtualmachine-controller'
/** A migration that a limit holds is looked at again after this long. */
const retry = 5000

/** What the mutating webhook adds, and the first phase. */
async function admit(cx: VirtControllerContext, { migration }: Migrated): Promise<number> {
  const labels = { 'kubevirt.io/vmi-name': migration.spec?.vmiName ?? '' }
  const metadata = { labels, finalizers: [migrationFinalizer] }
  await cx.writer.mergePatch(VirtualMachineInstanceMigrations, migration.metadata, { metadata })
  return become(cx, migration, 'Pending')
}

/** Limits and back-off hold a migration in Pending without a word but the one event (facts 3.3). */
async function schedule(cx: VirtControllerContext, view: MigrationView, both: Migrated): Promise<number> {
  const { migration, vmi } = both
  const before = view.migrations.filter((m) => isFinal(m) && instanceOf(view, m) === vmi)
  const wait = isHeldBack(migration) ? backOffUntil(before) - cx.clock.now().getTime() : 0
  if (wait > 0) {
    await announceBackOff(cx, view, both)
    return wait
  }
  if (isFull(view, both)) return retry
  const pod = await targetPod(cx, both)
  if (pod === undefined) return retry
  const message = `Created migration target pod ${pod.metadata.name}`
  await recordEvent(cx, migration, { type: 'Normal', reason: 'SuccessfulCreate', message, by })
  const again = await become(cx, migration, 'Scheduling')
  view.started.add(migration)
  return again
}

/** Undefined where a quota refuses it: only a condition of the migration says so (facts 3.3). */
async function targetPod(cx: VirtControllerContext, { migration, vmi }: Migrated): Promise<Pod | undefined> {
  try {
    return await createLauncher(cx, vmi, migration.metadata.uid)
  } catch (error) {
    if (!(error instanceof ApiError) || !error.message.includes('exceeded quota')) throw error
    await rejectForQuota(cx, migration)
    return undefined
  }
}

async function rejectForQuota(
  cx: VirtControllerContext,
  migration: VirtualMachineInstanceMigration,
): Promise<void> {
  const type = 'migrationRejectedByResourceQuota'
  if (condition(migration, type)?.status === 'True') return
  const at = seconds(cx)
  const rejected = { type, status: 'True', lastProbeTime: at, lastTransitionTime: at } as const
  const conditions = [...(migration.status?.conditions ?? []), rejected]
  await cx.writer.mergePatch(
    VirtualMachineInstanceMigrations,
    migration.metadata,
    { status: { conditions } },
    'status',
  )
}

function instanceOf(
  { instances }: MigrationView,
  { spec, metadata }: VirtualMachineInstanceMigration,
): Migrated['vmi'] | undefined {
  return instances.find(
    (i) => i.metadata.name === spec?.vmiName && i.metadata.namespace === metadata.namespace,
  )
}

function isFull(view: MigrationView, { vmi }: Migrated): boolean {
  const running = view.migrations.filter((m) => isRunning(m) || view.started.has(m))
  const outbound = running.filter((m) => instanceOf(view, m)?.status?.nodeName === vmi.status?.nodeName)
  return running.length >= view.limits.perCluster || outbound.length >= view.limits.perNode
}

async function announceBackOff(
  cx: VirtControllerContext,
  { told }: MigrationView,
  { migration, vmi }: Migrated,
): Promise<void> {
  const { uid = '' } = migration.metadata
  if (told.has(uid)) return
  told.add(uid)
  const message = `backoff migrating vmi ${vmi.metadata.namespace}/${vmi.metadata.name}`
  await recordEvent(cx, vmi, { type: 'Warning', reason: 'MigrationBackoff', message, by })
}

/** A migration and the running instance that it is about. */
interface Migrated {
  migration: VirtualMachineInstanceMigration
  vmi: VirtualMachineInstance
}

/** ms from one phase to the next where nothing has to be waited for. */
const step = 200

/** Writes the next phase; the result is after how many ms to look again. */
async function become(
  cx: VirtControllerContext,
  { metadata, status }: VirtualMachineInstanceMigration,
  phase: string,
  migrationState?: MigrationState,
): Promise<number> {
  const now = { phase, phaseTransitionTimestamp: seconds(cx) }
  const phaseTransitionTimestamps = [...(status?.phaseTransitionTimestamps ?? []), now]
  const state = migrationState === undefined ? {} : { migrationState }
  const change = { status: { phase, phaseTransitionTimestamps, ...state } }
  await cx.writer.mergePatch(VirtualMachineInstanceMigrations, metadata, change, 'status')
  return step
}

async function fail(
  cx: VirtControllerContext,
  migration: VirtualMachineInstanceMigration,
  message: string,
  state?: MigrationState,
): Promise<undefined> {
  await recordEvent(cx, migration, { type: 'Warning', reason: 'FailedMigration', message, by })
  const failed = { failed: true, endTimestamp: seconds(cx), failureReason: message }
  await become(cx, migration, 'Failed', state ?? failed)
}

/** The launcher that was made for the migration. */
async function targetOf(cx: VirtControllerContext, { migration, vmi }: Migrated): Promise<Pod | undefined> {
  const pods = await launchersOf(cx, vmi)
  return pods.find((pod) => pod.metadata.labels?.[migrationLabel] === migration.metadata.uid)
}

const migrationFinalizer = 'kubevirt.io/migrationJobFinalize'
/** Finished migrations that are kept per instance (facts 3.3). */
const kept = 5

/** A deleted migration is cancelled: its target pod ends, then the finalizer goes. */
async function removeDeleted(
  cx: VirtControllerContext,
  { metadata }: VirtualMachineInstanceMigration,
  vmi: VirtualMachineInstance | undefined,
): Promise<void> {
  const pods = vmi ? await launchersOf(cx, vmi) : []
  const target = pods.find((pod) => pod.metadata.labels?.[migrationLabel] === metadata.uid)
  if (target && target.spec?.nodeName !== vmi?.status?.nodeName) await finishLauncher(cx, target, seconds(cx))
  await release(cx, metadata)
}

async function release(
  cx: VirtControllerContext,
  metadata: VirtualMachineInstanceMigration['metadata'],
): Promise<void> {
  if (metadata.finalizers?.includes(migrationFinalizer) !== true) return
  const finalizers = metadata.finalizers.filter((f) => f !== migrationFinalizer)
  await cx.writer.mergePatch(VirtualMachineInstanceMigrations, metadata, { metadata: { finalizers } })
}

/** Takes the finalizer off a finished migration, and deletes the oldest of too many. */
async function collectOld(
  cx: VirtControllerContext,
  all: readonly VirtualMachineInstanceMigration[],
  finished: VirtualMachineInstanceMigration,
): Promise<void> {
  await release(cx, finished.metadata)
  const same = all.filter(
    (m) =>
      isFinal(m) &&
      m.spec?.vmiName === finished.spec?.vmiName &&
      m.metadata.namespace === finished.metadata.namespace,
  )
  const newer = same.filter((m) => endOf(m) > endOf(finished))
  if (newer.length >= kept) await cx.writer.delete(VirtualMachineInstanceMigrations, finished.metadata)
}

/** Limits of the migration controller, from the CR's `configuration.migrations` (facts 1.3). */
interface MigrationLimits {
  perCluster: number
  perNode: number
}

export function limitsOf(configuration: Record<string, unknown> | undefined): MigrationLimits {
  const set = configuration?.['migrations'] as Record<string, number> | undefined
  return {
    perCluster: set?.['parallelMigrationsPerCluster'] ?? 5,
    perNode: set?.['parallelOutboundMigrationsPerNode'] ?? 2,
  }
}

export function isFinal({ status }: VirtualMachineInstanceMigration): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Those that count against the limits: Pending ones do not (facts 3.2). */
export function isRunning(migration: VirtualMachineInstanceMigration): boolean {
  const { phase = '' } = migration.status ?? {}
  return !isFinal(migration) && phase !== '' && phase !== 'Pending'
}

/** When it ended, or when it was created, in ms. */
function endOf({ status, metadata }: VirtualMachineInstanceMigration): number {
  return Date.parse(status?.migrationState?.endTimestamp ?? metadata.creationTimestamp ?? '')
}

/** Made by KubeVirt itself: only these are held back, and only their failures count (facts 3.3, lab "Seen with workloads" 16). */
function isHeldBack({ metadata: { annotations = {} } }: VirtualMachineInstanceMigration): boolean {
  return (
    'kubevirt.io/workloadUpdateMigration' in annotations || 'kubevirt.io/evacuationMigration' in annotations
  )
}

/** 20 s, doubled for each failure in a row among those that are kept: at most 320 s (facts 3.3). In ms; pure. */
export function backOffUntil(finished: readonly VirtualMachineInstanceMigration[]): number {
  const newestFirst = finished.filter(isHeldBack).sort((a, b) => endOf(b) - endOf(a))
  const success = newestFirst.findIndex((m) => m.status?.phase === 'Succeeded')
  const failures = success === -1 ? newestFirst : newestFirst.slice(0, success)
  const [last] = failures
  return last === undefined ? 0 : endOf(last) + 20_000 * 2 ** Math.min(failures.length - 1, 4)
}

/** What a person asked of a running VM and only a migration carries out: hotplug, and a move to other volumes (facts 3.2, 5). */
const types: readonly string[] = ['HotVCPUChange', 'HotMemoryChange', 'MigrationRequired', 'VolumesChange']

/** HotVCPUChange counts whatever its status is. */
export function asksForMigration(vmi: VirtualMachineInstance): boolean {
  return types.some((type) => {
    const asked = condition(vmi, type)
    return type === 'HotVCPUChange' ? asked !== undefined : asked?.status === 'True'
  })
}

/** The conditions once a migration has carried it out. */
const withoutAsked = (conditions: readonly Condition[] = []): Condition[] =>
  conditions.filter(({ type }) => !types.includes(type))
