import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../../cluster/kinds/virtual-machines.ts'
import type { Pod } from '../../../cluster/kinds/pods.ts'
import { condition } from '../../../cluster/object.ts'
import { ApiError } from '../../../system/errors.ts'
import { recordEvent } from '../../machinery/record-event.ts'
import { seconds, type VirtControllerContext } from './controller-context.ts'
import { createLauncher } from './launcher-pods.ts'
import { migrationFinalizer } from './migration-cleanup.ts'
import { become, type Migrated } from './migration-phase.ts'
import { backOffUntil, isFinal, isHeldBack, isRunning } from './migration-plan.ts'
import type { MigrationView } from './migrations.ts'

const by = 'virtualmachine-controller'
/** A migration that a limit holds is looked at again after this long. */
const retry = 5000

/** What the mutating webhook adds, and the first phase. */
export async function admit(cx: VirtControllerContext, { migration }: Migrated): Promise<number> {
  const labels = { 'kubevirt.io/vmi-name': migration.spec?.vmiName ?? '' }
  const metadata = { labels, finalizers: [migrationFinalizer] }
  await cx.writer.mergePatch(VirtualMachineInstanceMigrations, migration.metadata, { metadata })
  return become(cx, migration, 'Pending')
}

/** Limits and back-off hold a migration in Pending without a word but the one event (facts 3.3). */
export async function schedule(
  cx: VirtControllerContext,
  view: MigrationView,
  both: Migrated,
): Promise<number> {
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
