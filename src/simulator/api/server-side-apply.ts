import type { KubeObject } from '../../lib/kube/object.ts'
import {
  fieldChanges,
  fieldsOf,
  type FieldWriter,
  isOwner,
  itemElement,
  type Owner,
  ownersOf,
  readable,
  separator,
  toEntries,
  without,
} from './managed-fields.ts'
import { copy, isJson, type Json, same } from './json.ts'
import { atomicMap, type SimKind } from './kinds/sim-kind.ts'
import { Refusal } from './api-refusal.ts'

interface Apply {
  readonly writer: FieldWriter
  readonly force: boolean
}

/**
 * Server-side apply: merges what is wanted into the live object, takes away what this manager applied before, no longer
 * wants and nobody else owns, and hands the fields over. Throws 409 with the managers when a field is somebody else's.
 */
export function applied(
  kind: SimKind,
  live: KubeObject | undefined,
  wanted: KubeObject,
  { writer, force }: Apply,
): KubeObject {
  const owners = ownersOf(live)
  const mine = owners.find((o) => isOwner(o, writer))
  const others = owners.filter((o) => o !== mine)
  const wantedFields = new Set(fieldsOf(wanted, kind).keys())
  const merged = merge(live ?? {}, wanted, kind, []) as Json
  for (const path of droppedFields(mine, wantedFields, others)) prune(merged, path.split(separator))
  const changes = fieldChanges(live, merged, { kind, holders: false })
  const { changed, removed } = changes
  // A map that is left empty is nobody's loss.
  const contested = (path: string) => changed.has(path) && !isEmptyMap(changed.get(path))
  if (!force)
    refuse(
      others.flatMap((owner) =>
        [...owner.fields].filter(contested).map((path) => ({ owner, field: readable(path) })),
      ),
    )
  const object = merged as unknown as KubeObject
  const isSame = mine && changed.size === 0 && removed.length === 0 && isSameSet(mine.fields, wantedFields)
  const own = isSame ? mine : { ...writer, apiVersion: kind.apiVersion, fields: wantedFields }
  object.metadata.managedFields = toEntries([...others.map((o) => without(o, changes)), own])
  return object
}

const isSameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((path) => b.has(path))

const isEmptyMap = (value: unknown): boolean => isJson(value) && Object.keys(value).length === 0

function droppedFields(mine: Owner | undefined, wanted: ReadonlySet<string>, others: readonly Owner[]) {
  const gone = [...(mine?.fields ?? [])].filter((path) => !within(wanted, path))
  return gone.filter((path) => !others.some(({ fields }) => within(fields, path)))
}

/** The field itself or something in it. */
const within = (fields: ReadonlySet<string>, path: string): boolean =>
  fields.has(path) || [...fields].some((field) => field.startsWith(path + separator))

function merge(live: unknown, wanted: unknown, kind: SimKind, path: readonly string[]): unknown {
  if (isJson(wanted)) {
    if (atomicMap(path, kind.builtIn)) return copy(wanted)
    const result: Json = isJson(live) ? { ...live } : {}
    for (const [name, value] of Object.entries(wanted))
      if (value !== undefined && value !== null)
        result[name] = merge(result[name], value, kind, [...path, name])
    return result
  }
  if (!Array.isArray(wanted)) return wanted
  const keys = kind.listKeys(path)
  if (keys === 'atomic') return copy(wanted)
  const result: unknown[] = Array.isArray(live) ? [...live] : []
  for (const item of wanted as unknown[]) {
    const known = itemElement(item, keys)
    const found = result.findIndex((r) => itemElement(r, keys) === known)
    if (found < 0) result.push(copy(item))
    else result[found] = keys === 'set' ? item : merge(result[found], item, kind, path)
  }
  return result
}

/** Takes one field away, and what holds it where that is left as an empty map of metadata. */
function prune(root: Json, path: readonly string[]): void {
  let holder: unknown = root
  for (const element of path.slice(0, -1)) {
    const key = keyIn(holder, element)
    const next = key === undefined ? undefined : (holder as Json)[key]
    if (key === undefined || typeof next !== 'object' || next === null) return
    // Copied on the way down: the merge shares what it did not touch with the live object.
    const own: unknown = Array.isArray(next) ? [...(next as unknown[])] : { ...next }
    ;(holder as Json)[key] = own
    holder = own
  }
  const last = keyIn(holder, path.at(-1) ?? '')
  if (Array.isArray(holder) && last !== undefined) holder.splice(Number(last), 1)
  else if (isJson(holder) && last !== undefined) Reflect.deleteProperty(holder, last)
  tidyMetadata(root)
}

function tidyMetadata({ metadata }: Json): void {
  if (!isJson(metadata)) return
  for (const name of ['labels', 'annotations', 'finalizers', 'ownerReferences'])
    if (Object.keys(metadata[name] ?? { is: 'there' }).length === 0) delete metadata[name]
}

/** The name or position that a path's element has in its holder; undefined where it is not there. */
function keyIn(holder: unknown, element: string): string | undefined {
  if (isJson(holder)) return element.slice(2)
  const found = Array.isArray(holder) ? holder.findIndex((item) => isItem(item, element)) : -1
  return found < 0 ? undefined : String(found)
}

function isItem(item: unknown, element: string): boolean {
  const known: unknown = JSON.parse(element.slice(2))
  if (element.startsWith('v:')) return same(item, known)
  return (
    isJson(item) &&
    isJson(known) &&
    Object.entries(known).every(([k, v]) => (item[k] ?? (k === 'protocol' ? 'TCP' : '')) === v)
  )
}

/** The apply conflict, with the managers in the causes. */
function refuse(conflicts: readonly { owner: Owner; field: string }[]): void {
  const [first, ...more] = conflicts
  if (!first) return
  const causes = conflicts.map(({ owner, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${named(owner)}`,
    field,
  }))
  const byOwner = Map.groupBy(conflicts, ({ owner }) => owner)
  const listed = [...byOwner].map(
    ([owner, of]) => `conflicts with ${named(owner)}:\n${of.map(({ field }) => `- ${field}`).join('\n')}`,
  )
  const message =
    more.length === 0
      ? `Apply failed with 1 conflict: conflict with ${named(first.owner)}: ${first.field}`
      : `Apply failed with ${conflicts.length} conflicts: ${listed.join('\n')}`
  throw new Refusal(409, 'Conflict', message, { details: { causes } })
}

function named({ manager, subresource, operation, apiVersion }: Owner): string {
  const who = `"${manager}"${subresource ? ` with subresource "${subresource}"` : ''}`
  return operation === 'Update' ? `${who} using ${apiVersion}` : who
}
