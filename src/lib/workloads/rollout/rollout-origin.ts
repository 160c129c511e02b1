import type { Reader } from '../../cluster/cluster.ts'
import { atVersion, groupOf } from '../../cluster/kind.ts'
import { HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import type { Installation } from '../../facts/installation.ts'
import { KvupError } from '../../system/errors.ts'
import { rolloutPath } from './vm-rollout.ts'
import { valueAt } from '../../cluster/apply/field-path.ts'

/** Lets one change what HyperConverged passes on to KubeVirt, and taints it (hco 6, night W10). */
export const jsonpatchAnnotation = 'kubevirt.kubevirt.io/jsonpatch'

/** Who says which strategy holds. */
export interface RolloutOrigin {
  /** `default`: nobody says it. `annotation`: that of a HyperConverged. */
  from: 'KubeVirt' | 'HyperConverged' | 'annotation' | 'default'
  /** Why the annotations of the HyperConverged are not known. */
  unread?: string
}

/** Reads the HyperConverged where there is one; what may not be read is said. Throws nothing for it. */
export async function rolloutOrigin(
  reader: Reader,
  { kubevirt, manager, namespace }: Installation,
): Promise<RolloutOrigin> {
  const said = valueAt(kubevirt, rolloutPath) !== undefined
  if (manager.kind !== 'hyperconverged') return { from: said ? 'KubeVirt' : 'default' }
  try {
    const patch = await readAnnotation(reader, manager.name ?? 'kubevirt-hyperconverged', namespace)
    return { from: patch?.includes('vmRolloutStrategy') ? 'annotation' : 'HyperConverged' }
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return { from: 'HyperConverged', unread: error.message }
  }
}

/** Metadata is the same under every version; reading loses nothing. */
async function readAnnotation(reader: Reader, name: string, namespace: string): Promise<string | undefined> {
  const [version] = await reader.versions(groupOf(HyperConvergeds))
  if (version === undefined) return undefined
  const found = await reader.find(atVersion(HyperConvergeds, version), { name, namespace })
  return found.is === 'object' ? found.object.metadata.annotations?.[jsonpatchAnnotation] : undefined
}
