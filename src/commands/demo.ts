import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import type { DemoOptions } from './demo/demo.ts'
import { KvupCommand } from './command-options.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: DemoOptions) =>
  (await import('./demo/demo.ts')).demo(cx, options)

export function demoCommand(wire: Wire): KvupCommand {
  return new KvupCommand('demo')
    .addOption(new Option('--scenario <name>', 'what happens; list shows them all').default('image-tag'))
    .addOption(
      new Option(
        '--speed <factor>',
        'how fast simulated time runs (default: 10 or as the scenario says; 1 with --serve)',
      ),
    )
    .addOption(
      new Option('--serve', 'upgrade nothing: keep the cluster running for kvup and kubectl until Ctrl-C'),
    )
    .manual({
      examples: [
        ['kvup demo', 'watch an upgrade that goes well'],
        ['kvup demo --scenario list', 'list what else there is to see'],
        ['kvup demo --scenario wrong-tag --speed 20', 'watch one that stalls (exit 4)'],
        ['kvup demo --serve', 'start a cluster to play with'],
      ],
      codes: ['timedOut'],
    })
    .action(wire<DemoOptions, []>(lazyAction))
}
