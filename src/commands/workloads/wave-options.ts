import { Option } from 'commander'
import { orders } from '../../lib/vms/waves/waves.ts'
import type { Used } from '../../lib/upgrade/roles.ts'
import { restartable } from '../../lib/vms/waves/vm-restart.ts'

/** Which VMs: all namespaces unless `-n` says otherwise. */
export const selectionFlags = (): Option[] => [
  new Option('-A, --all-namespaces', 'all namespaces; that is the default without -n'),
  new Option('-l, --selector <labels>', 'only VMs with these labels, such as app=db,tier!=test'),
]

/** In which order. `whenItFails`: what does not happen any more when the canary fails. */
export const waveFlags = (whenItFails: string): Option[] => [
  new Option('--canary <count>', `so many VMs first; when one fails ${whenItFails}`),
  new Option('--canary-label <labels>', 'the VMs with these labels first, in the same way'),
  new Option('--wave-by <what>', 'label=KEY, namespace or node: one wave after the other'),
  new Option('--waves <list>', 'the waves that come first, in this order, separated by commas'),
  new Option('--order <order>', 'which VM of a wave comes first').choices(orders).default('name'),
]

/** Where to end, by the ids that a dry run shows: `canary`, `wave-VALUE`. */
export const stopFlags = (): Option[] => [
  new Option('--until <wave>', 'end after this wave, such as canary'),
  new Option('--pause-before <wave>', 'stop before this wave (repeatable)')
    .argParser((value: string, before: string[]) => [...before, value])
    .default([], 'none'),
]

/** How fast, and when. `doing`: what happens in a window, such as `begin VMs`. */
export const paceFlags = (doing: string): Option[] => [
  new Option('--pause-between <duration>', 'how long to wait between two waves').default('0s'),
  new Option('--apart-by <label>', 'never two VMs of one value at a time; default: their own anti-affinity'),
  new Option(
    '--soak <duration>',
    'how long the one has to be well before the next that is kept apart',
  ).default('1m'),
  new Option('--window <window>', `${doing} only then (repeatable)`)
    .argParser((value: string, before: string[]) => [...before, value])
    .default([], 'always'),
]

/** To ask virt-api for the restart of a VM. */
export const restartRight: Used = { kind: restartable, verb: 'update', subresource: 'restart' }
