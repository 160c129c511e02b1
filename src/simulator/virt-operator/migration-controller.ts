import * as kube from '../kinds.ts'
import { controlEach, foundIn, keyed, keyOf, recordEvent, seconds } from '../machinery/controller.ts'
import { isLiving, isReady, namespaced } from '../machinery/owned-pods.ts'
import { phaseDriver, type Phases } from '../machinery/phases.ts'
import {
  createLauncher,
  currentLauncher,
  finishLauncher,
  instanceOf,
  launchersOf,
  migrationLabel,
  outdatedLabel,
  type Virt,
} from './vmi-controller.ts'
import { outcomeAnnotations } from '../vm-shape.ts'
import { condition, type Condition, type KubeObject } from '../../lib/kube/object.ts'
import { compareVersions, versionOf } from '../../lib/releases/release-versions.ts'
import { ApiError } from '../../lib/kube/errors.ts'

/** What a pass over some migrations knows. */
interface MigrationView {
  readonly cx: Virt
  readonly known: KnownMigrations
  /** Nodes whose virt-handler is there: without it a migration fails (facts 2.8). */
  readonly handled: Handlers
  readonly limits: MigrationLimits
  /** Those that count against the limits, with the node that they leave, as they were when the pass began. */
  readonly running: readonly { key: string; node: string | undefined }[]
  /** Migrations that were started, by key, with the node that they leave, until a pass begins that knows it of them. */
  readonly started: Map<string, string | undefined>
  /** Migrations whose back-off was announced, by uid. */
  readonly announced: Set<string>
}

/** The same for one migration. */
interface View extends MigrationView {
  readonly vmi: kube.Vmi | undefined
  /** In how many ms to look again while it stays in its phase. */
  again: number
}

/** The migration controller, and what virt-handler does for it: facts 3.3 and 3.7. */
export function runMigrations(cx: Virt): Promise<void> {
  const known = new KnownMigrations()
  const handled = new Handlers()
  const started: MigrationView['started'] = new Map()
  const announced: MigrationView['announced'] = new Set()
  const watches = [
    keyed(kube.Migrations, (migration, isGone) => {
      const key = keyOf(migration.metadata)
      const before = known.open.get(key)
      known.take(migration, isGone)
      const ends = before !== undefined && !known.open.has(key)
      // Who waited for its place may go on, and one of the same instance may be too many.
      return ends ? [key, ...known.waiting(), ...known.of(instanceKeyOf(migration)).map(keyOfObject)] : [key]
    }),
    keyed(kube.Pods, (pod) => {
      const instance = instanceOf(pod)?.[0]
      return instance === undefined ? [] : known.openOf(instance)
    }),
    keyed(
      kube.Pods,
      (pod, isGone) => {
        handled.take(pod, isGone)
        return known.running.keys()
      },
      { namespace: cx.namespace, labels: 'kubevirt.io=virt-handler' },
    ),
  ]
  const advance = phaseDriver(cx, rows)
  return controlEach(cx, watches, async (keys) => {
    for (const key of started.keys()) if (!known.waits(key)) started.delete(key)
    const isAsked = keys.some((key) => known.open.get(key)?.status?.phase === 'Pending')
    const limited = isAsked ? await limitsNow(cx, known) : unlimited
    return async (ref) => {
      const migration = foundIn(await cx.reader.get(kube.Migrations, ref))
      if (migration === undefined) return undefined
      const vmi = isFinal(migration) && !isDeleted(migration) ? undefined : await vmiOf(cx, migration)
      return advance(migration, { cx, known, handled, started, announced, ...limited, vmi, again: Infinity })
    }
  })
}

type Limited = Pick<MigrationView, 'limits' | 'running'>

/** For a pass in which nothing is started. */
const unlimited: Limited = { limits: { perCluster: 0, perNode: 0 }, running: [] }

async function limitsNow(cx: Virt, known: KnownMigrations): Promise<Limited> {
  const [kubevirt]: kube.KubeVirt[] = await cx.reader.list(kube.KubeVirts, { namespace: cx.namespace })
  const running: Limited['running'][number][] = []
  for (const [key, migration] of known.running) {
    const vmi = await vmiOf(cx, migration)
    running.push({ key, node: vmi?.status?.nodeName })
  }
  return { limits: limitsOf(kubevirt?.spec?.configuration), running }
}

