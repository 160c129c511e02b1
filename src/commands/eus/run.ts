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
    ['kvup eus run --graph-file graph.json --catalog-file catalog.yaml', 'up to the first InstallPlan'],
    ['kvup eus run --approve', 'all of it, or the rest of it'],
    ['kvup eus run --plan plan.yaml', 'its releases, or none'],
    ['kvup eus run --approve --until operator-4.19', 'to the minor in between'],
    ['kvup eus run --approve --pause-before unpause-worker', 'all but the nodes'],
  ],
  more: `It may take days: leave it with Ctrl-C at any time. By itself it ends where a person has to decide,
where what it waits for does not come in the time of that step, and at --timeout (24d); the same
line goes on. What the files said of the way is kept in the cluster: going on does not need them.
What is borrowed is in the cluster's journal: whoever runs it again, from wherever, goes on.
A request that the platform refuses is taken back at once.`,
  codes: [...asksCluster, 'timedOut', 'drifted', 'locked', 'lost', 'interrupted', 'terminated'],
})
