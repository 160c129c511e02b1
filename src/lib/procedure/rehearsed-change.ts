import type { Kind } from '../cluster/kind.ts'
import type { Ref } from '../cluster/cluster.ts'
import { type FieldChange, fieldChanges, type Leaf, leavesOf } from '../cluster/leaves.ts'
import type { KubeObject, Metadata } from '../cluster/object.ts'
import { roleRights, withoutRules } from './role-rights.ts'
import { isNote } from './saved-value.ts'
import { versionSchemas, withoutSchemas } from './version-schemas.ts'

/** What a step would do to one object. */
export interface RehearsedChange {
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
  /** The subresource that is called: `restart`. */
  call?: string
}

/** How the object is named in a change. */
export function namedIn({ apiVersion, kind }: Kind, { namespace, name }: Ref): RehearsedChange['object'] {
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name }
}

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

function isEmpty(leaf: Leaf | undefined): boolean {
  return typeof leaf === 'object' && leaf !== null && Object.keys(leaf).length === 0
}

const kept: ReadonlySet<string> = new Set<keyof Metadata>([
  'managedFields',
  'resourceVersion',
  'generation',
  'uid',
  'creationTimestamp',
])
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

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

function withoutKeys(from: object, unwanted: (key: string) => boolean): object {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !unwanted(key)))
}
