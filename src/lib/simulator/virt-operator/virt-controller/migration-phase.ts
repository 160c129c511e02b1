import type { Pod } from '../../../cluster/kinds/pods.ts'
import {
  type MigrationState,
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../../cluster/kinds/virtual-machines.ts'
import { recordEvent } from '../../machinery/record-event.ts'
import { seconds, type VirtControllerContext } from './controller-context.ts'
import { launchersOf, migrationLabel } from './launcher-pods.ts'

/** A migration and the running instance that it is about. */
export interface Migrated {
  migration: VirtualMachineInstanceMigration
  vmi: VirtualMachineInstance
}

/** ms from one phase to the next where nothing has to be waited for. */
const step = 200

/** Writes the next phase; the result is after how many ms to look again. */
export async function become(
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

export async function fail(
  cx: VirtControllerContext,
  migration: VirtualMachineInstanceMigration,
  message: string,
  state?: MigrationState,
): Promise<undefined> {
  const by = 'virtualmachine-controller'
  await recordEvent(cx, migration, { type: 'Warning', reason: 'FailedMigration', message, by })
  const failed = { failed: true, endTimestamp: seconds(cx), failureReason: message }
  await become(cx, migration, 'Failed', state ?? failed)
}

/** The launcher that was made for the migration. */
export async function targetOf(
  cx: VirtControllerContext,
  { migration, vmi }: Migrated,
): Promise<Pod | undefined> {
  const pods = await launchersOf(cx, vmi)
  return pods.find((pod) => pod.metadata.labels?.[migrationLabel] === migration.metadata.uid)
}
