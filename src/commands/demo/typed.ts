import type { Scenario } from '../../lib/simulator/scenarios/scenario.ts'
import { upgradeCommand } from '../upgrade.ts'
import { updateCommand } from '../workloads/update.ts'
import type { Typed } from './run-inside.ts'

/** What a person would type on this cluster. */
export function typed(scenario: Scenario): Typed {
  if ('update' in scenario) {
    const { update } = scenario
    return { line: 'kvup workloads update', command: updateCommand, args: update }
  }
  const { to, method, flags = [] } = scenario.upgrade
  const manifest = method === 'operator-manifest' ? ['--manifest', '-'] : []
  return {
    line: `kvup upgrade --to ${to}`,
    command: upgradeCommand,
    args: ['--to', to, '--method', method, ...manifest, ...flags],
  }
}
