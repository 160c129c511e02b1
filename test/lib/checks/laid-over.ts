import type { KubeObject } from '../../../src/lib/cluster/object.ts'
import { strategicPatch } from '../../../src/lib/simulator/api/strategic-patch.ts'

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
    .map((object) => replaced(object, is.kubernetes, wanted.kubernetes ?? is.kubernetes))
    .map((object) => (wanted.operator ? withOperator(object, installed, wanted.operator) : object))
}

function withOperator(object: KubeObject, installed: string, operator: string): KubeObject {
  if (object.kind === 'KubeVirt')
    return strategicPatch(object, { status: { operatorVersion: operator } }) as KubeObject
  const isOperator = object.metadata.labels?.['kubevirt.io'] === 'virt-operator'
  return isOperator ? replaced(object, installed, operator) : object
}

const replaced = (object: KubeObject, from: string, to: string): KubeObject =>
  from === to ? object : (JSON.parse(JSON.stringify(object).replaceAll(from, to)) as KubeObject)