async function vmiOf(cx: Virt, { spec, metadata }: kube.Migration): Promise<kube.Vmi | undefined> {
  const ref = { name: spec?.vmiName ?? '', ...namespaced(metadata) }
  return foundIn(await cx.reader.get(kube.Vmis, ref))
}

/** Of the instance that it moves. */
export const instanceKeyOf = ({ spec, metadata }: kube.Migration): string =>
  keyOf({ namespace: metadata.namespace, name: spec?.vmiName ?? '' })

const keyOfObject = ({ metadata }: KubeObject): string => keyOf(metadata)

/** The migrations as a watch tells of them, by what is asked of them. */
export class KnownMigrations {
  readonly open = new Map<string, kube.Migration>()
  /** Of these, those that count against the limits. */
  readonly running = new Map<string, kube.Migration>()
  readonly #byInstance = new Map<string, Map<string, kube.Migration>>()

  take(migration: kube.Migration, isGone: boolean): void {
    const key = keyOf(migration.metadata)
    const instance = instanceKeyOf(migration)
    const same = this.#byInstance.get(instance) ?? new Map<string, kube.Migration>()
    this.#byInstance.set(instance, same)
    putUnless(isGone, same, key, migration)
    if (same.size === 0) this.#byInstance.delete(instance)
    putUnless(isGone || isFinal(migration), this.open, key, migration)
    putUnless(isGone || !isRunning(migration), this.running, key, migration)
  }

