import type { CustomResourceDefinition } from '../cluster/kinds/extension.ts'
import type { LaterCrdVersions } from '../releases/later-crd-versions.ts'

/** A CRD in which objects may be stored as an earlier release does not have them. */
export interface CrdAhead {
  name: string
  versions: readonly string[]
}

/**
 * The CRDs whose `status.storedVersions` name one of these versions: the API server takes none for them that lacks it (facts 1.6). None until
 * virt-operator has replaced the CRDs. Pure.
 */
export function crdsAhead(
  crds: readonly CustomResourceDefinition[],
  later: readonly LaterCrdVersions[],
): readonly CrdAhead[] {
  return crds.flatMap(({ metadata, spec, status }) => {
    const versions = later
      .filter(({ group }) => group === spec?.group)
      .flatMap((one) => one.versions)
      .filter((version) => status?.storedVersions?.includes(version))
    return versions.length === 0 ? [] : [{ name: metadata.name, versions }]
  })
}
