import { groupOf, type Kind } from '../../cluster/kind.ts'
import { Deployments } from '../../cluster/kinds/apps.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  CustomResourceDefinitions,
  PriorityClasses,
  RoleBindings,
  Roles,
  ServiceAccounts,
} from '../../cluster/kinds/extension.ts'
import { ClusterServiceVersions } from '../../cluster/kinds/operator-lifecycle.ts'
import type { KubeObject } from '../../cluster/object.ts'
import type { ControllerContext } from '../machinery/controller.ts'

const kinds: readonly Kind[] = [
  ClusterServiceVersions,
  CustomResourceDefinitions,
  ServiceAccounts,
  ClusterRoles,
  ClusterRoleBindings,
  Roles,
  RoleBindings,
  Deployments,
  PriorityClasses,
]

/** A kind that bundles have and OLM applies; undefined for others. */
function appliedKind({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind | undefined {
  return kinds.find((known) => known.kind === kind && groupOf(known) === groupOf({ apiVersion }))
}

/** How it was found, in the words of a plan's step. */
export type Applied = 'Created' | 'Present' | 'UnsupportedResource'

/**
 * Creates it, or writes it over what is there: a CustomResourceDefinition as a whole, so that the conversion stanza goes which its operator
 * had put in (ocp 1.9). A CSV that is there stays as it is.
 */
export async function applyObject(
  { reader, writer }: ControllerContext,
  object: KubeObject,
): Promise<Applied> {
  const kind = appliedKind(object)
  if (kind === undefined) return 'UnsupportedResource'
  const ref = object.metadata
  const found = await reader.find(kind, ref)
  if (found.is !== 'object') {
    await writer.create(kind, object)
    return 'Created'
  }
  if (kind === ClusterServiceVersions) return 'Present'
  if ('spec' in object) {
    await writer.jsonPatch(kind, ref, [{ op: 'replace', path: '/spec', value: object.spec }])
  } else if (kind !== ServiceAccounts) {
    const { metadata, ...rest } = object
    const { labels } = metadata
    await writer.mergePatch(kind, ref, { ...rest, ...(labels && { metadata: { labels } }) })
  }
  return 'Present'
}
