import * as kube from '../kinds.ts'
import { fillTemplate } from '../placeholders.ts'
import table from './release-objects.json' with { type: 'json' }
import { isAtLeast, type OperatorFaults } from './virt-operator-context.ts'
import { kubeVirtDescription } from '../api/kinds/kubevirt-schema.ts'
import type { Store } from '../api/store.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { anything, definitionOf } from '../api/kinds/custom-kinds.ts'

interface Definition {
  kind: string
  plural: string
  shortNames?: string[]
  categories?: string[]
  group: string
  namespaced: boolean
  /** The stored one first. */
  versions: string[]
  status: boolean
}

/** KubeVirt's own is the first. */
function definitions(version: string): kube.CustomResourceDefinition[] {
  const rows = fillTemplate<Definition[]>(table.definitions, {
    word: String,
    isAtLeast: (minor) => isAtLeast(version, minor),
  })
  return rows.map(({ kind, plural, group, namespaced, versions, status, ...names }) =>
    definitionOf(
      { apiVersion: `${group}/${versions[0]}`, kind, plural, namespaced },
      { versions, status, names: { listKind: `${kind}List`, ...names } },
    ),
  )
}

/** The CRDs of a release, but for KubeVirt's own, which comes with the operator manifest (facts 1.6). */
export const customResources = (version: string): kube.CustomResourceDefinition[] =>
  definitions(version).slice(1)

/** The CRD that the operator manifest brings. Its schema says no more than of which minor it is. */
export function kubeVirtDefinition(version: string): kube.CustomResourceDefinition {
  const [base] = definitions(version) as [kube.CustomResourceDefinition]
  const description = kubeVirtDescription(version)
  const schema = { openAPIV3Schema: { ...anything.openAPIV3Schema, ...(description && { description }) } }
  const versions = base.spec?.versions?.map((one) => ({ ...one, schema }))
  return {
    ...base,
    metadata: { ...base.metadata, labels: { 'operator.kubevirt.io': '' } },
    spec: { ...base.spec, ...(versions && { versions }) },
  }
}

/** The fault `storedVersion`: the CRD's status names the version as stored for as long as the fault is on. */
export function storeOldVersions(store: Store, faults: Faults<OperatorFaults>): void {
  let inForce: OperatorFaults['storedVersion']
  const enforce = () => {
    const { storedVersion } = faults.on
    if (storedVersion === inForce) return
    if (inForce) write(store, inForce, false)
    if (storedVersion) write(store, storedVersion, true)
    inForce = storedVersion
  }
  faults.onChange(enforce, new AbortController().signal)
}

function write(
  store: Store,
  { crd, version }: NonNullable<OperatorFaults['storedVersion']>,
  stored: boolean,
): void {
  const found: kube.CustomResourceDefinition | undefined = store.read(kube.CustomResourceDefinitions, {
    name: crd,
  })
  if (!found) return
  const others = (found.status?.storedVersions ?? []).filter((name) => name !== version)
  const body = { status: { storedVersions: stored ? [version, ...others] : others } }
  store.patch(kube.CustomResourceDefinitions, { name: crd }, { type: 'merge', body }, { on: 'status' })
}
