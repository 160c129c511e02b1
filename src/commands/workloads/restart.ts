import { Option } from 'commander'
import type { Context, Wire } from '../../context.ts'
import { asksCluster, KvupCommand } from '../command-options.ts'
import { excludeFlag, paceFlags, selectionFlags, stopFlags, waveFlags } from './wave-options.ts'
import type { RestartOptions } from './run-restart.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: RestartOptions) =>
  (await import('./run-restart.ts')).restartVms(cx, options)

export function restartCommand(wire: Wire): KvupCommand {
  const which = [...selectionFlags(), excludeFlag()]
  return new KvupCommand('restart')
    .flags([...which, ...waveFlags(), ...pace, ...stopFlags()])
    .changeFlags('how long it may take altogether', '24h')
    .manual({
      examples: [
        ['kvup workloads restart --dry-run=client', 'which would be restarted'],
        ['kvup workloads restart --canary 1 --pause-between 10m', 'one first, the others later'],
        ["kvup workloads restart --window 'Sat 22:00-04:00 UTC' --timeout 8d", 'only then'],
      ],
      more: 'Only VMs that need a restart. The same command continues.',
      codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
    })
    .action(wire<RestartOptions, []>(lazyAction))
}

const pace = [
  new Option('--parallel <count>', 'how many at a time').default('1'),
  ...paceFlags('restart VMs'),
  new Option('--max-failures <count>', 'stop when so many restarts were refused').default('3'),
  new Option('--restart-timeout <duration>', 'how long a VM may take to be Ready again').default('10m'),
]
