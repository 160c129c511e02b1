import type { KubeObject } from '../cluster/object.ts'
import type { ObjectChange } from './changes.ts'
import { type CrdDiff, crdDiff } from './crd-diff.ts'
import { nameOf } from './name-of.ts'
import { operatorRights, type RoleDiff, roleDiff } from './role-diff.ts'

/** What a release manifest changes of what is installed: objects, rights, CRDs. */
export interface ManifestDiff {
  /** File, URL or `standard input`. */
  origin: string
  /** Of the text as it was read, hexadecimal. */
  sha256: string
  /** Those that are new or change, in the order in which they are applied. */
  objects: readonly { kind: string; namespace?: string; name: string; is: 'created' | 'changed' }[]
  rights: readonly RoleDiff[]
  crds: readonly CrdDiff[]
  /** In the cluster and not in the manifest: `ClusterRole kubevirt-old`. Never deleted. */
  left: readonly string[]
  /** What of night C3 a manifest cannot show. */
  unseen: string
}

/** Pure. `left`: what an older manifest has left (`notInManifest`); `source`: what was read. */
export function manifestDiff(
  changes: readonly ObjectChange[],
  left: readonly KubeObject[],
  { origin, sha256 }: Pick<ManifestDiff, 'origin' | 'sha256'>,
): ManifestDiff {
  const changing = changes.filter(({ is }) => is !== 'same')
  const operator = operatorRights(changes, left)
  return {
    origin,
    sha256,
    objects: changing.flatMap(({ wanted, is }) => (is === 'same' ? [] : [{ ...namedAs(wanted), is }])),
    rights: changing.flatMap((change) => roleDiff(change, operator)),
    crds: changing.flatMap(crdDiff),
    left: left.map(nameOf),
    unseen,
  }
}

/** The operator can only grant what it holds itself (lab 13), so its own role tells of the operands, but not of which. */
const unseen =
  'The roles of virt-api, virt-controller, virt-handler and virt-exportproxy are not in the manifest: the new operator makes them from its own install strategy, before it replaces their pods. A verb that the operator itself loses is lost to all of them; one that only a single component loses cannot be seen here, and shows as "forbidden" in its log until its pods are replaced.'

function namedAs({ kind, metadata }: KubeObject): { kind: string; namespace?: string; name: string } {
  const { namespace, name } = metadata
  return { kind, ...(namespace !== undefined && { namespace }), name }
}
