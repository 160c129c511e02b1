import type { CustomResourceDefinition } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { crdsAhead } from '../../../src/lib/kubevirt/stored-versions.ts'
import { laterCrdVersions } from '../../../src/lib/releases/hop-findings.ts'
import { knownReleases } from '../../../src/lib/releases/releases.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import { strategicPatch } from '../../../src/simulator/api/patch.ts'

/** A whole object that is new, or the fields of one that is there; `$patch: delete` takes it away. */
export type Change = KubeObject & { $patch?: 'delete' }

/**
 * The objects with the changes laid over them by kind, namespace and name, as `kubectl patch` does it: conditions, containers and
 * webhooks are found by their key. Throws for the fields of an object that is not there.
 */
export function laidOver(objects: readonly KubeObject[], changes: readonly Change[]): KubeObject[] {
  const all = new Map(objects.map((object) => [nameOf(object), object]))
  for (const change of changes) {
    const name = nameOf(change)
    const before = all.get(name)
    if (before === undefined && (change.$patch !== undefined || !isWhole(change)))
      throw new Error(`there is no ${name} to change, and it does not say what it is`)
    if (change.$patch === 'delete') all.delete(name)
    else all.set(name, strategicPatch(before ?? {}, change) as KubeObject)
  }
  return [...all.values()]
}

const nameOf = ({ kind, metadata: { namespace = '', name } }: KubeObject) => `${kind} ${namespace}/${name}`
const isWhole = ({ apiVersion }: Partial<KubeObject>) => apiVersion !== undefined

/** What an example says in place of an installation of its own. */
export interface Versions {
  /** Of everything that virt-operator has installed. */
  installed?: string
  /** Of virt-operator itself, where it is another one. */
  operator?: string
  /** Of the API server and of every kubelet, as `v1.34.2`. */
  kubernetes?: string
}

/** The same cluster with other versions, by every sign of them. Throws where a version is nowhere to be found. */
export function ofVersions(
  objects: readonly KubeObject[],
  is: { kubevirt: string; kubernetes: string },
  wanted: Versions,
): KubeObject[] {
  const installed = wanted.installed ?? is.kubevirt
  return objects
    .map((object) => replaced(object, is.kubevirt, installed))
    .map((object) => storedAs(object, installed))
    .map((object) => replaced(object, is.kubernetes, wanted.kubernetes ?? is.kubernetes))
    .map((object) => (wanted.operator ? withOperator(object, installed, wanted.operator) : object))
}

/** A CRD as it is under that release: what later ones brought is not stored yet. */
function storedAs(object: KubeObject, installed: string): KubeObject {
  if (object.kind !== 'CustomResourceDefinition') return object
  const crd = object as CustomResourceDefinition
  if (crdsAhead([crd], laterCrdVersions(parseVersion(installed), knownReleases)).length === 0) return object
  const others = crd.spec?.versions?.filter(({ name }) => name !== 'v1alpha1') ?? []
  const versions = [{ ...others[0], name: 'v1alpha1', served: true, storage: true }, ...others.map(notStored)]
  const stored: CustomResourceDefinition = {
    ...crd,
    spec: { ...crd.spec, versions },
    status: { ...crd.status, storedVersions: ['v1alpha1'] },
  }
  return stored
}

type Served = NonNullable<NonNullable<CustomResourceDefinition['spec']>['versions']>

const notStored = (version: Served[number]): Served[number] => ({ ...version, storage: false })

function withOperator(object: KubeObject, installed: string, operator: string): KubeObject {
  if (object.kind === 'KubeVirt')
    return strategicPatch(object, { status: { operatorVersion: operator } }) as KubeObject
  const isOperator = object.metadata.labels?.['kubevirt.io'] === 'virt-operator'
  return isOperator ? replaced(object, installed, operator) : object
}

const replaced = (object: KubeObject, from: string, to: string): KubeObject =>
  from === to ? object : (JSON.parse(JSON.stringify(object).replaceAll(from, to)) as KubeObject)
