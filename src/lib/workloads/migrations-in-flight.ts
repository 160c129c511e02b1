import {
  VirtualMachineInstanceMigrations,
  type VirtualMachineInstanceMigration,
} from '../cluster/kinds/virtual-machines.ts'
import { unfinishedMigrations } from '../facts/migrations.ts'
import type { Step, StepState } from '../procedure/step.ts'
import { isNotFound } from '../system/errors.ts'
import type { Reader } from '../cluster/cluster.ts'
import { seconds } from '../system/units.ts'

export type MigrationsPolicy = 'wait' | 'cancel' | 'ignore'

/**
 * Waits for every unfinished migration, whoever made it, or cancels them: the virt-handler roll kills those in flight, and
 * emptying the methods cancels none (facts 2.8, night U1). `atMost` in ms.
 */
export function migrationsInFlight(policy: 'wait' | 'cancel', atMost: number): Step {
  return {
    id: 'migrations-in-flight',
    title: policy === 'cancel' ? 'cancel migrations in flight' : 'migrations in flight',
    patience: { every: 15 * seconds, atMost },
    estimate: 30 * seconds,
    follows: [{ kind: VirtualMachineInstanceMigrations, where: {} }],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader }): Promise<StepState> {
      const found = await open(reader)
      if (found.length === 0) return { is: 'done', note: 'none' }
      const names = found.slice(0, 3).map(nameOf).join(', ')
      const text = `${found.length} ${found.length === 1 ? 'migration' : 'migrations'} (${names}${found.length > 3 ? ', …' : ''})`
      const cancellable = found.filter((m) => m.metadata.deletionTimestamp === undefined)
      if (policy === 'cancel' && cancellable.length > 0) return { is: 'todo', change: `cancel ${text}` }
      return { is: 'waiting', on: `${text} to end` }
    },
    ...(policy === 'cancel' && {
      repeats: { atMost: 10, parallel: 1 },
      apply: async ({ reader, writer }) => {
        for (const { metadata } of await open(reader))
          await writer
            .delete(
              VirtualMachineInstanceMigrations,
              { name: metadata.name, namespace: metadata.namespace },
              { uid: metadata.uid },
            )
            .catch((error: unknown) => {
              if (!isNotFound(error)) throw error
            })
      },
    }),
  }
}

/** None where the kind is not served. */
async function open(reader: Reader): Promise<VirtualMachineInstanceMigration[]> {
  try {
    return await unfinishedMigrations(reader)
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

const nameOf = (m: VirtualMachineInstanceMigration) =>
  `${m.metadata.namespace}/${m.spec?.vmiName ?? m.metadata.name}`
