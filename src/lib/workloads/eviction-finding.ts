import type { Reader } from '../cluster/cluster.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import { outdatedOnes } from '../facts/workload-count.ts'
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

/** What these methods do with what is outdated already. */
export function forecastOutdated(
  reader: Reader,
  kubevirt: KubeVirt,
  methods: readonly string[],
): Promise<Forecast> {
  return forecastUpdates(reader, { kubevirt, methods }, outdatedOnes)
}
