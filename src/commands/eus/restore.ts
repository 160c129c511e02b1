import { Command, Option } from 'commander'
import type { Context } from '../../context.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { eusPlanningFlags } from './flags.ts'
import type { EusRestoreOptions } from './restore/restore.ts'
import { windowFlags } from './run-flags.ts'

const later = async (cx: Context, options: EusRestoreOptions, names: string[]) =>
  (await import('./restore/restore.ts')).eusRestore(cx, options, names)

export function eusRestoreCommand(wire: Wire): Command {
  const command = new Command('restore').argument('[loans...]', 'what to give back, as status names it')
  for (const option of [...eusPlanningFlags(), ...own, ...windowFlags()]) command.addOption(option)
  return command.addHelpText('after', text).action(wire<EusRestoreOptions, [string[]]>(later))
}

const own = [
  new Option('--pools', 'pools as well: their nodes follow the platform then'),
  new Option('--keep-current', 'where somebody changed it meanwhile: leave their value and close the loan'),
  new Option('--overwrite', 'where somebody changed it meanwhile: set the kept value'),
]

const text = manual({
  examples: [
    ['kvup eus restore', 'all but the pools, which stay paused'],
    ['kvup eus restore --pools', 'pools as well'],
    ['kvup eus restore pool-paused/worker --keep-current', 'somebody unpaused it, and that is well'],
  ],
  more: `Pools go back as at the end of a window: once the platform is at rest and no VM is left on an old
virt-launcher, each after room for its VMs was looked for, the next once it has rolled. With the
last loan the window is closed.`,
  codes: [...asksCluster, 'timedOut', 'locked', 'lost', 'interrupted', 'terminated'],
})
