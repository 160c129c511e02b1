import { isRecord, type KubeObject, type ManagedField, lastApplied, parseJson } from './object.ts'
import { sameQuantity } from './quantity.ts'

/** One step into an object: a key, an element of a list that is known by a key of its own, or one by its place. */
type Segment = string | { by: string; value: unknown } | { index: number }
export type FieldPath = readonly Segment[]

export type Fields = Readonly<Record<string, unknown>>

/** `spec.containers[virt-operator].image`; keys with dots are quoted: `labels["kubevirt.io"]`. */
export function pathText(path: FieldPath): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment !== 'string') return `${text}[${'index' in segment ? segment.index : segment.value}]`
    if (segment.includes('.') || segment.includes('/')) return `${text}[${JSON.stringify(segment)}]`
    return text === '' ? segment : `${text}.${segment}`
  }, '')
}

/** Lists that the server merges by a key of their elements; it takes all others as a whole. */
const keyOfList: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  volumes: 'name',
  imagePullSecrets: 'name',
  volumeMounts: 'mountPath',
  ports: 'containerPort',
}

/** The key by which the elements of this list are merged; undefined for a list that is one value. */
function mergeKey(path: FieldPath, elements: readonly unknown[]): string | undefined {
  const last = path.at(-1)
  const key = typeof last === 'string' ? keyOfList[last] : undefined
  return key !== undefined && elements.every((e) => isRecord(e) && e[key] !== undefined) ? key : undefined
}

/** What is at the path, undefined where nothing is. */
export const valueAt = (root: unknown, path: FieldPath): unknown => path.reduce<unknown>(childOf, root)

function childOf(at: unknown, segment: Segment): unknown {
  if (typeof segment === 'string') return isRecord(at) ? at[segment] : undefined
  if (!Array.isArray(at)) return undefined
  return 'index' in segment ? at[segment.index] : at[placeOf(at, segment)]
}

/** Where in a list the element is that has this value under its key; -1 where there is none. */
const placeOf = (list: readonly unknown[], { by, value }: { by: string; value: unknown }): number =>
  list.findIndex((element) => isRecord(element) && element[by] === value)

/** Does this entry of managedFields own the field? (`fieldsV1` of server-side apply: `f:` keys, `k:` elements, `v:` values.) */
export function owns({ fieldsV1, subresource }: ManagedField, path: FieldPath): boolean {
  if (subresource !== undefined && subresource !== '') return false
  let node: unknown = fieldsV1
  for (const [depth, segment] of path.entries()) {
    if (!isRecord(node)) return false
    const below: unknown = child(node, segment)
    // A leaf above the field: the list or object is owned as a whole.
    if (below === undefined) return depth > 0 && Object.keys(node).length === 0
    node = below
  }
  return node !== undefined
}

function child(node: Fields, segment: Segment): unknown {
  if (typeof segment === 'string') return node[`f:${segment}`]
  const elements = Object.entries(node).filter(([key]) => /^[kvi]:/.test(key))
  if ('index' in segment) return elements[0]?.[1]
  return elements.find(([key]) => elementKey(key)?.[segment.by] === segment.value)?.[1]
}

/** `k:{"name":"virt-operator"}` as fields. */
function elementKey(key: string): Fields | undefined {
  const parsed: unknown = key.startsWith('k:') ? JSON.parse(key.slice(2)) : undefined
  return isRecord(parsed) ? parsed : undefined
}

/** Both sets of fields in one, as kubectl joins them when it moves to server-side apply. */
export function union(a: Fields, b: Fields): Fields {
  const joined: Record<string, unknown> = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const before = joined[key]
    joined[key] = isRecord(before) && isRecord(value) ? union(before, value) : value
  }
  return joined
}

const appliers = new Set([
  'before-first-apply',
  'kubectl',
  ...['client-side-apply', 'create', 'last-applied', 'replace'].map((way) => `kubectl-${way}`),
])

/** How the whole object got there: what these set and the manifest no longer has is to go, as kubectl does it. */
export const isApplier = ({ manager = '', subresource = '' }: ManagedField): boolean =>
  appliers.has(manager) && subresource === ''

/**
 * What a forced server-side apply makes of the live object, worked out without the server: `differences` laid over it, `leftovers`
 * taken out. It lacks the defaults that the server adds to what is new.
 */
export function applied<T extends KubeObject>(wanted: T, live: T): T {
  const result = without(live, leftovers(wanted, live))
  for (const path of differences(wanted, live).map(asOneValue))
    put(result, path, structuredClone(valueAt(wanted, path)))
  return result
}

/** A list without keys is replaced as a whole, whatever differs in it. */
function asOneValue(path: FieldPath): FieldPath {
  const list = path.findIndex((step) => typeof step === 'object' && 'index' in step)
  return list < 0 ? path : path.slice(0, list)
}

/** A copy without these fields; paths that are not there are passed over. */
export function without<T extends KubeObject>(object: T, paths: readonly FieldPath[]): T {
  const result = structuredClone(object)
  for (const path of paths) {
    const { holder, key } = placeIn(result, path)
    if (Array.isArray(holder) && Number(key) >= 0) holder.splice(Number(key), 1)
    else if (isRecord(holder)) Reflect.deleteProperty(holder, key)
  }
  return result
}

