/** Plain JSON objects as they come off the wire. */
export type Json = Record<string, unknown>

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A deep copy of plain JSON; `undefined` members are dropped, as they would be on the wire. */
export function copy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((v) => copy(v)) as T
  const members = value as Json
  const result: Json = {}
  for (const key in members) {
    const member = members[key]
    if (member !== undefined) result[key] = typeof member === 'object' ? copy(member) : member
  }
  return result as T
}

/** The value itself, with everything in it. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  const members = value as Json
  for (const key in members) {
    const member = members[key]
    if (typeof member === 'object' && member !== null) frozen(member)
  }
  return Object.freeze(value)
}

/**
 * The value with what is frozen in it shared instead of copied: for readers, who may not change what they read. Copying was
 * half of a simulation's time.
 */
export function shared<T>(value: T): T {
  if (Object.isFrozen(value)) return value
  if (Array.isArray(value)) return value.map((v) => shared(v)) as T
  if (!isJson(value)) return value
  const result: Json = {}
  for (const key in value) if (value[key] !== undefined) result[key] = shared(value[key])
  return result as T
}

export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((v, i) => same(v, b[i]))
  if (!isJson(a) || !isJson(b)) return false
  let members = 0
  for (const key in a) {
    if (a[key] !== b[key] && !same(a[key], b[key])) return false
    if (a[key] === undefined && !(key in b)) return false
    members++
  }
  for (const _ in b) members--
  return members === 0
}

/** Whether all members but these are the same. */
export function sameBut(left: readonly string[], a: object, b: object): boolean {
  const [one, other] = [a as Json, b as Json]
  for (const key in one)
    if (one[key] !== other[key] && !left.includes(key) && !same(one[key], other[key])) return false
  for (const key in other)
    if (one[key] === undefined && other[key] !== undefined && !left.includes(key)) return false
  return true
}

/** The value at a path of member names, undefined where there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value
  for (const step of path) {
    if (!isJson(found)) return undefined
    found = found[step]
  }
  return found
}

/** `at` for text. */
export function text(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

/** `at` for a list of objects, empty where there is none. */
export function items(value: unknown, ...path: readonly string[]): Json[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found.filter((v) => isJson(v)) : []
}

/** `at` for a list of words, empty where there is none. */
export function words(value: unknown, ...path: readonly string[]): string[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found.filter((v): v is string => typeof v === 'string') : []
}
