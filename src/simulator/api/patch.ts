import type { KubeObject } from '../../lib/kube/object.ts'
import { jsonPatched, mergePatched } from '../../lib/kube/patch.ts'
import { copy, isJson, type Json, same } from './json.ts'
import { badRequest, unprocessable, unsupportedBody } from './api-refusal.ts'
import { builtInLists, type SimKind } from './kinds/sim-kind.ts'

export type Patch =
  | { readonly type: 'merge' | 'json' | 'strategic'; readonly body: unknown }
  | { readonly type: 'apply'; readonly body: KubeObject; readonly force: boolean }

export type PatchTypeName = Patch['type']

/** By content type. */
export const patchTypes: Readonly<Record<string, PatchTypeName>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

/** The object with the patch on it. Throws 415 for a strategic merge of a custom kind. */
export function patched(
  kind: SimKind,
  object: KubeObject,
  patch: Patch & { type: 'merge' | 'json' | 'strategic' },
): KubeObject {
  if (patch.type === 'json') return jsonPatch(object, patch.body) as KubeObject
  if (!isJson(patch.body))
    throw badRequest('json: cannot unmarshal array into Go value of type map[string]interface {}')
  if (patch.type === 'merge') return mergePatched(object, patch.body) as KubeObject
  if (!kind.builtIn) throw unsupportedBody(Object.keys(patchTypes).filter((t) => !t.includes('strategic')))
  return strategicPatch(object, patch.body) as KubeObject
}

const operations: ReadonlySet<unknown> = new Set(['test', 'add', 'replace', 'remove', 'copy', 'move'])

/** `jsonPatched`; throws 422 when a `test` fails or a path is not there, 400 for what is no patch at all. */
export function jsonPatch(object: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    )
  const unknown = (patch as { op?: unknown }[]).find(({ op }) => !operations.has(op))
  if (unknown !== undefined) throw badRequest(`unexpected patch operation ${String(unknown.op)}`)
  const result = jsonPatched(object, patch)
  if (result === undefined) throw unprocessable()
  return result
}

/** Strategic merge patch for built-in kinds, with the `$patch`, `$deleteFromPrimitiveList` and `$retainKeys` directives. */
export function strategicPatch(into: unknown, change: unknown, path: readonly string[] = []): unknown {
  if (!isJson(change)) return copy(change)
  if (change['$patch'] === 'delete') return undefined
  if (change['$patch'] === 'replace') return withoutDirectives(change)
  const result: Json = isJson(into) ? { ...into } : {}
  for (const [field, value] of Object.entries(change)) {
    if (field.startsWith('$')) directive(result, field, value)
    else if (value === null) delete result[field]
    else result[field] = mergedMember(result[field], value, [...path, field])
  }
  return result
}

function mergedMember(current: unknown, value: unknown, path: readonly string[]): unknown {
  if (!Array.isArray(value)) return strategicPatch(current, value, path)
  // The one list that has a key for a patch and none for an apply.
  const keys = path.at(-1) === 'taints' ? ['key'] : builtInLists(path)
  const key = typeof keys === 'string' ? undefined : keys[0]
  if (key !== undefined) return mergedList(Array.isArray(current) ? current : [], value, { key, path })
  if (path.at(-1) !== 'finalizers') return copy(value)
  return [...new Set([...(Array.isArray(current) ? current : []), ...value])]
}

function mergedList(
  current: readonly unknown[],
  changes: readonly unknown[],
  { key, path }: { key: string; path: readonly string[] },
): unknown[] {
  if (changes.some((c) => isJson(c) && c['$patch'] === 'replace'))
    return changes.filter((c) => isJson(c) && c['$patch'] === undefined).map((c) => copy(c))
  let result = [...current]
  for (const change of changes) {
    if (!isJson(change)) continue
    const found = result.findIndex((item) => isJson(item) && same(item[key], change[key]))
    if (change['$patch'] === 'delete') result = result.filter((_, i) => i !== found)
    else if (found < 0) result.push(strategicPatch({}, change, path))
    else result[found] = strategicPatch(result[found], change, path)
  }
  return result
}

function directive(into: Json, field: string, value: unknown): void {
  if (field === '$retainKeys' && Array.isArray(value)) {
    for (const key of Object.keys(into)) if (!value.includes(key)) delete into[key]
  }
  if (!field.startsWith('$deleteFromPrimitiveList/') || !Array.isArray(value)) return
  const name = field.slice(field.indexOf('/') + 1)
  const current = into[name]
  if (Array.isArray(current)) into[name] = current.filter((v) => !value.includes(v))
}

const withoutDirectives = (change: Json): Json =>
  Object.fromEntries(
    Object.entries(change)
      .filter(([field]) => !field.startsWith('$'))
      .map(([field, value]) => [field, copy(value)]),
  )
