import type { Reader } from '../../cluster/cluster.ts'
import { HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import type { Manager } from '../../facts/ownership.ts'
import { blocked } from '../../system/errors.ts'
import { nameOf } from '../find-owner.ts'
import type { Owner } from '../update-methods.ts'
import { onKubeVirt, type SettingsOwner } from './owner.ts'
import { hyperConvergedFields } from './setting-fields.ts'
import { storedHyperConverged } from './stored-hyperconverged.ts'

/** One that was found: each step works out anew in which version it is stored. */
export function onHyperConverged(
  { ref, uid }: Pick<SettingsOwner, 'ref' | 'uid'>,
  kubevirt: Owner,
  accepted: readonly string[],
): SettingsOwner {
  return { kind: HyperConvergeds, ref, uid, ...hyperConvergedFields.v1beta1, kubevirt, accepted }
}

/** Where there is one, it bears this name (hco 1). */
const usualName = 'kubevirt-hyperconverged'

/**
 * Who owns the settings of workload updates and migrations: the HyperConverged that manages this KubeVirt, else the KubeVirt itself.
 * `manager` is that of the installation. Throws `blocked` where the HyperConverged is gone or no version of it can be written safely.
 */
export async function findSettingsOwner(
  reader: Reader,
  kubevirt: Owner,
  manager: Pick<Manager, 'kind' | 'name'>,
): Promise<SettingsOwner> {
  if (manager.kind !== 'hyperconverged') return onKubeVirt(kubevirt)
  const { kind, version } = await storedHyperConverged(reader)
  const ref = { name: manager.name ?? usualName, namespace: kubevirt.ref.namespace }
  const found = await reader.find(kind, ref)
  if (found.is === 'object')
    return { kind, ref, uid: found.object.metadata.uid ?? '', ...hyperConvergedFields[version], kubevirt }
  const object = nameOf({ kind, ref })
  throw blocked(
    'hyperconverged-gone',
    `${nameOf(kubevirt)} says that it belongs to a HyperConverged, but there is no ${object}`,
    { object, remedy: 'kubectl get hyperconvergeds.hco.kubevirt.io -A' },
  )
}
