import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { unfinishedMigrations } from '../../kubevirt/snapshot.ts'
import type { Procedure, ReadContext, Step, StepState } from '../../engine/step.ts'
import { isNotFound } from '../../kube/errors.ts'
import type { Reader } from '../../kube/cluster.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import { readMigrations } from './migration-ledger.ts'
import type { Migration } from './migration.ts'

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

/** Cancels the migrations that kvup has made since a time, in ms since the epoch, and that are not over: deleting is cancelling (facts 3.3). */
export function cancelProcedure(since: number): Procedure {
  const running = (cx: ReadContext) => ownMigrations(cx, since)
  return {
    name: 'cancel migrations',
    reached: async (cx) => (await running(cx)).length === 0,
    steps: async () => [
      {
        id: 'cancel-migrations',
        title: 'cancel migrations',
        patience: { every: 5 * seconds, atMost: 1 * minutes },
        estimate: 1 * seconds,
        follows: [],
        risk: { undo: 'kvup workloads update', safeToLeave: 'always' },
        async check(cx) {
          const found = await running(cx)
          if (found.length === 0) return { is: 'done' }
          return {
            is: 'todo',
            change: `cancel ${found.map(({ namespace, vmi }) => `${namespace}/${vmi}`).join(', ')}`,
          }
        },
        async apply(cx) {
          for (const { name, namespace, uid } of await running(cx))
            await cx.writer
              .delete(VirtualMachineInstanceMigrations, { name, namespace }, { uid })
              .catch((error: unknown) => {
                if (!isNotFound(error)) throw error
              })
        },
      },
    ],
  }
}

async function ownMigrations({ reader }: ReadContext, since: number): Promise<readonly Migration[]> {
  const { ledger } = await readMigrations(reader)
  const second = Math.floor(since / seconds) * seconds
  return ledger.open.filter(
    ({ by, cancelled, createdAt = '' }) => by === 'kvup' && !cancelled && Date.parse(createdAt) >= second,
  )
}
