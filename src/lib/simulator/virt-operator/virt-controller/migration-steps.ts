import {
  type MigrationState,
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../cluster/kinds/virtual-machines.ts'
import { fateAnnotations } from '../../virtual-machine.ts'
import { isLiving, isReady } from '../../machinery/pods.ts'
import { withoutAsked } from './asked-changes.ts'
import { seconds, type VirtControllerContext } from './controller-context.ts'
import { outdatedLabel } from './instances.ts'
import { currentLauncher, finishLauncher, launchersOf } from './launcher-pods.ts'
import { become, fail, type Migrated, targetOf } from './migration-phase.ts'
import { admit, schedule } from './migration-start.ts'
import type { MigrationView } from './migrations.ts'

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
export async function advance(
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
  return isReady(target) ? become(cx, both.migration, 'Scheduled') : undefined
}

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
  const fate = both.vmi.metadata.annotations?.[fateAnnotations.migration]
  if (fails(fate, both, migrations)) return abandon(cx, both, incompatible)
  if (fate === 'hang') return undefined
  const left = Date.parse(startTimestamp) + durationOf(fate) - cx.clock.now().getTime()
  return left > 0 ? left : handOver(cx, both)
}

/** What QEMU says when the target's CPU lacks a feature. */
const incompatible = "operation failed: guest CPU doesn't match specification: extra features: ht"
const durationOf = (fate = ''): number => (/^\d/u.test(fate) ? Number.parseFloat(fate) * 1000 : usual)

function fails(fate: string | undefined, both: Migrated, migrations: MigrationView['migrations']): boolean {
  return fate === 'fail' || (fate === 'fail-once' && !failedBefore(both, migrations))
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
  const stays = vmi.metadata.annotations?.[fateAnnotations.migration] === 'split'
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
