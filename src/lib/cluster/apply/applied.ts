import type { KubeObject } from '../object.ts'
import { differences } from './differences.ts'
import { type FieldPath, isFields, placeOf, valueAt } from './field-path.ts'
import { leftovers } from './leftovers.ts'

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
    else if (isFields(holder)) Reflect.deleteProperty(holder, key)
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
