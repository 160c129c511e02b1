import type { Reader } from '../../cluster/cluster.ts'
import type { Step } from '../../procedure/step.ts'
import { ApiError } from '../../system/errors.ts'
import { machinesInOrder } from '../../workloads/unblock/find-loans.ts'
import { giveMachineBack, type RefusedVms } from '../../workloads/unblock/give-back.ts'
import { lentMachines } from '../../workloads/unblock/lent-machines.ts'
import type { MachineRef } from '../../workloads/unblock/read-machine.ts'

/**
 * Gives VMs back what `kvup workloads unblock` lent them, as `kvup workloads restore` does: behind the pools, for the drains of their nodes need it. One that the server
 * refuses is told, keeps its note, and keeps no window open.
 */
export const machinesBack = (
  machines: readonly MachineRef[],
  refused: RefusedVms = new Map(),
): readonly Step[] => machines.map((ref) => giveMachineBack(ref, 'ask', refused))

/**
 * The same at the end of a window, whoever lent it meanwhile: steps are listed often, so that each VM is read only where there is one that was not seen before. Those
 * that were seen stay, whether or not they are still listed: each is asked for itself. Where VMs may not be listed (403) none comes to them. Throws any other ApiError.
 */
export function machinesBackNow(
  atFirst: readonly MachineRef[],
): (reader: Reader) => Promise<readonly Step[]> {
  let seen = atFirst
  const refused: RefusedVms = new Map()
  return async (reader) => {
    try {
      const { lent, unreadable } = await lentMachines(reader)
      if (![...lent, ...unreadable].every((ref) => has(seen, ref))) {
        const now = await machinesInOrder(reader)
        seen = [...seen.filter((ref) => !has(now, ref)), ...now]
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
    }
    return machinesBack(seen, refused)
  }
}

const has = (refs: readonly MachineRef[], { namespace, name }: MachineRef): boolean =>
  refs.some((one) => one.namespace === namespace && one.name === name)
