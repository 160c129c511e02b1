import type { Reader } from '../../cluster/cluster.ts'
import type { Step } from '../../procedure/step.ts'
import { ApiError } from '../../system/errors.ts'
import { machinesInOrder } from '../../workloads/unblock/find-loans.ts'
import { giveMachineBack } from '../../workloads/unblock/give-back.ts'
import { lentMachines } from '../../workloads/unblock/lent-machines.ts'
import type { MachineRef } from '../../workloads/unblock/read-machine.ts'

/** Gives VMs back what `kvup workloads unblock` lent them, as `kvup workloads restore` does: behind the pools, for the drains of their nodes need it. */
export const machinesBack = (machines: readonly MachineRef[]): readonly Step[] =>
  machines.map((ref) => giveMachineBack(ref, 'ask'))

/**
 * The same at the end of a window, whoever lent it meanwhile: steps are listed often, so that each VM is read only where there is one that was not seen before. None
 * where VMs may not be read (403). Throws any other ApiError.
 */
export function machinesBackNow(): (reader: Reader) => Promise<readonly Step[]> {
  let seen: readonly MachineRef[] = []
  return async (reader) => {
    try {
      const { lent, unreadable } = await lentMachines(reader)
      const now = [...lent, ...unreadable]
      if (!now.every((ref) => has(seen, ref))) seen = await machinesInOrder(reader)
      return machinesBack(seen.filter((ref) => has(now, ref)))
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) return []
      throw error
    }
  }
}

const has = (refs: readonly MachineRef[], { namespace, name }: MachineRef): boolean =>
  refs.some((one) => one.namespace === namespace && one.name === name)
