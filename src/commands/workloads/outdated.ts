import { Option } from 'commander'
import type { Context, Wire } from '../../context.ts'
import { exitCode } from '../../lib/kube/errors.ts'
import { asksCluster, fromOption, KvupCommand } from '../command-options.ts'
import type { OutdatedOptions } from './list-outdated.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: OutdatedOptions) =>
  (await import('./list-outdated.ts')).outdated(cx, options)

export function outdatedCommand(wire: Wire): KvupCommand {
  return new KvupCommand('outdated')
    .addOption(new Option('-A, --all-namespaces', 'all namespaces; the default without -n'))
    .addOption(new Option('-l, --selector <labels>', 'only VMs with these labels, such as app=db,tier!=test'))
    .addOption(new Option('--node <name>', 'only VMs on this node'))
    .addOption(new Option('--exit-code', `exit ${exitCode.asked} when there are outdated VMs`))
    .addOption(fromOption())
    .manual({
      examples: [
        ['kvup workloads outdated', 'VMs on an old virt-launcher and their outcome'],
        ['kvup workloads outdated -n demo -o wide', 'of one namespace, with what helps'],
        ['kvup workloads outdated -l app=db --node node-1', 'narrowed by the server'],
        ['kvup workloads outdated --exit-code -o name', 'for a script'],
        ['kvup workloads outdated --from cluster.ndjson.gz', 'read a saved cluster'],
      ],
      more: 'If kvup may not read everything, it says so with exit 7; stdout has the rest.',
      codes: [...asksCluster, 'asked'],
    })
    .action(wire<OutdatedOptions, []>(lazyAction))
}
