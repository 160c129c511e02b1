import * as kube from '../kinds.ts'
import { isAtLeast, type OperatorFaults } from './virt-operator-context.ts'
import { kubeVirtDescription } from '../api/kinds/kubevirt-schema.ts'
import type { Store } from '../api/store.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { anything, definitionOf } from '../api/kinds/custom-kinds.ts'

interface Resource {
  kind: string
  plural: string
  group: string
  /** The stored one first. */
  versions: string[]
  status: boolean
  shortNames?: string[]
  cluster?: boolean
}

const main = 'kubevirt.io'
const of = (kind: string, group: string, versions: string[], more: Partial<Resource> = {}): Resource => ({
  kind,
  plural: `${kind.toLowerCase()}s`,
  group,
  versions,
  status: true,
  ...more,
})

/** The CRDs of a release, but for KubeVirt's own, which comes with the operator manifest (facts 1.6). */
function resources(version: string): Resource[] {
  const export9 = isAtLeast(version, 9) ? ['v1', 'v1beta1'] : ['v1beta1', 'v1alpha1']
  return [
    of('VirtualMachineInstance', main, ['v1', 'v1alpha3'], { status: false, shortNames: ['vmi', 'vmis'] }),
    of('VirtualMachine', main, ['v1', 'v1alpha3'], { shortNames: ['vm', 'vms'] }),
    of('VirtualMachineInstanceMigration', main, ['v1', 'v1alpha3'], { shortNames: ['vmim', 'vmims'] }),
    of('VirtualMachineInstanceReplicaSet', main, ['v1', 'v1alpha3'], { shortNames: ['vmirs', 'vmirss'] }),
    of('VirtualMachineSnapshot', `snapshot.${main}`, ['v1beta1', 'v1alpha1']),
    of('VirtualMachineRestore', `snapshot.${main}`, ['v1beta1', 'v1alpha1']),
    of('VirtualMachineInstancetype', `instancetype.${main}`, ['v1beta1'], { status: false }),
    of('VirtualMachineClusterInstancetype', `instancetype.${main}`, ['v1beta1'], {
      status: false,
      cluster: true,
    }),
    of('VirtualMachinePreference', `instancetype.${main}`, ['v1beta1'], { status: false }),
    of('VirtualMachinePool', `pool.${main}`, isAtLeast(version, 7) ? ['v1beta1', 'v1alpha1'] : ['v1alpha1']),
    of('VirtualMachineExport', `export.${main}`, export9),
    of('VirtualMachineClone', `clone.${main}`, ['v1beta1', 'v1alpha1']),
    of('MigrationPolicy', `migrations.${main}`, ['v1alpha1'], { cluster: true, plural: 'migrationpolicies' }),
    ...(isAtLeast(version, 8) ? [of('VirtualMachineBackup', `backup.${main}`, ['v1alpha1'])] : []),
  ]
}

const definition = ({ kind, plural, group, versions, status, shortNames = [], cluster }: Resource) =>
  definitionOf(
    { apiVersion: `${group}/${versions[0]}`, kind, plural, namespaced: cluster !== true },
    { versions, status, names: { listKind: `${kind}List`, shortNames, categories: ['all'] } },
  )

export const customResources = (version: string): kube.CustomResourceDefinition[] =>
  resources(version).map(definition)

/** The CRD that the operator manifest brings. Its schema says no more than of which minor it is. */
export function kubeVirtDefinition(version: string): kube.CustomResourceDefinition {
  const base = definition(of('KubeVirt', main, ['v1', 'v1alpha3'], { shortNames: ['kv', 'kvs'] }))
  const description = kubeVirtDescription(version)
  const versions = base.spec?.versions?.map((one) => ({
    ...one,
    schema: { openAPIV3Schema: { ...anything.openAPIV3Schema, ...(description && { description }) } },
  }))
  return { ...base, spec: { ...base.spec, ...(versions && { versions }) } }
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
