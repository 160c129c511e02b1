import type { Scenario } from '../../lib/simulator/scenarios/scenario.ts'
import { shellWord } from '../../lib/system/shell-word.ts'
import { eusRunCommand } from '../eus/run.ts'
import { upgradeCommand } from '../upgrade.ts'
import { updateCommand } from '../workloads/update.ts'
import type { Typed } from './run-inside.ts'

const commands = { upgrade: upgradeCommand, 'eus run': eusRunCommand } as const

/** What a person would type on this cluster. */
export function typed(scenario: Scenario): Typed {
  if ('typed' in scenario) {
    const { command, args } = scenario.typed
    return { line: ['kvup', command, ...args.map(shellWord)].join(' '), command: commands[command], args }
  }
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
