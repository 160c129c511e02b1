import { copy, isJson, type Json } from './json.ts'

/** RFC 7386: `null` removes. */
export function mergePatch(into: unknown, change: unknown): unknown {
  if (!isJson(change)) return copy(change)
  const result: Json = isJson(into) ? { ...into } : {}
  for (const [field, value] of Object.entries(change)) {
    if (value === null) delete result[field]
    else result[field] = mergePatch(result[field], value)
  }
  return result
}
