import { at, isJson, type Json } from '../api/json.ts'

/**
 * What a release makes of the spec that an older one left (ocp 1.2): from 1.19 on a completionTimeoutPerGiB of 150, which was the
 * default, becomes 20. The spec is in the version that is stored.
 */
export function patchedForUpgrade(spec: Json, from: string, to: string): Json {
  if (upstreamMinor(to) < 19 || upstreamMinor(from) >= 19) return spec
  const below = isJson(spec['virtualization']) ? ['virtualization'] : []
  const path = [...below, 'liveMigrationConfig', 'completionTimeoutPerGiB']
  return at(spec, ...path) === 150 ? withValue(spec, path, 20) : spec
}

/** OpenShift's 4.y is upstream's 1.(y-4); 5.0 follows 4.23. */
export function upstreamMinor(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major >= 5) return 20 + minor
  return major === 4 ? minor - 4 : minor
}

function withValue(object: Json, [name = '', ...rest]: readonly string[], value: unknown): Json {
  const inner = object[name]
  return { ...object, [name]: rest.length === 0 ? value : withValue(isJson(inner) ? inner : {}, rest, value) }
}
