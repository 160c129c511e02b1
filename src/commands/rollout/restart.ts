import { Command, Option } from 'commander'
import type { Context } from '../../context.ts'
import { orders } from '../../lib/workloads/waves/order.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { acceptOption } from '../workloads/accept-option.ts'
import { dryRunOption } from '../workloads/dry-run.ts'
import type { RestartOptions } from './restart/restart.ts'

/** Loaded when it runs: help does without. */
const later = async (cx: Context, options: RestartOptions) =>
  (await import('./restart/restart.ts')).restartVms(cx, options)

export function restartCommand(wire: Wire): Command {
  const command = new Command('restart')
  for (const option of [...which, ...waves, ...pace]) command.addOption(option)
  return command
    .addOption(acceptOption())
    .addOption(dryRunOption())
    .option('--timeout <duration>', 'how long it may take altogether', '24h')
    .option('--take-over <holder>', 'take the lock of this holder')
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup rollout restart --dry-run=client', 'which would be restarted'],
          ['kvup rollout restart --canary 1 --pause-between 10m', 'one first, the others later'],
          ["kvup rollout restart --window 'Sat 22:00-04:00 UTC' --timeout 8d", 'only then'],
        ],
        more: 'Only VMs that wait for a restart. Running it again goes on.',
        codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
      }),
    )
    .action(wire<RestartOptions, []>(later))
}

const which = [
  new Option('-A, --all-namespaces', 'all namespaces; that is the default without -n'),
  new Option('-l, --selector <labels>', 'only VMs with these labels, such as app=db,tier!=test'),
]

const waves = [
  new Option('--canary <count>', 'so many VMs first; when one fails no other is restarted'),
  new Option('--canary-label <labels>', 'the VMs with these labels first, in the same way'),
  new Option('--wave-by <what>', 'label=KEY, namespace or node: one wave after the other'),
  new Option('--waves <list>', 'the waves that come first, in this order, separated by commas'),
  new Option('--order <order>', 'which VM of a wave comes first').choices(orders).default('name'),
]

const pace = [
  new Option('--parallel <count>', 'how many at a time').default('1'),
  new Option('--pause-between <duration>', 'how long to wait between two waves').default('0s'),
  new Option('--apart-by <label>', 'never two VMs of one value at a time; default: their own anti-affinity'),
  new Option(
    '--soak <duration>',
    'how long the one has to be well before the next that is kept apart',
  ).default('1m'),
  new Option('--window <window>', 'restart VMs only then (repeatable)')
    .argParser((value: string, before: string[]) => [...before, value])
    .default([], 'always'),
  new Option('--max-failures <count>', 'stop when so many restarts were refused').default('3'),
  new Option('--restart-timeout <duration>', 'how long a VM may take to be well again').default('10m'),
]