  /** Of one instance, in the order of a list. */
  of(instance: string): kube.Migration[] {
    const same = [...(this.#byInstance.get(instance) ?? [])]
    return same.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, migration]) => migration)
  }

  openOf(instance: string): string[] {
    return [...(this.#byInstance.get(instance)?.keys() ?? [])].filter((key) => this.open.has(key))
  }

  waiting(): string[] {
    return [...this.open.keys()].filter((key) => this.waits(key))
  }

  /** Keys of the instances that are moved, or are to be. */
  movedInstances(): Set<string> {
    return new Set(Array.from(this.open.values(), instanceKeyOf))
  }

  waits(key: string): boolean {
    return this.open.has(key) && !this.running.has(key)
  }
}

function putUnless<T>(not: boolean, into: Map<string, T>, key: string, value: T): void {
  if (not) into.delete(key)
  else into.set(key, value)
}

/** Which nodes have a virt-handler that serves, as a watch tells of them. */
class Handlers {
  readonly #nodes = new Map<string, Set<string>>()

  take(pod: kube.Pod, isGone: boolean): void {
    const node = pod.spec?.nodeName
    if (node === undefined) return
    const serving = this.#nodes.get(node) ?? new Set()
    this.#nodes.set(node, serving)
    const { name, deletionTimestamp } = pod.metadata
    if (!isGone && isReady(pod) && deletionTimestamp === undefined) serving.add(name)
    else serving.delete(name)
  }

  has(node: string): boolean {
    return (this.#nodes.get(node)?.size ?? 0) > 0
  }
}

const isDeleted = ({ metadata }: kube.Migration): boolean => metadata.deletionTimestamp !== undefined

type Row = Phases<kube.Migration, View>['phases'][number]
const again = (_: kube.Migration, view: View): number => view.again
/** A row of a migration whose instance is there. */
const row = (
  when: string,
  write: (both: Migrated, view: View) => object | undefined | Promise<object | undefined>,
): Row => ({
  when,
  again,
  write: (migration, view) => view.vmi && write({ migration, vmi: view.vmi }, view),
})

/** What each phase does next: facts 3.7. */
const rows: Phases<kube.Migration, View> = {
  kind: kube.Migrations,
  phases: [
    { when: isDeleted, write: removeDeleted },
    { when: isFinal, write: collectOld },
    {
      when: (_, { vmi }) => vmi === undefined,
      write: (migration, view) => fail(view, migration, 'VMI does not exist'),
    },
    {
      when: (_, { vmi }) => vmi?.status?.phase !== 'Running',
      write: (migration, view) => fail(view, migration, 'VMI is not running'),
    },
    row('', admit),
    row('Pending', schedule),
    row('Scheduling', awaitTarget),
    row('Scheduled', ({ migration }, { cx }) => inPhase(cx, migration, 'PreparingTarget')),
    row('PreparingTarget', ({ migration }, { cx }) => inPhase(cx, migration, 'TargetReady')),
    row('TargetReady', start),
    row('Running', watch),
  ],
}

/** How long a migration takes that was given no fate, in ms. */
const usual = 3000

async function awaitTarget(both: Migrated, view: View): Promise<object | undefined> {
  const { cx } = view
  const target = await targetOf(cx, both)
  if (target === undefined || !isLiving(target))
    return fail(view, both.migration, 'migration target pod is gone')
  if (isReady(target)) return inPhase(cx, both.migration, 'Scheduled')
  if (condition(target, 'PodScheduled')?.status !== 'False') return undefined
  view.again = Date.parse(target.metadata.creationTimestamp ?? '') + unschedulable - cx.clock.now().getTime()
  if (view.again > 0) return undefined
  await finishLauncher(cx, target, seconds(cx))
  return fail(view, both.migration, 'migration target pod is unschedulable')
}

/** So long a target pod may find no node, ms (facts 3.7). */
const unschedulable = 300_000

async function start(both: Migrated, { cx }: View): Promise<object> {
  const { migration, vmi } = both
  const target = await targetOf(cx, both)
  const migrationState = {
    startTimestamp: seconds(cx),
    migrationUid: migration.metadata.uid ?? '',
    sourceNode: vmi.status?.nodeName ?? '',
    targetNode: target?.spec?.nodeName ?? '',
    mode: 'PreCopy',
    endTimestamp: null,
    completed: null,
    failed: null,
    failureReason: null,
  }
  await cx.writer.mergePatch(kube.Vmis, vmi.metadata, { status: { migrationState } })
  return inPhase(cx, migration, 'Running')
}

async function watch(both: Migrated, view: View): Promise<object | undefined> {
  const { cx, handled, known } = view
  const { metadata, status } = both.vmi
  const { startTimestamp = '', sourceNode, targetNode } = status?.migrationState ?? {}
  const alone = [sourceNode, targetNode].find((node) => node !== undefined && !handled.has(node))
  if (alone !== undefined) return abandon(view, both, `virt-handler on ${alone} is not there`)
  const outcome = metadata.annotations?.[outcomeAnnotations.migration]
  if (fails(outcome, both, known)) return abandon(view, both, incompatible)
  if (outcome === 'hang') return undefined
  const launchers = await launchersOf(cx, both.vmi)
  if (goesToOlder(both, launchers)) return abandon(view, both, older)
  view.again = Date.parse(startTimestamp) + durationOf(outcome) - cx.clock.now().getTime()
  return view.again > 0 ? undefined : handOver(cx, both, launchers)
}

/** Of a guest that ran on a newer one nothing is taken by an older QEMU (night U4). */
function goesToOlder(both: Migrated, launchers: readonly kube.Pod[]): boolean {
  const target = targetAmong(launchers, both)
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

function fails(outcome: string | undefined, { vmi }: Migrated, known: KnownMigrations): boolean {
  if (outcome !== 'fail-once') return outcome === 'fail'
  return !known.of(keyOf(vmi.metadata)).some(({ status }) => status?.phase === 'Failed')
}

const ended = (cx: Virt, { status }: kube.Vmi): kube.MigrationState => ({
  ...status?.migrationState,
  completed: true,
  endTimestamp: seconds(cx),
})

/** The guest runs on the target, with what was asked of it meanwhile; the source launcher ends. */
async function handOver(cx: Virt, both: Migrated, launchers: readonly kube.Pod[]): Promise<object> {
  const { migration, vmi } = both
  const target = targetAmong(launchers, both)
  const source = currentLauncher(vmi, launchers)
  const nodeName = target?.spec?.nodeName ?? ''
  const migrationState = ended(cx, vmi)
  await cx.writer.mergePatch(kube.Vmis, vmi.metadata, {
    metadata: { labels: { [outdatedLabel]: null, 'kubevirt.io/nodeName': nodeName } },
    status: {
      nodeName,
      activePods: { [target?.metadata.uid ?? '']: nodeName },
      migrationState,
      conditions: withoutAsked(vmi.status?.conditions),
      evacuationNodeName: null,
      launcherContainerImageVersion: null,
    },
  })
  const stays = vmi.metadata.annotations?.[outcomeAnnotations.migration] === 'split'
  if (source && !stays) await finishLauncher(cx, source, seconds(cx))
  return inPhase(cx, migration, 'Succeeded', migrationState)
}

/** The guest stays where it is; the target launcher ends. */
async function abandon(view: View, both: Migrated, failureReason: string): Promise<object> {
  const { cx } = view
  const migrationState = { ...ended(cx, both.vmi), failed: true, failureReason }
  await cx.writer.mergePatch(kube.Vmis, both.vmi.metadata, { status: { migrationState } })
  const target = await targetOf(cx, both)
  if (target) await finishLauncher(cx, target, seconds(cx))
  return fail(view, both.migration, 'source node reported migration failed', migrationState)
}

const by = 'virtualmachine-controller'
/** A migration that a limit holds is looked at again after this long. */
const retry = 5000

/** What the mutating webhook adds, and the first phase. */
async function admit({ migration }: Migrated, { cx }: View): Promise<object> {
  const labels = { 'kubevirt.io/vmi-name': migration.spec?.vmiName ?? '' }
  const metadata = { labels, finalizers: [migrationFinalizer] }
  await cx.writer.mergePatch(kube.Migrations, migration.metadata, { metadata })
  return inPhase(cx, migration, 'Pending')
}

/** Limits and back-off hold a migration in Pending without a word but the one event (facts 3.3). */
async function schedule(both: Migrated, view: View): Promise<object | undefined> {
  const { cx } = view
  const { migration, vmi } = both
  const before = view.known.of(keyOf(vmi.metadata)).filter(isFinal)
  const wait = isHeldBack(migration) ? backOffUntil(before) - cx.clock.now().getTime() : 0
  view.again = wait > 0 ? wait : retry
  if (wait > 0) await announceBackOff(view, both)
  if (wait > 0 || isFull(view, both)) return undefined
  const pod = await targetPod(cx, both)
  if (pod === undefined) return undefined
  const message = `Created migration target pod ${pod.metadata.name}`
  await recordEvent(cx, migration, by, ['Normal', 'SuccessfulCreate', message])
  view.started.set(keyOf(migration.metadata), vmi.status?.nodeName)
  return inPhase(cx, migration, 'Scheduling')
}

/** Undefined where a quota refuses it: only a condition of the migration says so (facts 3.3). */
async function targetPod(cx: Virt, { migration, vmi }: Migrated): Promise<kube.Pod | undefined> {
  try {
    return await createLauncher(cx, vmi, migration.metadata.uid)
  } catch (error) {
    if (!(error instanceof ApiError) || !error.message.includes('exceeded quota')) throw error
  }
  const type = 'migrationRejectedByResourceQuota'
  if (condition(migration, type)?.status === 'True') return undefined
  const at = seconds(cx)
  const rejected = { type, status: 'True', lastProbeTime: at, lastTransitionTime: at } as const
  const conditions = [...(migration.status?.conditions ?? []), rejected]
  await cx.writer.mergePatch(kube.Migrations, migration.metadata, { status: { conditions } }, 'status')
  return undefined
}

function isFull({ running, started, limits }: MigrationView, { vmi }: Migrated): boolean {
  const nodes = new Map([...running.map(({ key, node }) => [key, node] as const), ...started])
  const outbound = [...nodes.values()].filter((node) => node === vmi.status?.nodeName)
  return nodes.size >= limits.perCluster || outbound.length >= limits.perNode
}

async function announceBackOff({ cx, announced }: View, { migration, vmi }: Migrated): Promise<void> {
  const { uid = '' } = migration.metadata
  if (announced.has(uid)) return
  announced.add(uid)
  const message = `backoff migrating vmi ${vmi.metadata.namespace}/${vmi.metadata.name}`
  await recordEvent(cx, vmi, by, ['Warning', 'MigrationBackoff', message])
}

/** A migration and the running instance that it is about. */
interface Migrated {
  migration: kube.Migration
  vmi: kube.Vmi
}

/** The status of a migration that comes to a phase. */
function inPhase(
  cx: Virt,
  { status }: kube.Migration,
  phase: string,
  migrationState?: kube.MigrationState,
): object {
  const now = { phase, phaseTransitionTimestamp: seconds(cx) }
  const phaseTransitionTimestamps = [...(status?.phaseTransitionTimestamps ?? []), now]
  return { phase, phaseTransitionTimestamps, ...(migrationState && { migrationState }) }
}

async function fail(
  { cx }: View,
  migration: kube.Migration,
  failureReason: string,
  state?: kube.MigrationState,
): Promise<object> {
  await recordEvent(cx, migration, by, ['Warning', 'FailedMigration', failureReason])
  const failed = { failed: true, endTimestamp: seconds(cx), failureReason }
  return inPhase(cx, migration, 'Failed', state ?? failed)
}

async function targetOf(cx: Virt, both: Migrated): Promise<kube.Pod | undefined> {
  return targetAmong(await launchersOf(cx, both.vmi), both)
}

const targetAmong = (
  launchers: readonly kube.Pod[],
  { migration }: Pick<Migrated, 'migration'>,
): kube.Pod | undefined =>
  launchers.find((pod) => pod.metadata.labels?.[migrationLabel] === migration.metadata.uid)

const migrationFinalizer = 'kubevirt.io/migrationJobFinalize'
/** Finished migrations that are kept per instance (facts 3.3). */
const kept = 5

/** A deleted migration is cancelled: its target pod ends, then the finalizer goes. */
async function removeDeleted(migration: kube.Migration, { cx, vmi }: View): Promise<void> {
  const target = vmi && (await targetOf(cx, { migration, vmi }))
  if (target && target.spec?.nodeName !== vmi.status?.nodeName) await finishLauncher(cx, target, seconds(cx))
  await release(cx, migration.metadata)
}

async function release(cx: Virt, metadata: kube.Migration['metadata']): Promise<void> {
  if (metadata.finalizers?.includes(migrationFinalizer) !== true) return
  const finalizers = metadata.finalizers.filter((f) => f !== migrationFinalizer)
  await cx.writer.mergePatch(kube.Migrations, metadata, { metadata: { finalizers } })
}

/** Takes the finalizer off a finished migration, and deletes the oldest of too many. */
async function collectOld(finished: kube.Migration, { cx, known }: View): Promise<void> {
  await release(cx, finished.metadata)
  const same = known.of(instanceKeyOf(finished)).filter(isFinal)
  const newer = same.filter((m) => endOf(m) > endOf(finished))
  if (newer.length >= kept) await cx.writer.delete(kube.Migrations, finished.metadata)
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

function isFinal({ status }: kube.Migration): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Those that count against the limits: Pending ones do not (facts 3.2). */
function isRunning(migration: kube.Migration): boolean {
  const { phase = '' } = migration.status ?? {}
  return !isFinal(migration) && phase !== '' && phase !== 'Pending'
}

/** When it ended, or when it was created, in ms. */
const endOf = ({ status, metadata }: kube.Migration): number =>
  Date.parse(status?.migrationState?.endTimestamp ?? metadata.creationTimestamp ?? '')

/** Made by KubeVirt itself: only these are held back, and only their failures count (facts 3.3, lab "Seen with workloads" 16). */
const isHeldBack = ({ metadata: { annotations = {} } }: kube.Migration): boolean =>
  'kubevirt.io/workloadUpdateMigration' in annotations || 'kubevirt.io/evacuationMigration' in annotations

/** 20 s, doubled for each failure in a row among those that are kept: at most 320 s (facts 3.3). In ms; pure. */
export function backOffUntil(finished: readonly kube.Migration[]): number {
  const newestFirst = finished.filter(isHeldBack).sort((a, b) => endOf(b) - endOf(a))
  const success = newestFirst.findIndex((m) => m.status?.phase === 'Succeeded')
  const failures = success === -1 ? newestFirst : newestFirst.slice(0, success)
  const [last] = failures
  return last === undefined ? 0 : endOf(last) + 20_000 * 2 ** Math.min(failures.length - 1, 4)
}

/** What a person asked of a running VM and only a migration carries out: hotplug, and a move to other volumes (facts 3.2, 5). */
const types: readonly string[] = ['HotVCPUChange', 'HotMemoryChange', 'MigrationRequired', 'VolumesChange']

/** HotVCPUChange counts whatever its status is. */
export const asksForMigration = (vmi: kube.Vmi): boolean =>
  types.some((type) => {
    const asked = condition(vmi, type)
    return type === 'HotVCPUChange' ? asked !== undefined : asked?.status === 'True'
  })

/** The conditions once a migration has carried it out. */
const withoutAsked = (conditions: readonly Condition[] = []): Condition[] =>
  conditions.filter(({ type }) => !types.includes(type))
