import { Option } from 'commander'
import type { Context, Wire } from '../../context.ts'
import { asksCluster, list, measureFlags, stalledOption, KvupCommand } from '../command-options.ts'
import { excludeFlag, paceFlags, selectionFlags, stopFlags, waveFlags } from './wave-options.ts'
import type { UpdateOptions } from '../../lib/vms/waves/wave-run.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: UpdateOptions) =>
  (await import('./run-update.ts')).update(cx, options)

const examples = [
  ['kvup workloads update', 'migrates what can be migrated'],
  ['kvup workloads update --canary 2 --wave-by label=tier', 'two first, then wave by wave'],
  ["kvup workloads update --window 'Sat 22:00-04:00 Europe/Prague'", 'starts VMs only then'],
  ['kvup workloads update -n demo --dry-run=client', 'what it would do'],
] as const

export function updateCommand(wire: Wire): KvupCommand {
  return new KvupCommand('update')
    .flags([...moves, ...stopFlags(), ...stops, ...measureFlags()])
    .changeFlags('how long it may take altogether', '8d')
    .manual({
      examples,
      more: 'The same command continues after an interruption. A wave waits while a new alert fires.',
      codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
    })
    .action(wire<UpdateOptions, []>(lazyAction))
}

const moves = [
  ...selectionFlags(),
  new Option('--node <name>', 'only VMs on this node'),
  excludeFlag(),
  new Option('--include <namespace/name>', 'take along a canary that failed (repeatable)')
    .argParser(list)
    .default([], 'none'),
  ...waveFlags(),
  new Option('--parallel <count>', "how many at a time, within KubeVirt's limits"),
  ...paceFlags('begin VMs'),
]

/** What only says how VMs are moved by kvup. */
const notWatching = [
  'exclude',
  'include',
  'canary',
  'canaryLabel',
  'waveBy',
  'waves',
  'order',
  'parallel',
  'pauseBetween',
  'apartBy',
  'soak',
  'window',
  'until',
  'pauseBefore',
  'restartUnmigratable',
  'retries',
  'cancelRunning',
]

const stops = [
  new Option('--max-failures <count>', 'stop when so many VMs have failed').default('3'),
  new Option('--retries <count>', 'how often a failed VM is retried').default('1'),
  stalledOption().default('30m'),
  new Option('--restart-unmigratable', 'restart VMs that cannot be migrated'),
  new Option('--restart-timeout <duration>', 'time for a VM to be Ready again').default('10m'),
  new Option('--watch-only', 'move nothing, watch KubeVirt do it').conflicts(notWatching),
  new Option('--cancel-running', 'on Ctrl-C, cancel the migrations of this run'),
]
