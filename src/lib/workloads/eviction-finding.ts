import type { Reader } from '../cluster/cluster.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import { outdatedLabel } from '../facts/workload-count.ts'
import type { HopFinding } from '../releases/finding.ts'
import { type Forecast, forecastText, forecastUpdates } from './forecast.ts'

/** Giving Evict back interrupts VMs: that is accepted by name, not by --yes (contract "Loans"). */
export function evictionFinding(methods: readonly string[], forecast: Forecast): readonly HopFinding[] {
  if (!methods.includes('Evict') || forecast.interrupted.length === 0) return []
  return [
    {
      id: 'evictions',
      level: 'blocker',
      summary: `Evict is among the workload update methods; once they apply to the new version, KubeVirt ${forecastText(forecast)}`,
      objects: forecast.interrupted.slice(0, 20),
      remedy: ['kvup upgrade --leave-held ends before the methods are given back'],
    },
  ]
}

/** The same for a give-back now: only VMs that are outdated already count. */
export async function evictionFindings(
  reader: Reader,
  { spec }: KubeVirt,
  methods: readonly string[],
): Promise<readonly HopFinding[]> {
  const eviction = spec?.configuration?.['evictionStrategy']
  const rules = { methods, clusterEviction: typeof eviction === 'string' ? eviction : undefined }
  return evictionFinding(methods, await forecastUpdates(reader, rules, outdatedLabel))
}
