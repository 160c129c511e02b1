import { type Fields, isFields } from '../cluster/apply/field-path.ts'
import type { JsonOperation } from '../cluster/cluster.ts'

/** RFC 7386: `null` removes; the nulls inside of what is new go as well. */
export function mergePatched(before: unknown, change: unknown): unknown {
  if (!isFields(change)) return change
  const merged = new Map(Object.entries(isFields(before) ? before : {}))
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
  if (!isFields(one) || !isFields(other)) return one === other
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => same(valueOf(one, key), valueOf(other, key)))
}

const valueOf = (fields: Fields, key: string): unknown =>
  Object.hasOwn(fields, key) ? fields[key] : undefined
