import { Command } from 'commander'
import type { Context } from '../../context.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { eusPlanningFlags } from './flags.ts'
import { approvingFlags, type EusRunOptions, runFlags, windowFlags } from './run-flags.ts'

/** Loaded when it runs: help does without. */
const later = async (cx: Context, options: EusRunOptions) =>
  (await import('./run/run.ts')).eusRun(cx, options)

export function eusRunCommand(wire: Wire): Command {
  const command = new Command('run')
  const options = [...eusPlanningFlags(), ...runFlags(), ...approvingFlags(), ...windowFlags()]
  for (const option of options) command.addOption(option)
  return command.addHelpText('after', text).action(wire<EusRunOptions, []>(later))
}

const text = manual({
  examples: [
    [
      'kvup eus run --graph-file graph.json --catalog-file catalog.yaml --approve',
      'the whole window; kvup eus run --approve goes on with what was chosen',
    ],
    ['kvup eus run --plan plan.yaml', 'the releases of platform and operator as this plan has them, or none'],
    [
      'kvup eus run --plan plan.yaml --approve --until operator-4.19',
      'to the minor in between, and stop there',
    ],
    ['kvup eus run --plan plan.yaml --approve --pause-before unpause-worker', 'all but the nodes'],
  ],
  more: `It may take days: leave it with Ctrl-C at any time. By itself it ends where a person has to decide, where what
it waits for does not come in the time of that step, and at --timeout (24d); the same line goes on.
What is borrowed is in the cluster's journal: whoever runs it again, from wherever, goes on.
A request that the platform refuses is taken back at once.`,
  codes: [...asksCluster, 'timedOut', 'drifted', 'locked', 'interrupted', 'terminated'],
})
