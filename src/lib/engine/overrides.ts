import {
  type JsonOperation,
  objectIn,
  type Reader,
  type Ref,
  type Where,
  type Writer,
} from '../kube/cluster.ts'
import { atVersion, groupOf, type Kind, type KubeObject, isRecord, parseJson } from '../kube/object.ts'
import { HyperConvergeds, Subscriptions } from '../kube/kinds/operator-kinds.ts'
import { KubeVirts } from '../kube/kinds/kubevirt-kinds.ts'
import {
  ClusterVersions,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../kube/kinds/openshift-kinds.ts'
import { NotSavedError } from '../kube/saved/saved-cluster.ts'
import { ApiError, isNotFound, orElse } from '../kube/errors.ts'
import type { Journal, Override } from './journal.ts'
import { isDeepStrictEqual } from 'node:util'
import { filled } from '../kube/known.ts'
import table from './overrides.json' with { type: 'json' }
import { ownersFrom, ownershipBack, ownersOfField } from '../kube/field-owners.ts'
import { shellWord } from '../kube/shell-line.ts'
import { valueAt } from '../kube/server-side-apply.ts'

const windowPrefix = 'eus to '

/** The procedure of a window, by which the journal knows what is of it: `eus to 4.20`. */
export const windowName = (to: string): string => `${windowPrefix}${to}`

/** The minor that a procedure of that name leads to; undefined for any other procedure. */
export const targetOfName = (procedure: string): string | undefined =>
  procedure.startsWith(windowPrefix) ? procedure.slice(windowPrefix.length) : undefined

/** What is borrowed for a window, whichever. */
export const isOfWindow = ({ procedure }: { procedure: string }): boolean =>
  targetOfName(procedure) !== undefined

/** The release that an upgrade of that name leads to, not one of HyperConverged; undefined for any other procedure. */
export const upgradeTarget = (procedure: string): string | undefined =>
  /^upgrade to (v\d+[\w.+-]*)$/u.exec(procedure)?.[1]

/** The command that restores the temporary change of this id: the update methods alone have one of their own. */
export const restoringLine = (id: string): string =>
  id === 'workload-updates' ? 'kvup workloads resume-updates' : 'kvup restore-settings'

/** How `kvup restore-settings` calls the temporary change of this id: `pool/worker`. */
export const whatOf = (id: string): string => id.replace(/^pool-paused\//u, 'pool/')
export const idOfWhat = (what: string): string => what.replace(/^pool\//u, 'pool-paused/')

/** The command that restores a temporary change of an EUS upgrade by its name, and takes `--keep-current` and `--overwrite`. */
export const restoringByName = (id: string): string => `kvup restore-settings ${shellWord(whatOf(id))}`

/** A setting that reads as kvup leaves it, whose former value nobody may be believed about: a person says what becomes of it. */
export interface MissingValue {
  id: string
  object: Override['object']
  /** `missing`: the journal claims it and the object says nothing. `unreadable`: somebody changed the note on the object. */
  why: 'missing' | 'unreadable'
  /** What the journal claims: evidence for a person, never an order. */
  claim?: Override
}

/** A kind whose objects kvup overrides settings of, where it is listed, and under which versions. */
interface Place {
  kind: Kind
  versions: readonly string[]
  isMoved?: true
  where: (namespace: string) => Where
}

const inNamespace = (namespace: string): Where => ({ namespace })
const everywhere = (): Where => ({})

const places: readonly Place[] = [
  { kind: KubeVirts, versions: ['v1', 'v1alpha3'], where: inNamespace },
  { kind: HyperConvergeds, versions: ['v1beta1', 'v1'], isMoved: true, where: inNamespace },
  { kind: Subscriptions, versions: ['v1alpha1'], where: inNamespace },
  { kind: ClusterVersions, versions: ['v1'], where: everywhere },
  { kind: MachineConfigPools, versions: ['v1'], where: everywhere },
  { kind: MachineHealthChecks, versions: ['v1beta1'], where: everywhere },
  { kind: NodeHealthChecks, versions: ['v1alpha1'], where: everywhere },
]

/**
 * The one place that says which settings kvup has changed for a time, and what they were. It believes the notes on the objects themselves, and this very
 * process; what the journal claims beyond that is evidence for a question. Reads only.
 */
export class Overrides {
  readonly #reader: Reader
  readonly #namespace: string
  /** Overrides that this process opened, or found confirmed: who takes a note off an object does not give anything back. */
  readonly #known = new Map<string, Override>()
  /** A kind that is not served is not asked for again: none of them appears while kvup is at work. */
  readonly #unserved = new Set<string>()

  constructor(reader: Reader, namespace: string) {
    this.#reader = reader
    this.#namespace = namespace
  }

  /** The open ones. Throws ApiError; what may not be listed (403) holds nothing that whoever asks could have changed. */
  async open(): Promise<readonly Override[]> {
    return this.#confirmed(await this.#objects())
  }

  async missing(claims: readonly Override[]): Promise<readonly MissingValue[]> {
    const objects = await this.#objects()
    const open = new Set(this.#confirmed(objects).map(({ id }) => id))
    const unreadable = objects.flatMap((object) =>
      savedOn(object)
        .unreadable.map(({ id }) => ({ id, claim: claimOn(object, id, claims) }))
        .filter(({ id, claim }) => (claim ? isOverridden(object, claim) : mayBeOverridden(object, id)))
        .map(({ id, claim }) => missingOf(id, object, claim)),
    )
    const missing = claims
      .filter((claim) => isPlausible(claim) && isOverriddenIn(objects, claim))
      .filter((claim) => !objects.some((one) => isPast(one, claim)))
      .map((claim): MissingValue => ({ id: claim.id, object: claim.object, why: 'missing', claim }))
    const asked = [...unreadable, ...missing].filter(({ id }) => !open.has(id))
    return [...new Map(asked.toReversed().map((one) => [one.id, one])).values()]
  }

  /** Claims of what is overridden no more: a run that was killed between its write and writing it down leaves one. `why`: it was not given back. */
  async over(claims: readonly Override[]): Promise<readonly { id: string; why?: string }[]> {
    if (claims.length === 0) return []
    const objects = await this.#objects()
    const open = new Set([...this.#confirmed(objects), ...(await this.missing(claims))].map(({ id }) => id))
    const uids = new Set(objects.map(({ metadata }) => metadata.uid))
    return claims
      .filter(({ id }) => !open.has(id))
      .map((claim) => {
        const { id, object } = claim
        if (!uids.has(object.uid)) return { id, why: `${object.kind} ${object.name} is gone` }
        return objects.some((one) => isPast(one, claim)) ? { id, why: acceptedStep } : { id }
      })
  }

  remember(override: Override): void {
    this.#known.set(override.id, override)
  }

  close(id: string): Override | undefined {
    const known = this.#known.get(id)
    this.#known.delete(id)
    return known
  }

  #confirmed(objects: readonly KubeObject[]): readonly Override[] {
    const noted = objects.flatMap((object) => savedOn(object).overrides)
    const ids = new Set(noted.map(({ id }) => id))
    for (const override of noted) this.#known.set(override.id, override)
    const kept = [...this.#known.values()].filter((override) => !ids.has(override.id))
    return [
      ...new Map(noted.map((override) => [override.id, override])).values(),
      ...kept.filter((override) => isOverriddenIn(objects, override)),
    ]
  }

  async #objects(): Promise<readonly KubeObject[]> {
    return (await Promise.all(places.map(async (place) => this.#listed(place)))).flat()
  }

  /** Under the first version that is served; a HyperConverged as each of them shows it, for where nobody converts only one shows what is stored. */
  async #listed({ kind, versions, isMoved, where }: Place): Promise<readonly KubeObject[]> {
    const views: KubeObject[][] = []
    let failure: unknown
    for (const version of versions.filter((one) => !this.#unserved.has(`${kind.plural}/${one}`))) {
      if (views.length > 0 && !isMoved) break
      try {
        views.push(await this.#reader.list(atVersion(kind, version), where(this.#namespace)))
      } catch (error) {
        if (isNotFound(error)) this.#unserved.add(`${kind.plural}/${version}`)
        else if (isNotConverted(error)) failure = error
        else if (mayNotBeRead(error)) return []
        else throw error
      }
    }
    if (views.length === 0 && failure !== undefined) throw failure
    return views.flat()
  }
}

/** The open overrides for a command that only reads; `unread` says why they are not known. */
export const openOverrides = async (
  reader: Reader,
  namespace: string,
): Promise<{ overrides: readonly Override[] } | { unread: string }> =>
  orElse(
    new Overrides(reader, namespace).open().then((overrides) => ({ overrides })),
    ({ message }) => ({ unread: message }),
  )

const isOverriddenIn = (objects: readonly KubeObject[], override: Override): boolean =>
  objects.some((object) => object.metadata.uid === override.object.uid && isOverridden(object, override))

/** hco-webhook is away, as it is in every upgrade: the version that is stored is readable without it (hco 8). */
const isNotConverted = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 500 && error.message.includes('conversion webhook')

const mayNotBeRead = (error: unknown): boolean =>
  error instanceof NotSavedError || (error instanceof ApiError && error.status === 403)

const claimOn = ({ metadata }: KubeObject, id: string, claims: readonly Override[]): Override | undefined =>
  claims.find((claim) => claim.id === id && claim.object.uid === metadata.uid && isPlausible(claim))

function missingOf(id: string, object: KubeObject, claim: Override | undefined): MissingValue {
  const { apiVersion, kind, metadata } = object
  const named = { apiVersion, kind, ...placeOf(object), uid: metadata.uid ?? '' }
  return { id, object: named, why: 'unreadable', ...(claim && { claim }) }
}

const placeOf = ({ metadata: { namespace, name } }: KubeObject) => ({
  ...(namespace !== undefined && { namespace }),
  name,
})

/**
 * The value that a field had before kvup changed it for a time lies on the very object, in an annotation that is written in the same patch as the change: who can
 * forge it could have written the field (docs/decisions.md, "A saved value lies on the object that it belongs to").
 */
const prefix = 'kvup.io/saved-'

export const isNote = (annotation: string): boolean => annotation.startsWith(prefix)

/** What kvup overrides for a time, and nothing else: a note of another field, kind or form is never obeyed. */
interface Family {
  readonly kinds: readonly string[]
  /** JSON pointers. */
  readonly paths: readonly string[]
  /** What the field may have been: a name in `forms`. */
  readonly value: string
  /** There is one per object of the kind: its name is part of the id. */
  readonly perObject?: boolean
  /** kvup empties the field, and sets it to nothing else. */
  readonly empties?: boolean
  /** From an update on that began after it was changed it says where the platform is going, and is nobody's override. */
  readonly untilAccepted?: boolean
  /**
   * JSON pointers of the field whose owners get it back, where it is another one than that which is named: a tag comes back as that of another release, which is kvup's doing and stays
   * so; the registry comes back as it was.
   */
  readonly owned?: readonly string[]
}

const families: Readonly<Record<string, Family>> = table

const line = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(value)

/** Of an image reference, without anything around it. */
const isWord = (value: unknown): boolean => typeof value === 'string' && /^[\w][\w.:/@-]{0,254}$/u.test(value)

const methods: ReadonlySet<unknown> = new Set(['LiveMigrate', 'Evict'])

const forms: Readonly<Record<string, (value: unknown) => boolean>> = {
  /** A list of workload update methods as KubeVirt knows them (facts 1.2), each once. */
  methods: (value) =>
    Array.isArray(value) && value.every((one) => methods.has(one)) && new Set(value).size === value.length,
  tagAndRegistry: (value) =>
    isRecord(value) && isWord(value['tag']) && (value['registry'] === undefined || isWord(value['registry'])),
  flag: (value) => typeof value === 'boolean',
  line: (value) => line(value, 1000),
  lines: (value) => Array.isArray(value) && value.every((one) => line(one, 1000)),
  approval: (value) => value === 'Manual' || value === 'Automatic',
  channel: (value) => line(value, 253),
  update: (value) =>
    isRecord(value) && Object.values(value).every((one) => typeof one !== 'string' || line(one, 1000)),
}

/** `pool-paused/worker` is of the family `pool-paused`. */
const familyOf = (id: string): Family | undefined => {
  const name = nameOf(id)
  return Object.hasOwn(families, name) ? families[name] : undefined
}

const nameOf = (id: string): string => id.split('/')[0] ?? ''

/** JSON pointers of the fields that an override of this name may be of. */
export const pathsOf = (id: string): readonly string[] => familyOf(id)?.paths ?? []

const ownedBy = ({ paths, owned = paths }: Family): readonly string[] => owned

/** Who owns the field that an override of this name is about to change, for its note. Absent where the server does not tell. */
export function ownersNow(object: KubeObject, id: string): Pick<Override, 'owners'> {
  const family = familyOf(id)
  return filled({ owners: family && ownersOfField(object, ownedBy(family)) })
}

const keyOf = (id: string): string => `${prefix}${nameOf(id)}`

/** What is noted on an object. A note that came along with a copy, or with an object that was made anew, names the uid of another one. */
export function savedOn(object: KubeObject): {
  overrides: readonly Override[]
  /** Ids of those whose note cannot be read, or is of something that kvup never overrides. */
  unreadable: readonly { id: string }[]
} {
  const notes = Object.entries(object.metadata.annotations ?? {}).filter(([key]) => isNote(key))
  const found = notes.flatMap(([key, note]) => {
    const name = key.slice(prefix.length)
    const family = Object.hasOwn(families, name) ? families[name] : undefined
    if (family?.kinds.includes(object.kind) !== true) return []
    const id = family.perObject ? [name, ...Object.values(placeOf(object))].join('/') : name
    return [{ id, override: overrideFrom(note, { id, family, object }) }]
  })
  return {
    overrides: found.flatMap(({ override }) => override ?? []),
    unreadable: found.flatMap(({ id, override }) => (override === undefined ? [{ id }] : [])),
  }
}

function overrideFrom(
  note: string,
  { id, family, object }: { id: string; family: Family; object: KubeObject },
): Override | undefined {
  const noted = parseJson(note)
  if (!isRecord(noted) || !areLines(noted, object)) return undefined
  const { apiVersion, uid, procedure, path, by, at } = noted
  const was = formerIn(noted['was'], family)
  const taken = takenIn(noted['taken'])
  if (!family.paths.includes(path) || was === undefined || taken === 'none such') return undefined
  const harmless = noted['harmless']
  const owners = ownersFrom(noted['owners'], ownedBy(family))
  return {
    id,
    procedure,
    object: { apiVersion, kind: object.kind, ...placeOf(object), uid },
    path,
    was,
    ...(taken !== undefined && { taken }),
    by,
    at,
    ...(line(harmless, 400) && { harmless }),
    ...(noted['severalMinors'] === true && { severalMinors: true }),
    ...(line(noted['goesBack'], 60) && { goesBack: noted['goesBack'] }),
    ...(owners && { owners }),
  }
}

/** Each of one line, of a length that kvup writes, and of the group of the object. */
function areLines<T extends Readonly<Record<string, unknown>>>(
  noted: T,
  object: KubeObject,
): noted is T & Readonly<Record<'apiVersion' | 'uid' | 'procedure' | 'path' | 'by' | 'at', string>> {
  const { apiVersion, at } = noted
  const texts = ['apiVersion', 'uid', 'procedure', 'path', 'by', 'at'].map((key) => noted[key])
  if (!texts.every((one) => line(one, 300))) return false
  return (
    groupOf({ apiVersion: String(apiVersion) }) === groupOf(object) && !Number.isNaN(Date.parse(String(at)))
  )
}

function formerIn(was: unknown, family: Family): Override['was'] | undefined {
  if (!isRecord(was)) return undefined
  if (was['present'] === false) return { present: false }
  if (was['present'] !== true || forms[family.value]?.(was['value']) !== true) return undefined
  return { present: true, value: was['value'] }
}

/** It was written with the change itself, so that the change was made. */
function takenIn(taken: unknown): Override['taken'] | 'none such' {
  if (taken === undefined) return undefined
  if (!isRecord(taken) || !line(taken['step'], 200) || taken['value'] === undefined) return 'none such'
  return { value: taken['value'], step: taken['step'], applied: true }
}

/** The annotation of an override, for the same merge patch as the change. */
export function noteOf(override: Override): Record<string, string> {
  const { procedure, path, was, taken, by, at, harmless, severalMinors, goesBack, owners, object } = override
  const note = {
    apiVersion: object.apiVersion,
    uid: object.uid,
    procedure,
    path,
    was,
    ...(taken && { taken: { value: taken.value, step: taken.step } }),
    by,
    at,
    harmless,
    severalMinors,
    goesBack,
    owners,
  }
  return { [keyOf(override.id)]: JSON.stringify(note) }
}

/** Takes the annotation out, in the same merge patch as the value goes back. */
export const noNote = (id: string): Record<string, null> => ({ [keyOf(id)]: null })

/** The same, where the object has it. */
export const noteGone = (object: KubeObject, id: string): Record<string, null> =>
  hasNote(object, id) ? noNote(id) : {}

export const hasNote = ({ metadata }: KubeObject, id: string): boolean =>
  metadata.annotations?.[keyOf(id)] !== undefined

/** Behind the operations that change the field, in the same JSON patch. `within`: JSON pointer of that field, which may bring the annotations along. */
export function savingNote(
  { metadata: { annotations } }: KubeObject,
  override: Override,
  within: string,
): readonly JsonOperation[] {
  const note = noteOf(override)
  if (annotations === undefined && !within.startsWith('/metadata/annotations/'))
    return [{ op: 'add', path: '/metadata/annotations', value: note }]
  return Object.entries(note).map(([key, value]) => ({ op: 'add', path: pointerTo(key), value }))
}

/** Takes the notes of these out, as they were read. */
export const removingNotes = (
  { metadata: { annotations = {} } }: KubeObject,
  ids: readonly string[],
): readonly JsonOperation[] =>
  ids.flatMap((id): JsonOperation[] => {
    const value = annotations[keyOf(id)]
    const path = pointerTo(keyOf(id))
    return value === undefined
      ? []
      : [
          { op: 'test', path, value },
          { op: 'remove', path },
        ]
  })

interface NotedObject {
  read: () => Promise<KubeObject | undefined>
  write: (operations: readonly JsonOperation[]) => Promise<unknown>
}

/** Somebody wrote in between: three times in a row is a fight that is not ours. */
const mostTries = 3

/**
 * Gives a field that reads as before to whom it belonged before kvup took it, and takes the note off in the same patch: until then the note is there, and a run that was killed does
 * it again. False where there is nothing to give, or nobody to give it to, and where the server refuses such a patch: what is left is to take the note off. Throws what else the write throws.
 */
export async function giveToOwners({ read, write }: NotedObject, id: string): Promise<boolean> {
  for (let tries = 0; tries < mostTries; tries++) {
    const object = await read()
    const operations = object === undefined ? [] : toOwners(object, id)
    if (object === undefined || operations.length === 0) return false
    try {
      await write([...operations, ...removingNotes(object, [id])])
      return true
    } catch (error) {
      if (!(error instanceof ApiError) || !refusals.has(error.status)) throw error
    }
  }
  return false
}

function toOwners(object: KubeObject, id: string): readonly JsonOperation[] {
  const family = familyOf(id)
  const owners = savedOn(object).overrides.find((override) => override.id === id)?.owners
  return family && owners ? ownershipBack(object, ownedBy(family), owners) : []
}

/** Of a patch that the server, its policies or its rules on managedFields do not take, a webhook that fails at it included. */
const refusals: ReadonlySet<number> = new Set([400, 403, 409, 422, 500])

/**
 * Takes the notes of these off their object, where the value is back as a field of its former owners, changes nothing else, and writes down why they are closed. With a `why` the field
 * stays as kvup set it, and that is written down first: killed in between, a run finds the note and does it again, where without one it would find a saved value that is missing.
 * Refused (422) where somebody wrote a note meanwhile. Throws ApiError.
 */
export async function closeNoted(
  { reader, writer, journal }: { reader: Reader; writer: Writer; journal: Pick<Journal, 'release'> },
  { kind, ref }: { kind: Kind; ref: Ref },
  ids: readonly string[],
  why?: string,
): Promise<void> {
  const read = () => objectIn(reader, kind, ref)
  const write = (operations: readonly JsonOperation[]) => writer.jsonPatch(kind, ref, operations)
  const release = async () => {
    for (const id of ids) await journal.release(id, why)
  }
  if (why !== undefined) await release()
  else for (const id of ids) await giveToOwners({ read, write }, id)
  const object = await read()
  const operations = object === undefined ? [] : removingNotes(object, ids)
  if (operations.length > 0) await writer.jsonPatch(kind, ref, operations)
  if (why === undefined) await release()
}

const pointerTo = (key: string): string =>
  `/metadata/annotations/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** A claim of the journal that names something which kvup may have changed there: the field, the kind and the form of the value are those of its family. */
function isPlausible({ id, object, path, was }: Override): boolean {
  const family = familyOf(id)
  return (
    family !== undefined &&
    family.kinds.includes(object.kind) &&
    family.paths.includes(path) &&
    formerIn(was, family) !== undefined
  )
}

/**
 * The field reads as kvup leaves it while it is overridden: emptied, or what it was set to. A HyperConverged has its methods at another place in each version and fills them in, so that only an explicit `[]`
 * says it (hco 2, hco 3), wherever it stands.
 */
function isOverridden(
  object: KubeObject,
  { id, path, taken }: Pick<Override, 'id' | 'path' | 'taken'>,
): boolean {
  if (object.kind === 'HyperConverged')
    return pathsOf(id).some((one) => isEmptyList(valueAt(object, pathOf(one))))
  const now = valueAt(object, pathOf(path))
  if (taken === undefined) return now === undefined || now === null || isEmptyList(now)
  return isDeepStrictEqual(now, taken.value) || (Array.isArray(now) && now.includes(taken.value))
}

/** Why such a change is closed and stays. */
export const acceptedStep = 'the platform has accepted a step'

/**
 * Killed between taking its note off and writing that down, a run of an older build leaves such a claim (its field reads as kvup set it, and stays so). The platform has begun the very
 * release that was asked for since; of a channel, a release of another minor than the one before.
 */
function isPast(object: KubeObject, { id, at, taken, object: { uid } }: Override): boolean {
  const history = valueAt(object, ['status', 'history'])
  if (familyOf(id)?.untilAccepted !== true || object.metadata.uid !== uid) return false
  if (!Array.isArray(history)) return false
  const asked = isRecord(taken?.value) ? taken.value['version'] : undefined
  // The newest first, in whole seconds.
  const updates = history.filter((one) => isRecord(one))
  const isSince = (one: Record<string, unknown>) =>
    Date.parse(String(one['startedTime'])) >= Math.floor(Date.parse(at) / 1000) * 1000
  const before = updates.find((one) => !isSince(one))?.['version']
  return updates.some(
    (one) =>
      isSince(one) &&
      (asked === undefined ? minorIn(one['version']) !== minorIn(before) : one['version'] === asked),
  )
}

const minorIn = (version: unknown): string => String(version).split('.').slice(0, 2).join('.')

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** The same where nobody knows what it was set to: no field of this name reads otherwise. */
function mayBeOverridden(object: KubeObject, id: string): boolean {
  const { empties = false, paths = [] } = familyOf(id) ?? {}
  return !empties || paths.every((path) => isOverridden(object, { id, path }))
}

const pathOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
