import type { KubeObject } from '../../lib/kube/object.ts'
import { copy, isJson, type Json, same } from './json.ts'
import { badRequest, unprocessable, unsupportedBody } from './api-refusal.ts'
import type { SimKind } from './kinds/sim-kind.ts'

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
  if (patch.type === 'merge') return mergePatch(object, patch.body) as KubeObject
  if (!kind.builtIn) throw unsupportedBody(Object.keys(patchTypes).filter((t) => !t.includes('strategic')))
  return strategicPatch(object, patch.body) as KubeObject
}

interface Operation {
  op?: unknown
  path?: unknown
  from?: unknown
  value?: unknown
}

/** RFC 6902, but that `replace` adds a member that is not there, as the real server does. Throws 422 when a `test` fails or a path is not there, 400 for what is no patch at all. */
export function jsonPatch(object: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    )
  let result = copy(object)
  for (const operation of operations as Operation[]) result = applyOne(result, operation)
  return result
}

function applyOne(root: unknown, { op, path, from, value }: Operation): unknown {
  const target = pointer(path)
  switch (op) {
    case 'test':
      if (!same(valueAt(root, target), value)) throw unprocessable()
      return root
    case 'add':
      return insert(root, target, copy(value))
    case 'replace':
      return replace(root, target, copy(value))
    case 'remove':
      return remove(root, target)
    case 'copy':
      return insert(root, target, copy(valueAt(root, pointer(from))))
    case 'move': {
      const moved = valueAt(root, pointer(from))
      return insert(remove(root, pointer(from)), target, moved)
    }
    default:
      throw badRequest(`unexpected patch operation ${String(op)}`)
  }
}

function pointer(path: unknown): string[] {
  if (typeof path !== 'string' || (path !== '' && !path.startsWith('/'))) throw unprocessable()
  return path
    .split('/')
    .slice(1)
    .map((p) => p.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let found = root
  for (const step of path) {
    if (Array.isArray(found)) found = found[position(found, step)]
    else if (isJson(found)) found = found[step]
    else return undefined
  }
  return found
}

function position(list: readonly unknown[], step: string): number {
  const index = Number(step)
  if (!Number.isInteger(index) || index < 0 || index > list.length) throw unprocessable()
  return index
}

function holder(root: unknown, path: readonly string[]): Json | unknown[] {
  const parent = valueAt(root, path.slice(0, -1))
  if (!Array.isArray(parent) && !isJson(parent)) throw unprocessable()
  return parent
}

function insert(root: unknown, path: readonly string[], value: unknown): unknown {
  const key = path.at(-1)
  if (key === undefined) return value
  const parent = holder(root, path)
  if (Array.isArray(parent)) parent.splice(key === '-' ? parent.length : position(parent, key), 0, value)
  else parent[key] = value
  return root
}

function replace(root: unknown, path: readonly string[], value: unknown): unknown {
  const key = path.at(-1)
  if (key === undefined) return value
  const parent = holder(root, path)
  if (Array.isArray(parent)) parent[position(parent, key)] = value
  else parent[key] = value
  return root
}

function remove(root: unknown, path: readonly string[]): unknown {
  const key = path.at(-1)
  if (key === undefined || valueAt(root, path) === undefined) throw unprocessable()
  const parent = holder(root, path)
  if (Array.isArray(parent)) parent.splice(position(parent, key), 1)
  else delete parent[key]
  return root
}

/** RFC 7386: `null` removes. */
export function mergePatch(into: unknown, change: unknown): unknown {
  if (!isJson(change)) return withoutNulls(change)
  const result: Json = isJson(into) ? { ...into } : {}
  for (const [field, value] of Object.entries(change)) {
    if (value === null) delete result[field]
    else result[field] = mergePatch(result[field], value)
  }
  return result
}

/** The real server also loses the nulls inside of lists (lab, Workloads 12: `lastProbeTime` of conditions). */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item))
  if (!isJson(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]))
}

const mergeKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  ephemeralContainers: 'name',
  env: 'name',
  volumes: 'name',
  imagePullSecrets: 'name',
  webhooks: 'name',
  secrets: 'name',
  volumeMounts: 'mountPath',
  volumeDevices: 'devicePath',
  hostAliases: 'ip',
  topologySpreadConstraints: 'topologyKey',
  conditions: 'type',
  addresses: 'type',
  taints: 'key',
  ownerReferences: 'uid',
  podIPs: 'ip',
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
  const key = mergeKey(path)
  if (key !== undefined) return mergedList(Array.isArray(current) ? current : [], value, { key, path })
  if (path.at(-1) !== 'finalizers') return copy(value)
  return [...new Set([...(Array.isArray(current) ? current : []), ...value])]
}

function mergeKey(path: readonly string[]): string | undefined {
  const field = path.at(-1) ?? ''
  if (field === 'ports') return path.includes('containers') ? 'containerPort' : 'port'
  return mergeKeys[field]
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

function withoutDirectives(change: Json): Json {
  return Object.fromEntries(
    Object.entries(change)
      .filter(([field]) => !field.startsWith('$'))
      .map(([field, value]) => [field, copy(value)]),
  )
}
