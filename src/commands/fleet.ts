import { Command, Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { list, manual } from './command-options.ts'
import type { FleetStatusOptions } from './fleet/fleet-status.ts'

const lazyStatus = async (cx: Context, options: FleetStatusOptions) =>
  (await import('./fleet/fleet-status.ts')).fleetStatus(cx, options)

const globs = (value: string, before: readonly string[] = []): string[] =>
  list(value, before)
    .flatMap((one) => one.split(','))
    .filter((one) => one !== '')

/** Which clusters a fleet has. */
const fleetFlags = (): Option[] => [
  new Option('--contexts <glob>', "contexts of the kubeconfig: 'prod-*' (repeatable, commas)").argParser(
    globs,
  ),
  new Option('--file <file>', 'fleet file with the clusters').conflicts('contexts'),
  new Option('--parallel <n>', 'clusters at a time').default('16'),
  new Option('--cluster-timeout <duration>', 'after it a cluster counts as unreachable').default('20s'),
]

const fileText = [
  'A fleet file:',
  '  apiVersion: kvup.io/v1alpha1',
  '  kind: Fleet',
  '  clusters:',
  '  - context: prod-eu            # of the kubeconfig; name: gives the row another name',
  '    kubeconfig: eu.kubeconfig   # beside this file; default: that of the command line',
  '    canary: true                # first of all; or wave: 2',
  '    window: Sat 22:00-04:00 Europe/Prague',
  '    accept: [kubernetes-window=tested in stage]',
].join('\n')

export function fleetStatusCommand(wire: Wire): Command {
  const command = new Command('status')
  for (const option of fleetFlags()) command.addOption(option)
  return command
    .option('-w, --watch', 'keep watching; print every change')
    .option('--exit-code', 'exit as kvup status --exit-code of the worst cluster')
    .addHelpText(
      'after',
      manual({
        examples: [
          ["kvup fleet status --contexts 'prod-*'", 'one line per cluster, the worst first'],
          ["kvup fleet status --contexts '*' -o wide", 'with server, uid and next line'],
        ],
        more: `A cluster that does not answer is a line too, and makes the exit code 8.\n\n${fileText}`,
        formats: ['junit'],
        codes: ['blocked', 'timedOut', 'forbidden', 'unreachable', 'asked'],
      }),
    )
    .action(wire<FleetStatusOptions, []>(lazyStatus))
}
