import { ControllerRevisions } from '../../../cluster/kinds/apps.ts'
import type { VirtualMachine, VirtualMachineInstance } from '../../../cluster/kinds/virtual-machines.ts'
import { isConflict } from '../../../system/errors.ts'
import { namespaced } from '../../machinery/namespaced.ts'
import { ownerReference } from '../../machinery/pods.ts'
import type { VirtControllerContext } from './controller-context.ts'

/** Keeps the spec that a VM is started with, and forgets that of the start before (KubeVirt createVMRevision). Its name goes into the VMI. */
export async function keepStart(cx: VirtControllerContext, vm: VirtualMachine): Promise<string> {
  const { uid, generation = 1 } = vm.metadata
  const prefix = `revision-start-vm-${uid}-`
  const name = `${prefix}${generation}`
  await forgetOthers(cx, vm, { prefix, name })
  try {
    await cx.writer.create(ControllerRevisions, {
      apiVersion: ControllerRevisions.apiVersion,
      kind: ControllerRevisions.kind,
      metadata: { name, ...namespaced(vm.metadata), ownerReferences: [ownerReference(vm)] },
      data: { spec: vm.spec },
      revision: generation,
    })
  } catch (error) {
    // Started with the same spec before.
    if (!isConflict(error)) throw error
  }
  return name
}

/** A VM without a status was never started. */
async function forgetOthers(
  cx: VirtControllerContext,
  { metadata, status }: VirtualMachine,
  { prefix, name }: { prefix: string; name: string },
): Promise<void> {
  if (status?.printableStatus === undefined) return
  for (const { metadata: found } of await cx.reader.list(ControllerRevisions, namespaced(metadata)))
    if (found.name.startsWith(prefix) && found.name !== name)
      await cx.writer.delete(ControllerRevisions, found)
}

type Spec = NonNullable<VirtualMachine['spec']>

/** The spec at the start of this VMI where the VM was written since; undefined where it was not, or the record is gone. */
export async function earlierSpec(
  cx: VirtControllerContext,
  { metadata }: VirtualMachine,
  { status }: VirtualMachineInstance,
): Promise<Spec | undefined> {
  const name = status?.virtualMachineRevisionName
  if (name === undefined || name.endsWith(`-${metadata.generation ?? 1}`)) return undefined
  const found = await cx.reader.find(ControllerRevisions, { name, ...namespaced(metadata) })
  return found.is === 'object' ? (found.object.data as { spec?: Spec }).spec : undefined
}
