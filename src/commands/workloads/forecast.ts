import { Option } from 'commander'
import type { Context, Wire } from '../../context.ts'
import { exitCode } from '../../lib/kube/errors.ts'
import { asksCluster, fromOption, KvupCommand, type Manual } from '../command-options.ts'
import type { ForecastOptions } from './run-forecast.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: ForecastOptions) =>
  (await import('./run-forecast.ts')).forecast(cx, options)

export function forecastCommand(wire: Wire): KvupCommand {
  return new KvupCommand('forecast')
    .addOption(new Option('--to <version>', 'what becomes of every VM after an upgrade to this version'))
    .addOption(
      new Option(
        '--methods <list>',
        'judge as if workloadUpdateMethods were LiveMigrate, Evict, both, or none',
      ),
    )
    .addOption(new Option('-A, --all-namespaces', 'all namespaces; the default without -n'))
    .addOption(new Option('-l, --selector <labels>', 'only VMs with these labels, such as app=db,tier!=test'))
    .addOption(new Option('--exit-code', `exit ${exitCode.asked} when a VM does not simply migrate`))
    .addOption(fromOption())
    .manual(text)
    .action(wire<ForecastOptions, []>(lazyAction))
}

const text: Manual = {
  examples: [
    ['kvup workloads forecast', 'of the VMs outdated now'],
    ['kvup workloads forecast --to v1.8.4 -o wide', 'after an upgrade'],
    ['kvup workloads forecast --to v1.8.4 --methods LiveMigrate,Evict', 'with other methods'],
  ],
  more: 'Changes nothing. If kvup may not read everything, it says so with exit 7; stdout has the rest.',
  codes: [...asksCluster, 'asked'],
}
