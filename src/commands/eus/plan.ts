import { Command, Option } from 'commander'
import type { Context } from '../../context.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { fromOption } from '../reader-for.ts'
import { eusPlanningFlags } from './flags.ts'
import type { EusPlanOptions } from './plan/plan.ts'

/** Loaded when it runs: help does without. */
const later = async (cx: Context, options: EusPlanOptions) =>
  (await import('./plan/plan.ts')).planEus(cx, options)

export function eusPlanCommand(wire: Wire): Command {
  const command = new Command('plan')
  for (const option of [...eusPlanningFlags(), ...own]) command.addOption(option)
  return command.addHelpText('after', text).action(wire<EusPlanOptions, []>(later))
}

const own = [
  new Option('--to-file <file>', 'write the plan to this file as well, as YAML: for kvup eus run --plan'),
  fromOption(),
  new Option('--exit-code', 'exit with 10 when something would change'),
]

const text = manual({
  examples: [
    ['kvup eus plan', 'to the next EUS release'],
    ['kvup eus plan --to 4.20', 'to this one'],
    ['kvup eus plan --graph-file graph.json --catalog-file catalog.yaml', 'every release is known'],
    ['kvup eus plan --from must-gather/', 'of a saved cluster'],
    ['kvup eus plan -o markdown', 'for a merge request'],
  ],
  more: `Changes nothing; rights for reading are enough. The cluster knows only its next hop: with
--graph-file (the JSON that the update service answers for a channel) the whole way of the
platform is known, with --catalog-file (opm render of the catalog of the minor at the end) that of
the operator.`,
  codes: [...asksCluster, 'asked'],
})
