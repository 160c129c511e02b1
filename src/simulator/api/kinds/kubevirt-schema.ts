import { lackingFields } from '../../../lib/releases/kubevirt-fields.ts'
import { minorOf, versionOf } from '../../../lib/releases/release-versions.ts'
import { at, copy, isJson, items, text } from '../json.ts'
import type { SimKind } from './sim-kind.ts'

const described = 'KubeVirt of '

/** What the schema of KubeVirt's CRD says here: of which minor it is. */
export function kubeVirtDescription(version: string): string | undefined {
  const release = versionOf(version)
  return release && `${described}${minorOf(release)}`
}

/** Prunes what the configuration of a KubeVirt has and its CRD lacks, as an API server does. */
export const kubeVirtVersioning: NonNullable<SimKind['versioningBy']> = (of) => {
  const [version] = items(of, 'spec', 'versions')
  const [, minor] = text(version, 'schema', 'openAPIV3Schema', 'description')?.split(described) ?? []
  const release = versionOf(`${minor}.0`)
  const lacking = (release === undefined ? [] : lackingFields(release)).map((path) => path.split('.'))
  return {
    read: (stored, apiVersion) => (stored.apiVersion === apiVersion ? stored : { ...stored, apiVersion }),
    accept: (given) => {
      const result = copy(given)
      for (const path of lacking) prune(at(result, 'spec', 'configuration'), path)
      return result
    },
  }
}

/** `*` stands for every key. */
function prune(value: unknown, [step = '', ...rest]: readonly string[]): void {
  if (Array.isArray(value)) for (const one of value) prune(one, [step, ...rest])
  else if (isJson(value) && rest.length === 0) Reflect.deleteProperty(value, step)
  else if (isJson(value))
    for (const key of step === '*' ? Object.keys(value) : [step]) prune(value[key], rest)
}
