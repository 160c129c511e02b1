import { copy, isJson, type Json, same } from './json.ts'
import { badRequest, unprocessable } from './refusal.ts'

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
