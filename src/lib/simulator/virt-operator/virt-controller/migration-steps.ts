import type { Pod } from '../../../cluster/kinds/pods.ts'
import {
  type MigrationState,
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../../cluster/kinds/virtual-machines.ts'
import { fateAnnotations } from '../../virtual-machine.ts'
import { isLiving, isReady } from '../../machinery/pods.ts'
import { recordEvent } from '../../machinery/record-event.ts'
import { seconds, type VirtControllerContext } from './controller-context.ts'
import { outdatedLabel } from './instances.ts'
import {
  createLauncher,
  currentLauncher,
  finishLauncher,
  launchersOf,
  migrationLabel,
} from './launcher-pods.ts'
import { migrationFinalizer } from './migration-cleanup.ts'
import { backOffUntil, isFinal, isRunning } from './migration-plan.ts'
import type { MigrationView } from './migrations.ts'

export interface Migrated {
  migration: VirtualMachineInstanceMigration
  vmi: VirtualMachineInstance | undefined
}
interface Both extends Migrated {
  vmi: VirtualMachineInstance
}

const by = 'virtualmachine-controller'
const usual = 3000
/** A blocked migration is looked at again after this long. */
const retry = 5000
const step = 200
const following: Record<string, string> = { Scheduled: 'PreparingTarget', PreparingTarget: 'TargetReady' }

/** One step of a migration; the result is after how many ms to look again. */
export async function advance(
  cx: VirtControllerContext,
  view: MigrationView,
  { migration, vmi }: Migrated,
): Promise<number | undefined> {
  if (vmi === undefined || vmi.status?.phase !== 'Running') return fail(cx, migration, 'VMI is not running')
  const both = { migration, vmi }
  const { phase = '' } = migration.status ?? {}
  if (phase === '') return admit(cx, migration)
  if (phase === 'Pending') return schedule(cx, view, both)
  if (phase === 'Scheduling') return awaitTarget(cx, both)
  if (phase === 'TargetReady') return start(cx, both)
  if (phase === 'Running') return watch(cx, view, both)
  return become(cx, migration, following[phase] ?? 'Failed')
}

async function become(
  cx: VirtControllerContext,
  { metadata, status }: VirtualMachineInstanceMigration,
  phase: string,
  state?: MigrationState,
): Promise<number> {
  const phaseTransitionTimestamps = [
    ...(status?.phaseTransitionTimestamps ?? []),
    { phase, phaseTransitionTimestamp: seconds(cx) },
  ]
  const change = {
    phase,
    phaseTransitionTimestamps,
    ...(state === undefined ? {} : { migrationState: state }),
  }
  await cx.writer.mergePatch(VirtualMachineInstanceMigrations, metadata, { status: change }, 'status')
  return step
}

/** What the mutating webhook adds, and the first phase. */
async function admit(cx: VirtControllerContext, migration: VirtualMachineInstanceMigration): Promise<number> {
  const labels = { 'kubevirt.io/vmi-name': migration.spec?.vmiName ?? '' }
  const finalizers = [migrationFinalizer]
  await cx.writer.mergePatch(VirtualMachineInstanceMigrations, migration.metadata, {
    metadata: { labels, finalizers },
  })
  return become(cx, migration, 'Pending')
}

/** Limits and back-off hold a migration in Pending without a word but the one event (facts 3.3). */
async function schedule(
  cx: VirtControllerContext,
  { migrations, instances, limits }: MigrationView,
  { migration, vmi }: Both,
): Promise<number> {
  const of = (m: VirtualMachineInstanceMigration): VirtualMachineInstance | undefined =>
    instances.find(
      (i) => i.metadata.name === m.spec?.vmiName && i.metadata.namespace === m.metadata.namespace,
    )
  const running = migrations.filter((m) => isRunning(m) && m.metadata.deletionTimestamp === undefined)
  const outbound = running.filter((m) => of(m)?.status?.nodeName === vmi.status?.nodeName)
  const before = migrations.filter((m) => isFinal(m) && of(m) === vmi)
  const until = backOffUntil(before)
  const now = cx.clock.now().getTime()
  if (until > now) {
    await announceBackOff(cx, migration, vmi)
    return until - now
  }
  if (running.length >= limits.perCluster || outbound.length >= limits.perNode) return retry
  const pod = await createLauncher(cx, vmi, migration.metadata.uid)
  const message = `Created migration target pod ${pod.metadata.name}`
  await recordEvent(cx, migration, { type: 'Normal', reason: 'SuccessfulCreate', message, by })
  await become(cx, migration, 'Scheduling')
  Object.assign(migration, { status: { ...migration.status, phase: 'Scheduling' } })
  return step
}

const told = new WeakMap<VirtControllerContext, Set<string>>()

async function announceBackOff(
  cx: VirtControllerContext,
  { metadata }: VirtualMachineInstanceMigration,
  vmi: VirtualMachineInstance,
): Promise<void> {
  const seen = told.get(cx) ?? new Set<string>()
  told.set(cx, seen)
  if (seen.has(metadata.uid ?? '')) return
  seen.add(metadata.uid ?? '')
  const message = `backoff migrating vmi ${vmi.metadata.namespace}/${vmi.metadata.name}`
  await recordEvent(cx, vmi, { type: 'Warning', reason: 'MigrationBackoff', message, by })
}

async function targetOf(cx: VirtControllerContext, { migration, vmi }: Both): Promise<Pod | undefined> {
  const pods = await launchersOf(cx, vmi)
  return pods.find((pod) => pod.metadata.labels?.[migrationLabel] === migration.metadata.uid)
}

async function awaitTarget(cx: VirtControllerContext, both: Both): Promise<number | undefined> {
  const target = await targetOf(cx, both)
  if (target === undefined || !isLiving(target))
    return fail(cx, both.migration, 'migration target pod is gone')
  return isReady(target) ? become(cx, both.migration, 'Scheduled') : undefined
}

async function start(cx: VirtControllerContext, both: Both): Promise<number> {
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
  await cx.writer.mergePatch(VirtualMachineInstances, vmi.metadata, {
    status: { migrationState: { ...migrationState, ...cleared } },
  })
  return become(cx, migration, 'Running')
}

async function watch(
  cx: VirtControllerContext,
  { handled }: MigrationView,
  both: Both,
): Promise<number | undefined> {
  const { migrationState: state } = both.vmi.status ?? {}
  const alone = [state?.sourceNode, state?.targetNode].find((node) => !handled.has(node ?? ''))
  if (alone !== undefined) return end(cx, both, `virt-handler on ${alone} is not there`)
  const fate = both.vmi.metadata.annotations?.[fateAnnotations.migration]
  if (fate === 'fail')
    return end(cx, both, "operation failed: guest CPU doesn't match specification: extra features: ht")
  if (fate === 'hang') return undefined
  const duration = fate === undefined ? usual : Number.parseFloat(fate) * 1000
  const left = Date.parse(state?.startTimestamp ?? '') + duration - cx.clock.now().getTime()
  return left > 0 ? left : end(cx, both)
}

/** The hand-over, or what is left of a failure. */
async function end(cx: VirtControllerContext, both: Both, failure?: string): Promise<undefined> {
  const { migration, vmi } = both
  const failed = failure === undefined ? {} : { failed: true, failureReason: failure }
  const state: MigrationState = {
    ...vmi.status?.migrationState,
    completed: true,
    endTimestamp: seconds(cx),
    ...failed,
  }
  const target = await targetOf(cx, both)
  const source = currentLauncher(vmi, await launchersOf(cx, vmi))
  if (failure === undefined && target) {
    const nodeName = target.spec?.nodeName ?? ''
    await cx.writer.mergePatch(VirtualMachineInstances, vmi.metadata, {
      metadata: { labels: { [outdatedLabel]: null, 'kubevirt.io/nodeName': nodeName } },
      status: {
        nodeName,
        migrationState: state,
        evacuationNodeName: null,
        launcherContainerImageVersion: null,
        activePods: { [target.metadata.uid ?? '']: nodeName },
      },
    })
    if (source) await finishLauncher(cx, source, seconds(cx))
    await become(cx, migration, 'Succeeded', state)
    return undefined
  }
  await cx.writer.mergePatch(VirtualMachineInstances, vmi.metadata, { status: { migrationState: state } })
  if (target) await finishLauncher(cx, target, seconds(cx))
  return fail(cx, migration, 'source node reported migration failed', state)
}

async function fail(
  cx: VirtControllerContext,
  migration: VirtualMachineInstanceMigration,
  message: string,
  state?: MigrationState,
): Promise<undefined> {
  await recordEvent(cx, migration, { type: 'Warning', reason: 'FailedMigration', message, by })
  await become(
    cx,
    migration,
    'Failed',
    state ?? { failed: true, endTimestamp: seconds(cx), failureReason: message },
  )
}
