import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import type { CheckOptions } from './check/check.ts'
import {
  alertsOption,
  acceptWithReason,
  asksCluster,
  fromOption,
  KvupCommand,
  type Manual,
} from './command-options.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: CheckOptions) =>
  (await import('./check/check.ts')).check(cx, options)

export function checkCommand(wire: Wire): KvupCommand {
  return new KvupCommand('check')
    .flags(checkOptions())
    .manual(text)
    .action(wire<CheckOptions, []>(lazyAction))
}

/** Its flags. */
export const checkOptions = (): Option[] => [
  new Option(
    '--to <version>',
    'version to check an upgrade to, such as v1.9.0, or of HyperConverged; without it kvup checks the present state',
  ),
  new Option('--method <method>', 'upgrade method to check')
    .choices(['auto', 'image-tag', 'operator-manifest', 'olm'])
    .default('auto'),
  new Option(
    '--manifest <file|url|->',
    'kubevirt-operator.yaml of the target, to compare permissions and CRDs',
  ),
  new Option('--releases <file>', 'release data to use instead of the built-in data'),
  acceptWithReason(),
  fromOption(),
  new Option(
    '--probe-images',
    'try to pull each image of the manifest on each pool of nodes; kvup asks first, and removes its pods',
  ),
  alertsOption('without it, kvup may ask you once'),
  new Option('--strict', 'let warnings count as blockers'),
  new Option('--all', 'list every check, not only what was found'),
]

const text: Manual = {
  examples: [
    ['kvup check', 'find what is wrong now'],
    ['kvup check --to v1.8.4', 'find what blocks this upgrade'],
    ['kvup check --to v1.8.4 --accept patch-skipped=tested', 'accept a risk, with the reason'],
    ['kvup check --to v1.8.4 -o junit', 'print a report for CI'],
    ['kvup check --to v1.8.4 --manifest operator.yaml --probe-images', 'try to pull the images too'],
    ['kvup check --to v1.8.4 --from cluster.ndjson.gz', 'read a saved cluster'],
  ],
  more: 'A check that kvup cannot make is "not checked". It never counts as passed.',
  codes: asksCluster,
}
