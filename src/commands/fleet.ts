import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { asksCluster, list, KvupCommand } from './command-options.ts'
import type { FleetPlanOptions } from './fleet/fleet-plan.ts'
import { planningFlags } from './upgrade.ts'
import { checkOptions } from './check.ts'
import type { FleetCheckOptions } from './fleet/fleet-check.ts'
import type { FleetStatusOptions } from './fleet/fleet-status.ts'

const lazyStatus = async (cx: Context, options: FleetStatusOptions) =>
  (await import('./fleet/fleet-status.ts')).fleetStatus(cx, options)

const globs = (value: string, before: readonly string[] = []): string[] =>
  list(value, before)
    .flatMap((one) => one.split(','))
    .filter((one) => one !== '')

/** Which clusters a fleet has. */
const fleetFlags = (within = '20s'): Option[] => [
  new Option('--contexts <glob>', "contexts of the kubeconfig: 'prod-*' (repeatable, commas)").argParser(
    globs,
  ),
  new Option('--file <file>', 'fleet file with the clusters').conflicts('contexts'),
  new Option('--parallel <n>', 'clusters at a time').default('16'),
  new Option('--cluster-timeout <duration>', 'after it a cluster counts as unreachable').default(within),
]

const fileText = [
  'A fleet file:',
  '  apiVersion: kvup.io/v1alpha1',
  '  kind: Fleet',
  '  clusters:',
  '  - context: prod-eu            # of the kubeconfig; name: gives the row another name',
  '    kubeconfig: eu.kubeconfig   # beside this file; default: that of the command line',
  '    canary: true                # first of all; or group: 2',
  '    accept: [kubernetes-window=tested in stage]',
].join('\n')

export function fleetStatusCommand(wire: Wire): KvupCommand {
  return new KvupCommand('status')
    .flags(fleetFlags())
    .option('-w, --watch', 'keep watching; print every change')
    .option('--exit-code', 'exit as kvup status --exit-code of the worst cluster')
    .manual({
      examples: [
        ["kvup fleet status --contexts 'prod-*'", 'one line per cluster, the worst first'],
        ["kvup fleet status --contexts '*' -o wide", 'with server, uid and next line'],
      ],
      more: `A cluster that does not answer is a line too, and makes the exit code 8.\n\n${fileText}`,
      codes: ['blocked', 'timedOut', 'forbidden', 'unreachable', 'asked'],
    })
    .action(wire<FleetStatusOptions, []>(lazyStatus))
}

const lazyCheck = async (cx: Context, options: FleetCheckOptions) =>
  (await import('./fleet/fleet-check.ts')).fleetCheck(cx, options)

/** Flags of `kvup check` that are meant for many clusters: none makes pods, or reads a saved one. */
const checked: ReadonlySet<string> = new Set([
  '--to',
  '--method',
  '--manifest',
  '--releases',
  '--accept',
  '--strict',
])

/** A check watches a Lease that nobody seems to renew for its whole time before it calls that silent. */
const checkedWithin = '60s'

export function fleetCheckCommand(wire: Wire): KvupCommand {
  return new KvupCommand('check')
    .flags([...fleetFlags(checkedWithin), ...checkOptions().filter(({ long }) => checked.has(long ?? ''))])
    .manual({
      examples: [
        ["kvup fleet check --contexts 'prod-*' --to v1.8.4", 'what blocks this upgrade, and where'],
        ["kvup fleet check --contexts '*' -o junit", 'a suite per cluster, for CI'],
      ],
      more: 'Each line has the verdict of kvup check. Below stands what several clusters have in common.\nRisks that the fleet file accepts for a cluster count there alone.\nOne that does not answer is a line, and exit 8.',
      codes: asksCluster,
    })
    .action(wire<FleetCheckOptions, []>(lazyCheck))
}

const lazyPlan = async (cx: Context, options: FleetPlanOptions) =>
  (await import('./fleet/fleet-plan.ts')).fleetPlan(cx, options)

/** Flags of a plan that a fleet needs; what else `kvup plan` has stays at its default. */
const planned: ReadonlySet<string> = new Set([
  '--to',
  '--method',
  '--manifest',
  '--manifest-base',
  '--manifest-sha256',
  '--image-registry',
  '--stable-for',
  '--leave-paused',
  '--wait-workloads',
  '--releases',
  '--accept',
])

export function fleetPlanCommand(wire: Wire): KvupCommand {
  return new KvupCommand('plan')
    .flags([
      ...fleetFlags(),
      ...planningFlags().map((flag) => (planned.has(flag.long ?? '') ? flag : flag.hideHelp())),
      new Option('--canary <glob>', 'clusters of the first group').argParser(globs),
      new Option('--group-size <n>', 'clusters of each further group').default('5'),
      new Option('--to-folder <folder>', 'save the plan of each cluster there, as UID.yaml'),
    ])
    .option('--exit-code', 'exit 10 when something would change')
    .manual({
      examples: [
        ["kvup fleet plan --contexts 'prod-*' --canary prod-1 --to v1.8.4", 'the order, and each plan'],
        ["kvup fleet plan --contexts 'prod-*' --to v1.8.4 --to-folder plans", 'save the plans'],
      ],
      more: 'Each saved plan is for kvup upgrade --plan. They are saved only where every cluster answers and\nnothing blocks one. kvup runs no fleet: your CI or Argo Workflows does, group after group.',
      codes: [...asksCluster, 'asked'],
    })
    .action(wire<FleetPlanOptions, []>(lazyPlan))
}
