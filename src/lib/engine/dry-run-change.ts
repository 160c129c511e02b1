import { type Kind, type KubeObject, lastApplied, withoutKeys } from '../kube/object.ts'
import type { Ref } from '../kube/cluster.ts'
import { type FieldChange, fieldChanges, type Leaf, leavesOf, schemaChange } from '../kube/field-changes.ts'
import { isNote } from './overrides.ts'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type Role,
} from '../kube/kinds/extension-kinds.ts'
import { rightsIn } from '../kube/access-rights.ts'

/** What a step would do to one object. */
export interface DryRunChange {
  object: { apiVersion: string; kind: string; namespace?: string; name: string }
  /** `called`: a subresource. */
  is: 'created' | 'changed' | 'deleted' | 'called'
  /** What becomes of its fields, without status and what the server keeps; none for a deletion and a call. */
  fields: readonly FieldChange[]
  /**
   * Who worked the result out: a dry run on the server, or kvup from what it read, which lacks the defaults that the server adds. Where kvup
   * takes over what kubectl applied, the fields that go for it are worked out by kvup either way: a dry run keeps no takeover.
   */
  by: 'server' | 'client'
  call?: string
}

/** How the object is named in a change. */
export const namedIn = ({ apiVersion, kind }: Kind, { namespace, name }: Ref): DryRunChange['object'] => ({
  apiVersion,
  kind,
  ...(namespace !== undefined && { namespace }),
  name,
})

/**
 * Every field that differs, but for what only the server keeps. The schemas of a CustomResourceDefinition are counted instead:
 * one change per version (see `schemaChange`). Of a role the rights are told. `withStatus`: the status was what was written.
 */
export function changedFields(
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  withStatus = false,
): FieldChange[] {
  const leaves = (object: KubeObject | undefined) =>
    object === undefined ? {} : leavesOf(written(withoutRules(withoutSchemas(object)), withStatus))
  const changes = fieldChanges(leaves(before), leaves(after))
  return [
    ...changes.filter((change) => !isFilled(change, changes)),
    ...versionSchemas(before, after),
    ...roleRights(before, after),
  ]
}

/** An object or list that was empty and holds something now, or the other way round: what it holds is told. */
function isFilled({ path, from, to }: FieldChange, changes: readonly FieldChange[]): boolean {
  if ((from === undefined) === (to === undefined) || !isEmpty(from ?? to)) return false
  return changes.some((other) => other.path.startsWith(`${path}.`) || other.path.startsWith(`${path}[`))
}

const isEmpty = (leaf: Leaf | undefined): boolean =>
  typeof leaf === 'object' && leaf !== null && Object.keys(leaf).length === 0

const kept = new Set(['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp'])

/** The note of a saved value is told as what the step keeps. */
function written(object: KubeObject & { status?: unknown }, withStatus: boolean): object {
  const { metadata, status, ...rest } = object
  const annotations = withoutKeys(metadata.annotations ?? {}, (key) => key === lastApplied || isNote(key))
  return {
    ...rest,
    metadata: {
      ...withoutKeys(metadata, (key) => kept.has(key) || key === 'annotations'),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    ...(withStatus && { status }),
  }
}

/** One change per version whose schema differs: thousands of lines that nobody would read. */
function versionSchemas(
  before: KubeObject | undefined,
  after: KubeObject | undefined,
): readonly FieldChange[] {
  const [was, is] = [schemas(before), schemas(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((version) => {
    const change = schemaChange(was.get(version), is.get(version))
    return change === undefined ? [] : [{ path: `spec.versions[${version}].schema`, ...change }]
  })
}

function withoutSchemas<T extends KubeObject>(object: T): T {
  if (!isDefinition(object) || object.spec?.versions === undefined) return object
  const versions = object.spec.versions.map(
    (version) => withoutKeys(version, (key) => key === 'schema') as unknown as { name: string },
  )
  return { ...object, spec: { ...object.spec, versions } }
}

function schemas(object: KubeObject | undefined): ReadonlyMap<string, unknown> {
  if (object === undefined || !isDefinition(object)) return new Map()
  return new Map(object.spec?.versions?.map(({ name, schema }) => [name, schema]))
}

const isDefinition = (object: KubeObject): object is CustomResourceDefinition =>
  object.kind === CustomResourceDefinitions.kind

/** One change per right, `rules[patch pods]`: by their place a rule that is new in between would change all behind it. */
function roleRights(before: KubeObject | undefined, after: KubeObject | undefined): readonly FieldChange[] {
  const [was, is] = [rightsOf(before), rightsOf(after)]
  return [
    ...[...was].filter((right) => !is.has(right)).map((right) => ({ path: `rules[${right}]`, from: true })),
    ...[...is].filter((right) => !was.has(right)).map((right) => ({ path: `rules[${right}]`, to: true })),
  ]
}

const withoutRules = <T extends KubeObject>(object: T): T =>
  isRole(object) ? (withoutKeys(object, (key) => key === 'rules') as unknown as T) : object

const rightsOf = (object: KubeObject | undefined): ReadonlySet<string> =>
  object !== undefined && isRole(object) ? rightsIn(object) : new Set()

const isRole = (object: KubeObject): object is Role => object.kind === 'Role' || object.kind === 'ClusterRole'
