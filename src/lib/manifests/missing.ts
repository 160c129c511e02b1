import type { Reader } from '../cluster/cluster.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { Kind } from '../cluster/kind.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  RoleBindings,
  Roles,
  ServiceAccounts,
} from '../cluster/kinds/extension.ts'
import type { Manifest } from './manifest.ts'

const labels = ['kubevirt.io', 'operator.kubevirt.io']
const kinds: readonly Kind[] = [ClusterRoles, ClusterRoleBindings, ServiceAccounts, Roles, RoleBindings]

/**
 * Objects that an older operator manifest has left and this one lacks: labelled as operator manifests label theirs and not
 * made by virt-operator itself. They are shown to a person, never deleted.
 */
export async function notInManifest(reader: Pick<Reader, 'list'>, manifest: Manifest): Promise<KubeObject[]> {
  const lists = kinds.flatMap((kind) =>
    labels.map((label) => labelled(reader, kind, label, manifest.namespace)),
  )
  const found = (await Promise.all(lists)).flat().filter((object) => !madeByOperator(object))
  const left = new Map(found.map((object) => [keyOf(object), object]))
  for (const object of manifest.objects) left.delete(keyOf(object))
  return [...left.values()]
}

/** Items of a list come without kind and apiVersion from a real server. */
async function labelled(
  reader: Pick<Reader, 'list'>,
  kind: Kind,
  label: string,
  namespace: string,
): Promise<KubeObject[]> {
  const items = await reader.list(kind, { labels: label, ...(kind.namespaced && { namespace }) })
  return items.map((item) => Object.assign({ apiVersion: kind.apiVersion, kind: kind.kind }, item))
}

const keyOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`

const madeByOperator = ({ metadata }: KubeObject) =>
  metadata.labels?.['app.kubernetes.io/managed-by']?.startsWith('virt-operator') === true
