import { Command } from 'commander'
import type { Context } from '../context.ts'
import type { Wire } from '../wire.ts'
import { asksCluster, manual } from './manual.ts'
import { planningFlags, runningFlags } from './upgrade/flags.ts'
import type { UpgradeOptions } from './upgrade/options.ts'

/** Loaded when it runs: help does without. */
const later = async (cx: Context, options: UpgradeOptions) =>
  (await import('./upgrade/upgrade.ts')).upgrade(cx, options)

export function upgradeCommand(wire: Wire): Command {
  const command = new Command('upgrade')
  for (const option of [...planningFlags(), ...runningFlags()]) command.addOption(option)
  return command.addHelpText('after', text).action(wire<UpgradeOptions, []>(later))
}

const text = manual({
  examples: [
    ['kvup upgrade --to v1.8.4', 'the method that fits this cluster'],
    ['kvup upgrade --to v1.8.4 --dry-run=server', 'what would change, asked of the API server'],
    ['kvup upgrade --to v1.8.4 --manifest operator.yaml', 'without the internet'],
    ['kvup upgrade --plan plan.yaml --yes', 'what kvup plan wrote and somebody reviewed'],
    ['kvup upgrade --to v1.8.4 --yes -o json', 'for a script: the report as a document'],
  ],
  more: `Killed, interrupted or timed out, the same line goes on where the cluster stands. Where
HyperConverged owns KubeVirt, --to may be its own version, and OLM is the method.`,
  codes: [...asksCluster, 'timedOut', 'drifted', 'locked', 'lost', 'interrupted', 'terminated'],
})