/** What holds it is there: a difference is the first thing that is not. */
function put(root: KubeObject, path: FieldPath, value: unknown): void {
  const { holder, key } = placeIn(root, path)
  if (Array.isArray(holder) && key === -1) holder.push(value)
  else if (typeof holder === 'object' && holder !== null) Reflect.set(holder, key, value)
}

/** The object or list that the last step leads into, and the key there; -1 is an element that is not in its list. */
function placeIn(root: KubeObject, path: FieldPath): { holder: unknown; key: string | number } {
  const holder = valueAt(root, path.slice(0, -1))
  const last = path.at(-1) ?? ''
  if (typeof last === 'string') return { holder, key: last }
  if ('index' in last) return { holder, key: last.index }
  return { holder, key: Array.isArray(holder) ? placeOf(holder, last) : -1 }
}

const isApply = ({ manager = '', operation }: ManagedField, by: readonly string[]): boolean =>
  operation === 'Apply' && by.includes(manager)

/**
 * Fields that an earlier apply has set and the manifest no longer has: the next apply removes them. After a client-side apply
 * its annotation tells (its ownership also covers the server's defaults), after a server-side one the ownership. What somebody else owns as well
 * stays.
 */
export function leftovers(wanted: KubeObject, live: KubeObject): FieldPath[] {
  const { annotations, managedFields = [] } = live.metadata
  const before = annotations?.[lastApplied]
  const inAnnotation = before === undefined ? [] : dropped(parseJson(before), wanted, [])
  const owned = managedFields
    .filter((entry) => isApply(entry, ['kvup', 'kubectl']))
    .flatMap(({ fieldsV1 }) => orphaned(fieldsV1 ?? {}, wanted, []))
  const others = managedFields.filter((entry) => !isApplier(entry) && !isApply(entry, ['kvup']))
  return [...inAnnotation, ...owned].filter(
    (path) =>
      path.at(-1) !== lastApplied &&
      valueAt(live, path) !== undefined &&
      !others.some((entry) => owns(entry, path)),
  )
}

/** What `before` has and `wanted` has not. */
function dropped(before: unknown, wanted: unknown, at: FieldPath): FieldPath[] {
  if (wanted === undefined) return isZero(before) ? [] : [at]
  if (Array.isArray(before)) {
    const by = mergeKey(at, before)
    if (by === undefined) return []
    const steps = (before as Fields[]).map((element) => ({ element, step: { by, value: element[by] } }))
    return steps.flatMap(({ element, step }) => dropped(element, childOf(wanted, step), [...at, step]))
  }
  if (!isRecord(before) || !isRecord(wanted)) return []
  return Object.entries(before).flatMap(([key, value]) => dropped(value, wanted[key], [...at, key]))
}

/** What `fields` of managedFields owns and `wanted` has not. */
function orphaned(fields: Fields, wanted: unknown, at: FieldPath): FieldPath[] {
  return Object.entries(fields).flatMap(([key, below]) => {
    const step = key.startsWith('f:') ? key.slice(2) : stepInto(key)
    if (step === undefined) return []
    const value = childOf(wanted, step)
    const path = [...at, step]
    if (value === undefined || value === null) return [path]
    return isRecord(below) && typeof value === 'object' ? orphaned(below, value, path) : []
  })
}

function stepInto(key: string): { by: string; value: unknown } | undefined {
  const [first] = Object.entries(elementKey(key) ?? {})
  return first && { by: first[0], value: first[1] }
}

/**
 * Where the live object does not yet say what is wanted. What only the live one has is no difference: defaults and other
 * managers' fields stay through a server-side apply. Not so inside of rules and schemas: they are replaced as a whole, and have no defaults.
 */
export function differences(wanted: unknown, live: unknown, at: FieldPath = []): FieldPath[] {
  if (live === undefined || live === null) return isZero(wanted) ? [] : [at]
  if (Array.isArray(wanted) && Array.isArray(live)) return inList(wanted, live, at)
  if (isRecord(wanted) && isRecord(live)) return inFields(wanted, live, at)
  return sameValue(wanted, live, at) ? [] : [at]
}

const sameValue = (wanted: unknown, live: unknown, at: FieldPath) =>
  wanted === null || wanted === live || (at.includes('resources') && sameQuantity(wanted, live))

/** The server leaves out what is empty: absent and zero are the same answer. */
function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isRecord(value)) return Object.values(value).every(isZero)
  return value === undefined || value === null || value === '' || value === false || value === 0
}

function inFields(wanted: Fields, live: Fields, at: FieldPath): FieldPath[] {
  const differing = Object.entries(wanted).flatMap(([key, value]) =>
    differences(value, live[key], [...at, key]),
  )
  if (!isReplaced(at)) return differing
  const more = Object.keys(live).filter((key) => !Object.hasOwn(wanted, key) && !isZero(live[key]))
  return differing.concat(more.map((key) => at.concat(key)))
}

/** In the rules of a role, or the schema of a CustomResourceDefinition. */
function isReplaced([first, second, , fourth]: FieldPath): boolean {
  return first === 'rules' || (first === 'spec' && second === 'versions' && fourth === 'schema')
}

function inList(wanted: readonly unknown[], live: readonly unknown[], at: FieldPath): FieldPath[] {
  const by = mergeKey(at, wanted)
  if (by === undefined && wanted.length !== live.length) return [at]
  return wanted.flatMap((element, index) => {
    const step = by === undefined ? { index } : { by, value: (element as Fields)[by] }
    return differences(element, childOf(live, step), [...at, step])
  })
}
