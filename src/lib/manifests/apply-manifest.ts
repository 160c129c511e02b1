import { someOf } from '../kube/text.ts'
import { shellWord } from '../kube/shell-line.ts'
import { ApiError, isConflict } from '../kube/errors.ts'
import { type JsonOperation, objectIn, type Reader, type Writer } from '../kube/cluster.ts'
import type { KubeObject, ManagedField } from '../kube/object.ts'
import { kindOf, nameOf, withoutServerFields } from './manifest.ts'
import {
  differences,
  type FieldPath,
  type Fields,
  isApplier,
  leftovers,
  owns,
  pathText,
  union,
} from '../kube/server-side-apply.ts'
import { rightsBetween, type RightsChange } from '../kube/access-rights.ts'
import { stringify } from 'yaml'

interface Applying {
  reader: Pick<Reader, 'get'>
  writer: Pick<Writer, 'apply' | 'jsonPatch'>
}

const attempts = 5

/**
 * Server-side apply, forced, one object after the other in the order given; what is there already is not written. Whether
 * others may be overruled was decided before, by `conflictFindings`. Returns what was written.
 */
export async function applyManifest(objects: readonly KubeObject[], on: Applying): Promise<ObjectChange[]> {
  const written: ObjectChange[] = []
  for (const wanted of objects) {
    const change = changeOf(wanted, await liveOf(on.reader, wanted))
    if (change.is === 'same') continue
    await takeOver(change, on)
    await on.writer.apply(kindOf(wanted), wanted, { force: true })
    written.push(change)
  }
  return written
}

/** The object may change while we look (a status is written every second), so it is read and tried again. */
async function takeOver({ wanted, live }: ObjectChange, { reader, writer }: Applying): Promise<void> {
  let current = live
  for (let attempt = 1; current !== undefined; attempt++) {
    const patch = ownershipPatch(current)
    if (patch === undefined) return
    try {
      await writer.jsonPatch(kindOf(wanted), current.metadata, patch)
      return
    } catch (error) {
      const wroteFirst = isConflict(error) || (error instanceof ApiError && error.status === 422)
      if (attempt === attempts || !wroteFirst) throw error
    }
    current = await liveOf(reader, wanted)
  }
}

interface Conflict {
  manager: string
  fields: readonly string[]
}

/** Other kubectl commands (edit, label, scale): a person's hand; overruled where the manifest speaks, else left alone. */
const isOurs = (manager: string) =>
  manager === 'kvup' || manager.startsWith('kubectl') || isApplier({ manager })

/** Whom a forced apply would overrule: every foreign owner of a field that differs. */
function conflictsOf(live: KubeObject, differing: readonly FieldPath[]): Conflict[] {
  const foreign = (live.metadata.managedFields ?? []).filter(({ manager = '' }) => !isOurs(manager))
  const taken = new Map<string, Set<string>>()
  for (const entry of foreign) {
    const fields = differing.filter((path) => owns(entry, path)).map(pathText)
    const before = taken.get(entry.manager ?? '') ?? []
    if (fields.length > 0) taken.set(entry.manager ?? '', new Set([...before, ...fields]))
  }
  return [...taken].map(([manager, fields]) => ({ manager: manager || '(no name)', fields: [...fields] }))
}

/**
 * A patch that gives kvup what the appliers own, so that the next apply also removes what the manifest no longer has.
 * Undefined where there is nothing to take over. Fails with 422 when the object changed meanwhile.
 */
export function ownershipPatch(live: KubeObject): JsonOperation[] | undefined {
  const entries = live.metadata.managedFields ?? []
  const theirs = entries.filter(isApplier)
  if (theirs.length === 0) return undefined
  const own = entries.find((e) => e.manager === 'kvup' && e.operation === 'Apply')
  const last = theirs.at(-1)
  const fields = [...theirs, ...(own ? [own] : [])].map((entry) => entry.fieldsV1 ?? {})
  const merged: ManagedField = {
    ...(own ?? last),
    manager: 'kvup',
    operation: 'Apply',
    fieldsV1: fields.reduce<Fields>(union, {}),
  }
  const rest = entries.filter((e) => e !== own && !theirs.includes(e))
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    { op: 'replace', path: '/metadata/managedFields', value: [...rest, merged] },
  ]
}

/** What applying one object of a manifest changes. */
export interface ObjectChange {
  readonly wanted: KubeObject
  readonly live: KubeObject | undefined
  readonly is: 'created' | 'changed' | 'same'
  readonly fields: readonly string[]
  readonly rights: RightsChange | undefined
  readonly conflicts: readonly Conflict[]
}

