import { Argument, Command, Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { asksCluster, fromOption, manual } from './command-options.ts'
import type { ReportOptions } from './report/report.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: ReportOptions, typed?: string) =>
  (await import('./report/report.ts')).report(cx, options, typed)

export function reportCommand(wire: Wire): Command {
  return new Command('report')
    .addArgument(
      new Argument(
        '[run|file]',
        'number of a run, as kvup history counts them, or a file with a document (- for standard input); without it the last run',
      ),
    )
    .addOption(
      new Option(
        '--to-file <file>',
        'write the report as one HTML page; as Markdown with -o markdown or to FILE.md',
      ),
    )
    .addOption(
      new Option('--full', 'leave nothing out: passwords, environment values, annotations, names of hosts'),
    )
    .addOption(fromOption())
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup report --to-file report.html', 'a page about the last run, to forward'],
          ['kvup report 14 -o markdown', 'run 14, for a ticket'],
          ['kvup report 14 --to-file ticket.md', 'the same, to a file'],
          ['kvup report check.json --to-file check.html', 'of what kvup check -o json printed'],
          ['kvup report run.ndjson --to-file run.html', 'of kvup upgrade -o ndjson, with all its times'],
        ],
        more: `There are reports of these documents: check, plan, rehearse, upgrade, workloads update,
workloads restart, eus plan, eus run, fleet status, fleet check, fleet plan
(-o json, yaml or ndjson). The page needs no network.`,
        formats: ['markdown'],
        codes: asksCluster,
      }),
    )
    .action(wire<ReportOptions, [string]>(lazyAction))
}
