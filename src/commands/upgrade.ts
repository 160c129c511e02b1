import { Command } from 'commander'
import type { Wire } from '../wire.ts'
import { asksCluster, manual } from './manual.ts'
import { planningFlags, runningFlags } from './upgrade/flags.ts'
import { upgrade } from './upgrade/upgrade.ts'

export function upgradeCommand(wire: Wire): Command {
  const command = new Command('upgrade')
  for (const option of [...planningFlags(), ...runningFlags()]) command.addOption(option)
  return command.addHelpText('after', text).action(wire(upgrade))
}

const text = manual({
  examples: [
    ['kvup upgrade --to v1.8.4', 'the method that fits this cluster'],
    ['kvup upgrade --to v1.8.4 --dry-run=server', 'what would change, asked of the API server'],
    ['kvup upgrade --to v1.8.4 --manifest operator.yaml', 'without the internet'],
    ['kvup upgrade --plan plan.yaml --yes', 'what kvup plan wrote and somebody reviewed'],
    ['kvup upgrade --to v1.8.4 --yes -o json', 'for a script: the report as a document'],
  ],
  more: 'Killed, interrupted or timed out, the same line goes on where the cluster stands.',
  codes: [...asksCluster, 'timedOut', 'drifted', 'locked', 'interrupted', 'terminated'],
})
