import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import { isJson, type Json } from '../api/json.ts'
import { versionOf } from '../api/kind-registry.ts'

/** What a HyperConverged says of VMs, wherever its version has it (hco 2). */
export function virtualizationOf({ apiVersion, spec = {} }: HyperConverged): Json {
  return versionOf(apiVersion) === 'v1' ? jsonOf(spec['virtualization']) : { ...spec }
}

/** How VMs follow, as it is passed on to KubeVirt: an empty list of methods as none at all (hco 5). */
export function passedOn(hyperconverged: HyperConverged): { workloadUpdateStrategy: Json; migrations: Json } {
  const from = virtualizationOf(hyperconverged)
  const { workloadUpdateMethods, ...batches } = jsonOf(from['workloadUpdateStrategy'])
  const empty = !Array.isArray(workloadUpdateMethods) || workloadUpdateMethods.length === 0
  return {
    workloadUpdateStrategy: { ...batches, ...(empty ? {} : { workloadUpdateMethods }) },
    migrations: jsonOf(from['liveMigrationConfig']),
  }
}

const jsonOf = (value: unknown): Json => (isJson(value) ? value : {})
