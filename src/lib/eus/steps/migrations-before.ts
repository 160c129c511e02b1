import type { Step, StepState } from '../../procedure/step.ts'
import { minutes } from '../../system/units.ts'
import { migrationsInFlight } from '../../workloads/migrations-in-flight.ts'

/**
 * Waits for migrations in flight before a release of the operator is approved: the roll of virt-handler kills them, whoever began them, and methods that are held
 * keep nobody else from migrating (night U1). None where that was accepted.
 */
export function migrationsBefore(approving: Step, accepted: readonly string[]): Step[] {
  if (!approving.id.startsWith('approve-') || accepted.includes('migrations-in-flight')) return []
  const migrations = migrationsInFlight('wait', 30 * minutes)
  const check = async (cx: Parameters<Step['check']>[0]): Promise<StepState> =>
    (await approving.check(cx)).is === 'done' ? { is: 'done' } : migrations.check(cx)
  return [{ ...migrations, id: approving.id.replace('approve', 'migrations'), check }]
}
