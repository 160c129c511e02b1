import { VirtualMachineInstanceMigrations } from '../../cluster/kinds/virtual-machines.ts'
import type { Procedure, ReadContext } from '../../procedure/step.ts'
import { isNotFound } from '../../system/errors.ts'
import { minutes, seconds } from '../../system/units.ts'
import { readMigrations } from '../migrations/ledger.ts'
import type { Migration } from '../migrations/migration.ts'

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
