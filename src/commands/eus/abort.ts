import { Command } from 'commander'
import type { Context } from '../../context.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { eusPlanningFlags } from './flags.ts'
import { approvingFlags, type EusRunOptions, windowFlags } from './run-flags.ts'

const later = async (cx: Context, options: EusRunOptions) =>
  (await import('./abort/abort.ts')).eusAbort(cx, options)

export function eusAbortCommand(wire: Wire): Command {
  const command = new Command('abort')
  for (const option of [...eusPlanningFlags(), ...approvingFlags(), ...windowFlags()])
    command.addOption(option)
  return command.addHelpText('after', text).action(wire<EusRunOptions, []>(later))
}

const text = manual({
  examples: [
    ['kvup eus abort', 'ends the window where it stands, and gives back what is borrowed'],
    ['kvup eus abort --dry-run=client', 'what it would give back'],
  ],
  more: `Before a hop was accepted everything goes back, the channel included. A hop that runs, a patch too,
is seen to its end first: neither platform nor operator go back, which is listed before the
question, and the end says what was given back. Last, behind the pools, VMs get back what
kvup workloads unblock lent them; run it again after an interruption, it goes on.`,
  codes: [...asksCluster, 'timedOut', 'locked', 'lost', 'interrupted', 'terminated'],
})
