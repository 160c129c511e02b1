import { Option } from 'commander'
import { orders } from '../../lib/vms/waves/waves.ts'
import type { Used } from '../../lib/upgrade/roles.ts'
import { restartable } from '../../lib/vms/waves/vm-restart.ts'
import { list } from '../command-options.ts'

/** Which VMs: all namespaces unless `-n` says otherwise. */
export const selectionFlags = (): Option[] => [
  new Option('-A, --all-namespaces', 'all namespaces (default without -n)'),
  new Option('-l, --selector <labels>', 'only VMs with these labels'),
]

/** Which of them not. */
export const excludeFlag = (): Option =>
  new Option('--exclude <namespace/name>', 'leave this VM alone (repeatable)')
    .argParser(list)
    .default([], 'none')

/** In which order. */
export const waveFlags = (): Option[] => [
  new Option('--canary <count>', 'so many VMs first; a failure ends the run'),
  new Option('--canary-label <labels>', 'VMs with these labels as canary'),
  new Option('--wave-by <what>', 'waves by label=KEY, namespace or node'),
  new Option('--waves <list>', 'waves that come first, in this order'),
  new Option('--order <order>', 'order within a wave').choices(orders).default('name'),
]

/** Where to end, by the ids that a dry run shows: `canary`, `wave-VALUE`. */
export const stopFlags = (): Option[] => [
  new Option('--until <wave>', 'end after this wave, such as canary'),
  new Option('--pause-before <wave>', 'stop before this wave (repeatable)')
    .argParser(list)
    .default([], 'none'),
]

/** How fast, and when. `doing`: what happens in a window, such as `begin VMs`. */
export const paceFlags = (doing: string): Option[] => [
  new Option('--pause-between <duration>', 'wait between two waves').default('0s'),
  new Option('--apart-by <label>', 'never two VMs of one value at a time'),
  new Option('--soak <duration>', 'wait between VMs of --apart-by').default('1m'),
  new Option('--window <window>', `${doing} only then`).argParser(list).default([], 'always'),
]

/** To ask virt-api for the restart of a VM. */
export const restartRight: Used = { kind: restartable, verb: 'update', subresource: 'restart' }
