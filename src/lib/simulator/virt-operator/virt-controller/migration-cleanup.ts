import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../../cluster/kinds/virtual-machines.ts'
import { seconds, type VirtControllerContext } from './controller-context.ts'
import { finishLauncher, launchersOf, migrationLabel } from './launcher-pods.ts'
import { endOf, isFinal } from './migration-plan.ts'

export const migrationFinalizer = 'kubevirt.io/migrationJobFinalize'
/** Finished migrations that are kept per instance (facts 3.3). */
const kept = 5

/** A deleted migration is cancelled: its target pod ends, then the finalizer goes. */
export async function removeDeleted(
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
export async function collectOld(
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