/** Reads every object of the manifest and compares; writes nothing, asks for no dry run. */
export const manifestChanges = async (
  reader: Pick<Reader, 'get'>,
  objects: readonly KubeObject[],
): Promise<ObjectChange[]> =>
  Promise.all(objects.map(async (wanted) => changeOf(wanted, await liveOf(reader, wanted))))

/** Everything in the manifest is on the cluster already: applying it would change nothing. */
export const isApplied = (changes: readonly ObjectChange[]): boolean =>
  changes.every((change) => change.is === 'same')

export const liveOf = async (
  reader: Pick<Reader, 'get'>,
  wanted: KubeObject,
): Promise<KubeObject | undefined> => objectIn(reader, kindOf(wanted), wanted.metadata)

export function changeOf(wanted: KubeObject, live: KubeObject | undefined): ObjectChange {
  const rights = rightsChange(wanted, live)
  if (live === undefined) return { wanted, live, is: 'created', fields: [], rights, conflicts: [] }
  const differing = differences(wanted, live)
  const fields = [...new Set([...differing, ...leftovers(wanted, live)].map(pathText))]
  const is = fields.length === 0 ? 'same' : 'changed'
  return { wanted, live, is, fields, rights, conflicts: conflictsOf(live, differing) }
}

/** Undefined for objects that are no roles, and for roles whose rights stay. */
function rightsChange(wanted: KubeObject, live: KubeObject | undefined): RightsChange | undefined {
  if (!wanted.kind.endsWith('Role')) return undefined
  const change = rightsBetween(wanted, live)
  return change.gained.length + change.lost.length === 0 ? undefined : change
}

const longest = 60

/** Finding `manifest-conflicts` (the shape of checks): somebody else looks after fields that the manifest sets. */
export function conflictFindings(changes: readonly ObjectChange[]) {
  const disputed = changes.filter((change) => change.conflicts.length > 0)
  if (disputed.length === 0) return []
  return [
    {
      id: 'manifest-conflicts',
      level: 'blocker' as const,
      summary: `another tool owns fields that the manifest sets: ${disputed.flatMap(words).join('; ')}`,
      remedy: ['set these fields in that tool as the manifest has them'],
      objects: disputed.map(({ wanted }) => nameOf(wanted)),
    },
  ]
}

const words = ({ wanted, conflicts }: ObjectChange): string[] =>
  conflicts.map(({ manager, fields: paths }) => {
    const fields = [...new Set(paths.map(shortened))]
    return `${manager} has ${someOf(fields)} of ${nameOf(wanted)}`
  })

/** Deep in the schema of a CRD a path is longer than it says anything. */
const shortened = (path: string): string => (path.length <= longest ? path : `${path.slice(0, longest)}…`)

/** Where the backup goes and what it was made before: for its first lines. */
export interface BackupOrigin {
  file: string
  from: string
  to: string
  /** Of the KubeVirt CR: two clusters have the same names and versions. */
  uid: string
}

/** The objects that an apply replaces, as they are now: multi-document YAML, itself the way back. */
export function backupOf(changes: readonly ObjectChange[], origin: BackupOrigin): string {
  const replaced = changes.flatMap(({ is, live }) =>
    is === 'changed' && live ? [withoutServerFields(live)] : [],
  )
  const created = changes.filter(({ is }) => is === 'created').map(({ wanted }) => nameOf(wanted))
  const head = [
    `# The objects of the KubeVirt operator before the update from ${origin.from} to ${origin.to}, saved by kvup.`,
    markOf(origin),
    '# To restore them:',
    `#   kubectl apply --server-side --force-conflicts --field-manager=kvup -f ${shellWord(origin.file)}`,
    ...created.map((name) => `# ${name} did not exist before.`),
  ]
  return `${head.join('\n')}\n${asYaml(replaced)}${end}\n`
}

/** That text is such a backup, of this KubeVirt at this version, and whole. */
export const isBackupOf = (text: string, origin: BackupOrigin): boolean =>
  text.includes(`\n${markOf(origin)}\n`) && text.trimEnd().endsWith(end)

const markOf = ({ uid, from }: BackupOrigin) => `# KubeVirt ${uid} at ${from}`
const end = '# The end.'

/** One document per object, each after `---`. */
export const asYaml = (objects: readonly KubeObject[]): string =>
  objects
    .map((object) => `---\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`)
    .join('')
