import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { asksCluster, fromOption, KvupCommand, type Manual } from './command-options.ts'
import type { PlanOptions } from './upgrade/upgrade.ts'
import { planningFlags } from './upgrade.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: PlanOptions) =>
  (await import('./upgrade/upgrade.ts')).showPlan(cx, options)

export function planCommand(wire: Wire): KvupCommand {
  return new KvupCommand('plan')
    .flags([...planningFlags(), ...own])
    .manual(text)
    .action(wire<PlanOptions, []>(lazyAction))
}

const own = [
  new Option('--to-file <file>', 'save the plan, for kvup upgrade --plan'),
  fromOption(),
  new Option('--exit-code', 'exit 10 when something would change'),
]

const text: Manual = {
  examples: [
    ['kvup plan --to v1.8.4', 'show each step'],
    ['kvup plan --to v1.8.4 --to-file plan.yaml', 'save it for kvup upgrade --plan plan.yaml'],
    ['kvup plan --to v1.8.4 -o markdown', 'print it for a pull request'],
  ],
  more: 'kvup plan changes nothing. The plan is sealed: once the cluster has changed, kvup upgrade --plan\nrefuses it and says what is different.',
  codes: [...asksCluster, 'asked'],
}
