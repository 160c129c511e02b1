import { VirtualMachineInstances, VirtualMachines } from '../../../cluster/kinds/virtual-machines.ts'
import type { StepContext } from '../../../procedure/step.ts'
import { ApiError } from '../../../system/errors.ts'
import type { Candidate } from '../../waves/candidate.ts'

/** Under virt-api's own API. */
const restartable = { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' }

/** `not-needed`: that instance is gone, or somebody restarts the VM already. */
export type Restarted = { is: 'asked' } | { is: 'not-needed' } | { is: 'refused'; why: string }

/** Asks virt-api to restart a VM, unless the instance that was looked at is gone. "Already underway" is no failure (night W3). Throws ApiError. */
export async function restartVm(
  { reader, writer }: Pick<StepContext, 'reader' | 'writer'>,
  { vm, uid }: Candidate,
): Promise<Restarted> {
  const [namespace = '', name = ''] = vm.split('/')
  const found = await reader.find(VirtualMachineInstances, { namespace, name })
  if (found.is !== 'object') return { is: 'not-needed' }
  const { metadata } = found.object
  if (metadata.uid !== uid || metadata.deletionTimestamp !== undefined) return { is: 'not-needed' }
  try {
    await writer.subresource(restartable, { namespace, name }, { name: 'restart', method: 'PUT', body: {} })
    return { is: 'asked' }
  } catch (error) {
    return refusal(error)
  }
}

/** A no to this VM is no reason to end; no right to do it at all is. */
function refusal(error: unknown): Restarted {
  if (!(error instanceof ApiError)) throw error
  if (/already underway/iu.test(error.message)) return { is: 'asked' }
  if (error.status === 409 || /admission webhook|denied the request/iu.test(error.message))
    return { is: 'refused', why: error.message }
  throw error
}
