import type { JsonOperation } from './cluster.ts'
import { isRecord } from './object.ts'

/** RFC 6902 as a server takes it: kvup itself never copies or moves. */
type PatchOperation = JsonOperation | Transfer<'copy'> | Transfer<'move'>
type Transfer<Op> = { op: Op; from: string; path: string }

/** RFC 7386: `null` removes. The nulls inside of what is new go as well, in lists too, as the real server has it (lab, Workloads 12). */
export function mergePatched(before: unknown, change: unknown): unknown {
  if (Array.isArray(change)) return change.map((one) => mergePatched(undefined, one))
  if (!isRecord(change)) return change
  const merged: Record<string, unknown> = isRecord(before) ? { ...before } : {}
  for (const key of Object.keys(change)) {
    const value = change[key]
    if (value === null) Reflect.deleteProperty(merged, key)
    else if (value !== undefined)
      setMember(merged, key, mergePatched(Object.hasOwn(merged, key) ? merged[key] : undefined, value))
  }
  return merged
}

/** A member of that name is what it says, and no prototype. */
function setMember(into: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true })
  else into[key] = value
}

/**
 * A copy with the patch on it: RFC 6902, but that `replace` adds a member that is not there, as the real server does. Undefined where a `test`
 * fails, a path is not there or is none.
 */
export function jsonPatched(before: unknown, operations: readonly PatchOperation[]): unknown {
  const held: Held = { root: structuredClone(before) }
  return operations.every((operation) => carriedOut(operation, held)) ? held.root : undefined
}

/** The whole object has a place too, which the empty path means. */
interface Held {
  root: unknown
}

/** What holds a value, and the key there. */
interface Place {
  holder: unknown[] | Record<string, unknown>
  key: string
}

function carriedOut(operation: PatchOperation, held: Held): boolean {
  if (operation.op === 'copy' || operation.op === 'move') {
    const source = placeOf(held, operation.from)
    const value = source && at(source.holder, source.key)
    if (source === undefined || value === undefined || (operation.op === 'move' && !take(source)))
      return false
    const target = placeOf(held, operation.path)
    return target !== undefined && put(target, value, true)
  }
  const place = placeOf(held, operation.path)
  if (place === undefined) return false
  if (operation.op === 'remove') return take(place)
  if (operation.op === 'test') return same(at(place.holder, place.key), operation.value)
  return put(place, operation.value, operation.op === 'add')
}

/** Undefined for what is no JSON pointer (RFC 6901), and where nothing is on its way. */
function placeOf(held: Held, path: unknown): Place | undefined {
  if (typeof path !== 'string' || (path !== '' && !path.startsWith('/'))) return undefined
  const keys = ['root', ...path.split('/').slice(1).map(unescaped)]
  let holder: unknown = held
  for (const key of keys.slice(0, -1)) holder = isHolder(holder) ? at(holder, key) : undefined
  return isHolder(holder) ? { holder, key: keys.at(-1) ?? '' } : undefined
}

const unescaped = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~')

const isHolder = (value: unknown): value is Place['holder'] => typeof value === 'object' && value !== null

function at(holder: Place['holder'], key: string): unknown {
  if (Array.isArray(holder)) return holder[Number(key)]
  return Object.hasOwn(holder, key) ? holder[key] : undefined
}

function take({ holder, key }: Place): boolean {
  if (at(holder, key) === undefined) return false
  if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else Reflect.deleteProperty(holder, key)
  return true
}

/** `insert`: what is in a list moves on; a new member of an object is one either way. */
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

/** Whatever the order of the members; one that is undefined is none. */
function same(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((element, index) => same(element, other[index]))
  if (!isRecord(one) || !isRecord(other)) return one === other
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => same(at(one, key), at(other, key)))
}
