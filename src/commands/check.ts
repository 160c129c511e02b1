import { Command, Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import type { CheckOptions } from './check/check.ts'
import { alertsOption, acceptWithReason, asksCluster, fromOption, manual } from './command-options.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: CheckOptions) =>
  (await import('./check/check.ts')).check(cx, options)

export function checkCommand(wire: Wire): Command {
  const command = new Command('check')
  for (const option of options) command.addOption(option)
  return command.addHelpText('after', text).action(wire<CheckOptions, []>(lazyAction))
}

const options = [
  new Option(
    '--to <version>',
    'version to check an upgrade to, such as v1.9.0, or of HyperConverged; without it only what is now',
  ),
  new Option('--method <method>', 'how it would be done')
    .choices(['auto', 'image-tag', 'operator-manifest', 'olm'])
    .default('auto'),
  new Option('--manifest <file|url|->', 'kubevirt-operator.yaml of the target: rights and CRDs are compared'),
  new Option('--releases <file>', 'release data to use instead of the built-in data'),
  acceptWithReason(),
  fromOption(),
  new Option(
    '--probe-images',
    'try each image of the manifest on each pool of nodes, with pods that are removed; asks first',
  ),
  alertsOption('without it, kvup may ask you once'),
  new Option('--strict', 'let warnings count as blockers'),
  new Option('--all', 'list every check, not only what was found'),
]

const text = manual({
  examples: [
    ['kvup check', 'what is wrong now'],
    ['kvup check --to v1.8.4', 'what blocks this upgrade'],
    ['kvup check --to v1.8.4 --accept patch-skipped=tested', 'accept a risk, with the reason'],
    ['kvup check --to v1.8.4 -o junit', 'for CI'],
    ['kvup check --to v1.8.4 --manifest operator.yaml --probe-images', 'can every node pull them?'],
    ['kvup check --to v1.8.4 --from cluster.ndjson.gz', 'of a saved cluster'],
  ],
  more: 'What could not be read is "not checked", never passed.',
  formats: ['junit', 'sarif', 'markdown', 'github', 'prometheus'],
  codes: asksCluster,
})
