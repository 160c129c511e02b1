import { Command } from 'commander'
import type { Context, Wire } from '../context.ts'
import type { MeasureOptions } from '../lib/availability/measure-request.ts'
import { asksCluster, manual, measuredFlags } from './command-options.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: MeasureOptions, command: string[]) =>
  (await import('./measure/measure.ts')).measure(cx, options, command)

export function measureCommand(wire: Wire): Command {
  const command = new Command('measure').argument('<command...>', 'what to run meanwhile, behind --')
  for (const option of measuredFlags()) command.addOption(option)
  return command
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup measure -- kvup upgrade --to v1.8.4', 'what an upgrade does to the API'],
          ['kvup measure -o json -- sleep 600', 'ten minutes, as JSON'],
          ['kvup measure -- oc adm upgrade --to 4.19.17', 'any command'],
        ],
        more: `As time does, it runs the command, tells what it measured on stderr, and ends with the exit code
of the command. By 300 API calls a minute and three watches it asks KubeVirt's API once a
second, creates VMs as a dry run, and follows the VMs. It changes nothing. With -o json the
output of the command goes to stderr. A Service is named NAMESPACE/SERVICE:PORT.`,
        codes: asksCluster,
      }),
    )
    .action(wire<MeasureOptions, [string[]]>(lazyAction))
}
