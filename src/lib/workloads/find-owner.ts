import type { Reader } from '../cluster/cluster.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import { blocked } from '../system/errors.ts'
import type { Owner } from './update-methods.ts'

/** Reads the KubeVirt CR; throws `blocked` when it is gone or another one took its place. */
export async function readOwner(reader: Reader, owner: Owner): Promise<KubeVirt> {
  const found = await reader.find(owner.kind, owner.ref)
  const object = `kubevirts/${owner.ref.name} in namespace ${owner.ref.namespace}`
  if (found.is !== 'object')
    throw blocked('kubevirt-gone', `${object} does not exist any more`, { object, remedy: 'kvup status' })
  if (found.object.metadata.uid !== owner.uid)
    throw blocked('kubevirt-replaced', `${object} was deleted and created again while kvup was at work`, {
      object,
      remedy: 'kvup status',
    })
  if (found.object.metadata.deletionTimestamp !== undefined)
    throw blocked('kubevirt-deleting', `${object} is being deleted`, { object, remedy: 'kvup status' })
  return found.object
}
