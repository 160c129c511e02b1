import type { PolicyRule, Role, RoleBinding } from '../cluster/kinds/extension.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { Manifest } from './manifest.ts'
import { nameOf } from './name-of.ts'

type Judge = (object: KubeObject, manifest: Manifest) => string | undefined

/**
 * Finding `manifest-extras`: what no kubevirt-operator.yaml of a release holds. A file from elsewhere is applied with the rights
 * of an administrator; rights for somebody else, other programs and other namespaces need a person's word.
 */
export function extrasFindings(manifest: Manifest) {
  const extras = manifest.objects.flatMap((object) => {
    const why = judges.map((judge) => judge(object, manifest)).find((text) => text !== undefined)
    return why === undefined ? [] : [{ name: nameOf(object), why }]
  })
  if (extras.length === 0) return []
  return [
    {
      id: 'manifest-extras',
      level: 'blocker' as const,
      summary: `the manifest holds what no operator manifest of KubeVirt holds: ${extras.map(({ name, why }) => `${name} ${why}`).join('; ')}`,
      remedy: [
        'take it out of the file, or name the kubevirt-operator.yaml of the release: --manifest FILE|URL',
      ],
      objects: extras.map(({ name }) => name),
    },
  ]
}

const judges: readonly Judge[] = [elsewhere, anotherProgram, foreignSubject, foreignRole, everyRight]

function elsewhere({ kind, metadata }: KubeObject, { namespace }: Manifest): string | undefined {
  const place = kind === 'Namespace' ? metadata.name : metadata.namespace
  return place === undefined || place === namespace ? undefined : `is not of namespace ${namespace}`
}

function anotherProgram(object: KubeObject, { operator }: Manifest): string | undefined {
  const isOther = object.kind === operator.kind && object.metadata.name !== operator.metadata.name
  return isOther ? 'is not the operator' : undefined
}

/** Release manifests bind ServiceAccounts that they bring along, and nobody else. */
function foreignSubject(object: KubeObject, { objects, namespace }: Manifest): string | undefined {
  if (!object.kind.endsWith('RoleBinding')) return undefined
  const own = (name: string) => objects.some((o) => o.kind === 'ServiceAccount' && o.metadata.name === name)
  const other = ((object as RoleBinding).subjects ?? []).find(
    (subject) => subject.kind !== 'ServiceAccount' || subject.namespace !== namespace || !own(subject.name),
  )
  return other === undefined ? undefined : `gives rights to ${other.kind} ${other.name}`
}

function foreignRole(object: KubeObject, { objects }: Manifest): string | undefined {
  if (!object.kind.endsWith('RoleBinding')) return undefined
  const { kind = '', name = '' } = (object as RoleBinding).roleRef ?? {}
  const own = objects.some((o) => o.kind === kind && o.metadata.name === name)
  return own || kind !== 'ClusterRole' ? undefined : `gives the rights of ${kind} ${name}`
}

function everyRight(object: KubeObject): string | undefined {
  if (!object.kind.endsWith('Role')) return undefined
  return ((object as Role).rules ?? []).some(isAll) ? 'may do everything' : undefined
}

const isAll = ({ apiGroups, resources, verbs }: PolicyRule) =>
  [apiGroups, resources, verbs].every((words) => words?.includes('*'))
