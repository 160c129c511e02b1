import { valueAt } from '../../cluster/apply/field-path.ts'
import type { Reader } from '../../cluster/cluster.ts'
import { ControllerRevisions } from '../../cluster/kinds/apps.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { ApiError } from '../../system/errors.ts'

/** What is known of the last start of a VM. */
export type LastStart =
  | { is: 'known'; vmi: VirtualMachineInstance; spec: unknown }
  | { is: 'not-running' }
  /** KubeVirt keeps the revision of the last start alone; somebody deleted it, or it is not in what was saved. */
  | { is: 'gone' }
  | { is: 'unread'; what: 'virtualmachineinstances' | 'controllerrevisions'; why: string }

/** The VM's spec when its VMI was made, from the ControllerRevision that the VMI names (KubeVirt createVMRevision). Throws ApiError but 403. */
export async function readLastStart(
  reader: Reader,
  ref: { name: string; namespace: string },
): Promise<LastStart> {
  let what: 'virtualmachineinstances' | 'controllerrevisions' = 'virtualmachineinstances'
  try {
    const found = await reader.find(VirtualMachineInstances, ref)
    if (found.is !== 'object') return { is: 'not-running' }
    const name = found.object.status?.virtualMachineRevisionName
    if (name === undefined) return { is: 'gone' }
    what = 'controllerrevisions'
    const revision = await reader.find(ControllerRevisions, { name, namespace: ref.namespace })
    if (revision.is !== 'object') return { is: 'gone' }
    return { is: 'known', vmi: found.object, spec: valueAt(revision.object.data, ['spec']) }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    return { is: 'unread', what, why: error.message }
  }
}
