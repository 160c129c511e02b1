import { isJson, type Json } from './json.ts'

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
