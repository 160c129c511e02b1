import type { Clock } from '../../system/clock.ts'
import { type SimulatedCluster, simulate } from '../simulate.ts'
import type { Scenario } from './scenario.ts'

/** A cluster as the scenario wants it, settled; its faults are on, and heal when the scenario says. */
export async function startScenario(
  scenario: Scenario,
  { clock, random }: { clock: Clock; random?: () => number },
): Promise<SimulatedCluster> {
  const simulated = await simulate({
    clock,
    ...scenario.cluster,
    ...(random === undefined ? {} : { random }),
    ...(scenario.faults === undefined ? {} : { faults: scenario.faults }),
  })
  const end = new AbortController()
  for (const { after, faults } of scenario.later ?? []) {
    clock.sleep(after, end.signal).then(
      () => simulated.faults.set(faults),
      () => undefined,
    )
  }
  return {
    ...simulated,
    stop: () => {
      end.abort()
      return simulated.stop()
    },
  }
}
