import { isFields } from '../../cluster/apply/field-path.ts'

/** Written out empty by KubeVirt's own programs, left out by people: both are the same to it. */
const sameAsAbsent = new Set([
  'metadata',
  'labels',
  'annotations',
  'resources',
  'requests',
  'limits',
  'devices',
  'nodeSelector',
])
/** No pointers in KubeVirt's types: false and 0 are the same as absent. */
const zeroIsAbsent = new Set([
  'hotpluggable',
  'readonly',
  'dedicatedCpuPlacement',
  'isolateEmulatorThread',
  'cores',
  'sockets',
  'threads',
])

/**
 * What of the spec of a VM a start takes over, in one way to write it: template, instance type and preference (facts 5). A revision name
 * is left out, for KubeVirt fills it in at the start. Pure.
 */
export function comparableSpec(spec: unknown): unknown {
  if (!isFields(spec)) return {}
  const { template, instancetype, preference } = spec
  const { metadata, spec: inner } = isFields(template) ? template : {}
  const { labels, annotations } = isFields(metadata) ? metadata : {}
  return pruned({
    instancetype: named(instancetype),
    preference: named(preference),
    template: { metadata: { labels, annotations }, spec: inner },
  })
}

function named(matcher: unknown): unknown {
  if (!isFields(matcher)) return undefined
  const { revisionName: _, ...rest } = matcher
  return rest
}

function pruned(value: unknown, key = ''): unknown {
  if (isAbsent(value, key)) return undefined
  if (Array.isArray(value)) return value.map((element) => pruned(element))
  if (!isFields(value)) return value
  const fields = Object.entries(value).flatMap(([name, inner]) => {
    const kept = pruned(inner, name)
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return fields.length === 0 && sameAsAbsent.has(key) ? undefined : Object.fromEntries(fields)
}

function isAbsent(value: unknown, key: string): boolean {
  if (value === null || (Array.isArray(value) && value.length === 0)) return true
  return zeroIsAbsent.has(key) && (value === false || value === 0)
}
