import { goodScenarios } from './good.ts'
import { platformScenarios } from './platform.ts'
import type { Scenario } from './scenario.ts'
import { troubleScenarios } from './trouble.ts'

/** Everything that `kvup demo --scenario` knows; the first is the default. */
export const scenarios: readonly Scenario[] = [...goodScenarios, ...platformScenarios, ...troubleScenarios]

export function scenarioNamed(name: string): Scenario | undefined {
  return scenarios.find((scenario) => scenario.name === name)
}
