import { lackingFields } from '../../../lib/releases/kubevirt-fields.ts'
import { minorOf, versionOf } from '../../../lib/releases/release-versions.ts'
import { at, copy, isJson, items, text } from '../json.ts'
import type { SimKind } from './sim-kind.ts'
import table from './kubevirt-spec.json' with { type: 'json' }

const described = 'KubeVirt of '

/** What the schema of KubeVirt's CRD says here: of which minor it is. */
export function kubeVirtDescription(version: string): string | undefined {
  const release = versionOf(version)
  return release && `${described}${minorOf(release)}`
}

/** Prunes what a KubeVirt has and its CRD lacks, as an API server does: what no release knows, and of the configuration what this one does not. */
export const kubeVirtVersioning: NonNullable<SimKind['versioningBy']> = (of) => {
  const [version] = items(of, 'spec', 'versions')
  const [, minor] = text(version, 'schema', 'openAPIV3Schema', 'description')?.split(described) ?? []
  const release = versionOf(`${minor}.0`)
  const lacking = (release === undefined ? [] : lackingFields(release)).map((path) => path.split('.'))
  return {
    read: (stored, apiVersion) => (stored.apiVersion === apiVersion ? stored : { ...stored, apiVersion }),
    accept: (given) => {
      const result = copy(given)
      pruneUnknown(at(result, 'spec'), table.spec)
      for (const path of lacking) prune(at(result, 'spec', 'configuration'), path)
      return result
    },
  }
}

/** `known` has the fields that there are; where it is no map, everything may stand. */
function pruneUnknown(value: unknown, known: unknown): void {
  if (Array.isArray(value)) for (const one of value) pruneUnknown(one, known)
  else if (isJson(value) && isJson(known))
    for (const key of Object.keys(value)) {
      const below = known[key] ?? known['*']
      if (below === undefined) Reflect.deleteProperty(value, key)
      else pruneUnknown(value[key], below)
    }
}

/** `*` stands for every key. */
function prune(value: unknown, [step = '', ...rest]: readonly string[]): void {
  if (Array.isArray(value)) for (const one of value) prune(one, [step, ...rest])
  else if (isJson(value) && rest.length === 0) Reflect.deleteProperty(value, step)
  else if (isJson(value))
    for (const key of step === '*' ? Object.keys(value) : [step]) prune(value[key], rest)
}
