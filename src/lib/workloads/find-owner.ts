import type { Reader, Ref } from '../cluster/cluster.ts'
import { type Kind, resourceOf } from '../cluster/kind.ts'
import type { KubeObject } from '../cluster/object.ts'
import { blocked } from '../system/errors.ts'

/** The one object that was found: a later one of the same name has another uid. */
interface Particular<T extends KubeObject> {
  kind: Kind<T>
  ref: Ref & { namespace: string }
  uid: string
}

const ofKubeVirt = { gone: 'kubevirt-gone', replaced: 'kubevirt-replaced', deleting: 'kubevirt-deleting' }
const ofHyperConverged = {
  gone: 'hyperconverged-gone',
  replaced: 'hyperconverged-replaced',
  deleting: 'hyperconverged-deleting',
}

/** Reads the KubeVirt CR or the HyperConverged; throws `blocked` when it is gone or another one took its place. */
export async function readOwner<T extends KubeObject>(
  reader: Reader,
  { kind, ref, uid }: Particular<T>,
): Promise<T> {
  const found = await reader.find(kind, ref)
  const object = nameOf({ kind, ref })
  const reasons = kind.kind === 'KubeVirt' ? ofKubeVirt : ofHyperConverged
  if (found.is !== 'object')
    throw blocked(reasons.gone, `${object} does not exist any more`, { object, remedy: 'kvup status' })
  if (found.object.metadata.uid !== uid)
    throw blocked(reasons.replaced, `${object} was deleted and created again while kvup was at work`, {
      object,
      remedy: 'kvup status',
    })
  if (found.object.metadata.deletionTimestamp !== undefined)
    throw blocked(reasons.deleting, `${object} is being deleted`, { object, remedy: 'kvup status' })
  return found.object
}

/** As kubectl names it; a HyperConverged with its group, for nobody knows it by its plural alone. */
export function nameOf({ kind, ref }: { kind: Kind; ref: Ref & { namespace: string } }): string {
  const resource = kind.kind === 'KubeVirt' ? kind.plural : resourceOf(kind)
  return `${resource}/${ref.name} in namespace ${ref.namespace}`
}
