import { Command } from 'commander'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { withChangeFlags } from './change-flags.ts'
import { setWorkloadStrategy } from './strategy/set.ts'
import { showWorkloadStrategy } from './strategy/show.ts'

const look = [
  ['kvup workloads strategy show', 'what holds'],
  ['kvup workloads strategy show -o wide', 'and where it is written'],
] as const
const change = [
  ['kvup workloads strategy set --methods LiveMigrate', 'only migrations'],
  ['kvup workloads strategy set --methods LiveMigrate,Evict', 'and shutdowns'],
  ['kvup workloads strategy set --parallel-per-cluster 10 --dry-run=server', 'what it would change'],
] as const

/** `show` is what `kvup workloads strategy` alone does. */
export function strategyCommand(wire: Wire): Command {
  return new Command('strategy')
    .addCommand(
      new Command('show')
        .description('Show how VMs follow, each setting with who says so')
        .addHelpText('after', manual({ examples: look, codes: asksCluster }))
        .action(wire(showWorkloadStrategy)),
      { isDefault: true },
    )
    .addCommand(setCommand(wire))
    .addHelpText('after', manual({ examples: [...look, ...change], codes: asksCluster }))
}

function setCommand(wire: Wire): Command {
  return withChangeFlags(
    new Command('set')
      .description('Set how VMs follow, where it lasts: on KubeVirt, or on the HyperConverged that owns it')
      .option('--methods <list>', 'LiveMigrate, Evict, both separated by a comma, or none')
      .option('--batch-size <count>', 'how many VMs Evict shuts down at a time')
      .option('--batch-interval <duration>', 'how long it waits between two batches, such as 1m')
      .option('--parallel-per-cluster <count>', 'how many migrations run at a time')
      .option('--parallel-per-node <count>', 'how many of them leave the same node')
      .option('--bandwidth <quantity>', 'bytes a second for each migration, such as 64Mi; 0 is no limit')
      .option('--completion-timeout <duration>', 'how long a migration may take for each GiB')
      .option('--progress-timeout <duration>', 'how long a migration may make no progress')
      .option('--migration-network <name>', 'NetworkAttachmentDefinition to migrate over, or none'),
    'how long to wait until KubeVirt has it',
    '5m',
  )
    .addHelpText(
      'after',
      manual({
        examples: change,
        codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
      }),
    )
    .action(wire(setWorkloadStrategy))
}
