import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../cluster/kinds/virtual-machines.ts'
import type { StepContext } from '../../procedure/step.ts'
import { ApiError } from '../../system/errors.ts'
import type { Candidate } from '../waves/candidate.ts'
import { refusesThisVm } from '../refuses-this-vm.ts'
import { placeOfVm } from '../vm-name.ts'

/** VMs under virt-api's own API. */
export const restartable = { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' }

/** `not-needed`: it is not to be restarted now, or not any more. `refused`: the server's answer to this VM. */
export type Begun = { is: 'begun' } | { is: 'not-needed'; why: string } | { is: 'refused'; why: string }

/** Why this VMI is not to be restarted now; undefined: it is. */
export type Against = (vmi: VirtualMachineInstance) => Promise<string | undefined>

/**
 * Asks virt-api to restart a VM, after a look at the instance that is to go. "Already underway" is waiting for that instance to go (night W3).
 * Throws ApiError for what is no answer about this VM.
 */
export async function askRestart(
  { reader, writer }: Pick<StepContext, 'reader' | 'writer'>,
  { vm, uid }: Candidate,
  against: Against,
): Promise<Begun> {
  const place = placeOfVm(vm)
  const found = await reader.find(VirtualMachineInstances, place)
  if (found.is !== 'object' || found.object.metadata.uid !== uid)
    return { is: 'not-needed', why: 'the instance that was to go is gone' }
  if (found.object.metadata.deletionTimestamp !== undefined)
    return { is: 'not-needed', why: 'it is being stopped already' }
  const why = await against(found.object)
  if (why !== undefined) return { is: 'not-needed', why }
  try {
    await writer.subresource(restartable, place, { name: 'restart', method: 'PUT', body: {} })
    return { is: 'begun' }
  } catch (error) {
    return answerOf(error)
  }
}

function answerOf(error: unknown): Begun {
  if (!(error instanceof ApiError)) throw error
  const conflict = error.status === 409
  if (conflict && /already underway/iu.test(error.message)) return { is: 'begun' }
  if (conflict || refusesThisVm(error)) return { is: 'refused', why: error.message }
  throw error
}
