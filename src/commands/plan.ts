import { Option } from 'commander'
import type { Wire } from '../context.ts'
import { asksCluster, fromOption, KvupCommand, type Manual } from './command-options.ts'
import { planningFlags } from './upgrade.ts'

export function planCommand(wire: Wire): KvupCommand {
  return new KvupCommand('plan')
    .flags([...planningFlags(), ...own])
    .manual(text)
    .runs(wire, async () => (await import('./upgrade/upgrade.ts')).showPlan)
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
