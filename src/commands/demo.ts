import { Command, Option } from 'commander'
import type { Wire } from '../wire.ts'
import { demo } from './demo/demo.ts'

export function demoCommand(wire: Wire): Command {
  return new Command('demo')
    .addOption(new Option('--scenario <name>', 'what happens; list shows them all').default('image-tag'))
    .addOption(new Option('--speed <factor>', 'how fast simulated time runs (default: 10; 1 with --serve)'))
    .addOption(
      new Option('--serve', 'upgrade nothing: keep the cluster running for kvup and kubectl until Ctrl-C'),
    )
    .addHelpText('after', '\nExamples:\n  kvup demo\n  kvup demo --scenario wrong-tag\n  kvup demo --serve\n')
    .action(wire(demo))
}
