import { Command } from 'commander'
import type { Context } from '../../context.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { fromOption } from '../reader-for.ts'
import type { EusStatusOptions } from './status/status.ts'

const later = async (cx: Context, options: EusStatusOptions) =>
  (await import('./status/status.ts')).eusStatus(cx, options)

export function eusStatusCommand(wire: Wire): Command {
  return new Command('status')
    .option('-w, --watch', 'go on, and print again at every change')
    .addOption(fromOption().conflicts('watch'))
    .option('--to <minor>', 'of a window that is not open: where it would lead')
    .option('--releases <file>', 'release data to judge by instead of the built-in')
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup eus status', 'where the window stands, what is borrowed, what is requested'],
          ['kvup eus status -w', 'and again at every change'],
          ['kvup eus status --from must-gather/', 'of a saved cluster'],
        ],
        codes: [...asksCluster, 'interrupted', 'terminated'],
      }),
    )
    .action(wire<EusStatusOptions, []>(later))
}
