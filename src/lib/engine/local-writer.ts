import { actedOn, type Kind, type KubeObject, resourceOf, isRecord } from '../kube/object.ts'
import { applied, differences, type Fields, owns } from '../kube/server-side-apply.ts'
import type { ApplyOptions, JsonOperation, Precondition, Reader, Ref, Writer } from '../kube/cluster.ts'
import { ApiError } from '../kube/errors.ts'

/**
 * A Writer that sends nothing: it answers what the server would make of what is read now, as far as that can be known without it. There
 * is no admission, no validation and no defaulting. Throws ApiError 404, 409 and 422 where the server would.
 */
export function localWriter(reader: Pick<Reader, 'get'>): Writer {
  const live = <T extends KubeObject>(kind: Kind<T>, ref: Ref) => existing(reader, kind, ref)
  return {
    async create(kind, object) {
      const found = await reader.get(kind, object.metadata)
      if (found.is === 'unserved') throw refusal(notFound, kind, object.metadata, 'is not served')
      if (found.is === 'object') throw refusal(alreadyExists, kind, object.metadata, 'already exists')
      return structuredClone(object)
    },
    async mergePatch(kind, ref, change) {
      const before = await live(kind, ref)
      mustBe(before, change.metadata?.resourceVersion ?? undefined, kind)
      return mergePatched(before, change) as typeof before
    },
    async jsonPatch(kind, ref, operations) {
      const before = await live(kind, ref)
      const after = jsonPatched(before, operations)
      if (after === undefined) throw refusal(invalid, kind, ref, 'is not as the patch expects it')
      return after as typeof before
    },
    async apply(kind, object, options = {}) {
      const found = await reader.get(kind, object.metadata)
      if (found.is === 'unserved') throw refusal(notFound, kind, object.metadata, 'is not served')
      if (found.is === 'absent') return structuredClone(object)
      mustBeFree(found.object, object, kind, options)
      return applied(object, found.object)
    },
    async delete(kind, ref, only = {}) {
      mustBeThis(await live(kind, ref), only, kind)
    },
    async subresource(kind, ref) {
      await live(actedOn(kind), ref)
      return {}
    },
  }
}

async function existing<T extends KubeObject>(
  reader: Pick<Reader, 'get'>,
  kind: Kind<T>,
  ref: Ref,
): Promise<T> {
  const found = await reader.get(kind, ref)
  if (found.is === 'object') return found.object
  throw refusal(notFound, kind, ref, found.is === 'absent' ? 'not found' : 'is not served')
}

function mustBeThis(object: KubeObject, { uid, resourceVersion }: Precondition, kind: Kind): void {
  if (uid !== undefined && uid !== object.metadata.uid)
    throw refusal(conflict, kind, object.metadata, 'is another object of that name now')
  mustBe(object, resourceVersion, kind)
}

function mustBe({ metadata }: KubeObject, expected: string | undefined, kind: Kind): void {
  if (expected === undefined || expected === metadata.resourceVersion) return
  throw refusal(conflict, kind, metadata, 'was changed by somebody else meanwhile')
}

/** Without force somebody else's field that would change is a conflict. */
function mustBeFree(
  live: KubeObject,
  wanted: KubeObject,
  kind: Kind,
  { force = false, manager = 'kvup' }: ApplyOptions,
): void {
  if (force) return
  const differing = differences(wanted, live)
  const others = (live.metadata.managedFields ?? []).filter((entry) => entry.manager !== manager)
  const owner = others.find((entry) => differing.some((path) => owns(entry, path)))
  if (owner === undefined) return
  throw refusal(conflict, kind, live.metadata, `has fields of ${owner.manager ?? 'somebody else'}`)
}

const notFound = [404, 'NotFound'] as const
const alreadyExists = [409, 'AlreadyExists'] as const
const conflict = [409, 'Conflict'] as const
const invalid = [422, 'Invalid'] as const

function refusal([status, reason]: readonly [number, string], kind: Kind, ref: Ref, what: string): ApiError {
  const object = `${resourceOf(kind)}/${ref.name}${ref.namespace ? ` in namespace ${ref.namespace}` : ''}`
  return new ApiError(status, reason, `${object} ${what}`, { object })
}

/** RFC 7386: `null` removes; the nulls inside of what is new go as well. */
export function mergePatched(before: unknown, change: unknown): unknown {
  if (!isRecord(change)) return change
  const merged = new Map(Object.entries(isRecord(before) ? before : {}))
  for (const [key, value] of Object.entries(change)) {
    if (value === null) merged.delete(key)
    else if (value !== undefined) merged.set(key, mergePatched(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

/** RFC 6902. Undefined where a `test` fails or a path is not there: nothing is changed then. */
export function jsonPatched(before: unknown, operations: readonly JsonOperation[]): unknown {
  let root: unknown = structuredClone(before)
  for (const operation of operations) {
    const keys = operation.path.split('/').slice(1).map(unescaped)
    const held: Holder = { root }
    if (!carriedOut(operation, placeOf(held, keys))) return undefined
    root = held.root
  }
  return root
}

interface Holder {
  root: unknown
}

/** What holds the value, and the key there. */
interface Place {
  holder: unknown[] | Record<string, unknown>
  key: string
}

const unescaped = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~')

function placeOf(held: Holder, keys: readonly string[]): Place | undefined {
  let holder: unknown = held
  for (const key of ['root', ...keys].slice(0, -1)) holder = isHolder(holder) ? at(holder, key) : undefined
  return isHolder(holder) ? { holder, key: keys.at(-1) ?? 'root' } : undefined
}

function isHolder(value: unknown): value is Place['holder'] {
  return typeof value === 'object' && value !== null
}

function at(holder: Place['holder'], key: string): unknown {
  if (Array.isArray(holder)) return holder[Number(key)]
  return Object.hasOwn(holder, key) ? holder[key] : undefined
}

function carriedOut(operation: JsonOperation, place: Place | undefined): boolean {
  if (place === undefined) return false
  if (operation.op === 'remove') return take(place)
  if (operation.op === 'test') return same(at(place.holder, place.key), operation.value)
  return put(place, operation.value, operation.op === 'add')
}

function take({ holder, key }: Place): boolean {
  if (at(holder, key) === undefined) return false
  if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else Reflect.deleteProperty(holder, key)
  return true
}

/** `insert`: what is in a list moves on; a new member of an object is one either way, as the real server has it. */
function put({ holder, key }: Place, value: unknown, insert: boolean): boolean {
  if (!Array.isArray(holder)) {
    holder[key] = structuredClone(value)
    return true
  }
  const index = key === '-' && insert ? holder.length : Number(key)
  const last = insert ? holder.length : holder.length - 1
  if (!Number.isInteger(index) || index < 0 || index > last) return false
  holder.splice(index, insert ? 0 : 1, structuredClone(value))
  return true
}

/** Whatever the order of the members. */
function same(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((element, index) => same(element, other[index]))
  if (!isRecord(one) || !isRecord(other)) return one === other
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => same(valueOf(one, key), valueOf(other, key)))
}

const valueOf = (fields: Fields, key: string): unknown =>
  Object.hasOwn(fields, key) ? fields[key] : undefined
