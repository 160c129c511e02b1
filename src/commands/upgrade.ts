import { Command, InvalidArgumentError, Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { acceptWithReason, asksCluster, manual } from './command-options.ts'
import type { UpgradeOptions } from '../lib/upgrade/plan/upgrade-options.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: UpgradeOptions) =>
  (await import('./upgrade/upgrade.ts')).upgrade(cx, options)

export function upgradeCommand(wire: Wire): Command {
  const command = new Command('upgrade')
  for (const option of [...planningFlags(), ...runningFlags()]) command.addOption(option)
  return command.addHelpText('after', text).action(wire<UpgradeOptions, []>(lazyAction))
}

const text = manual({
  examples: [
    ['kvup upgrade --to v1.8.4', 'the method that fits this cluster'],
    ['kvup upgrade --to v1.8.4 --dry-run=server', 'what would change, asked of the API server'],
    ['kvup upgrade --to v1.8.4 --manifest operator.yaml', 'without the internet'],
    ['kvup upgrade --plan plan.yaml --yes', 'what kvup plan wrote and somebody reviewed'],
    ['kvup upgrade --to v1.8.4 --yes -o json', 'for a script: the report as a document'],
  ],
  more: `Killed, interrupted or timed out, the same line goes on where the cluster stands. Where
HyperConverged owns KubeVirt, --to may be its own version, and OLM is the method.`,
  codes: [...asksCluster, 'timedOut', 'drifted', 'locked', 'lost', 'interrupted', 'terminated'],
})

const list = (value: string, before: string[]) => [...before, value]

/** As a sealed plan keeps them: one text. */
const joined = (value: string, before?: string) => (before === undefined ? value : `${before},${value}`)

/** A bare `--dry-run` would take the flag behind it for its value. */
function noFlag(value: string): string {
  if (value.startsWith('-')) throw new InvalidArgumentError('It takes none, client or server.')
  return value
}

/** What a plan is made from: `kvup plan` and `kvup upgrade` share them, and a sealed plan keeps their values. */
export const planningFlags = (): Option[] => [
  new Option('--to <version>', 'version to end up with, such as v1.8.4; by OLM also that of HyperConverged'),
  new Option(
    '--method <method>',
    'how: patch imageTag, apply the operator manifest, approve what OLM resolves, or what fits the cluster',
  )
    .choices(['auto', 'image-tag', 'operator-manifest', 'olm'])
    .default('auto'),
  new Option('--manifest <file|url|->', 'kubevirt-operator.yaml of the release instead of the public one'),
  new Option('--manifest-base <dir|url>', 'where releases lie, a folder per version'),
  new Option(
    '--manifest-sha256 <sum>',
    'refuse the manifest unless it has this checksum; over several minors VERSION=SUM,VERSION=SUM',
  ),
  new Option(
    '--via <versions>',
    'releases between, one of each minor: v1.6.6,v1.7.4; by default the newest',
  ).argParser(joined),
  new Option(
    '--between <what>',
    'between two minors: wait until VMs have left virt-launchers too old for the next, or none',
  )
    .choices(['wait', 'none'])
    .default('wait'),
  new Option('--rewrite-namespace', 'move a manifest of another namespace into that of the operator'),
  new Option('--catalog-file <file>', 'file-based catalog that tells the path of HyperConverged beforehand'),
  new Option(
    '--approve-also <name>',
    'CSV or package that the InstallPlan may install besides (repeatable)',
  ).argParser(joined),
  new Option('--image-registry <registry>', 'registry that the images come from'),
  new Option('--stable-for <duration>', 'how long it has to stay good before it counts as done').default(
    '30s',
  ),
  new Option('--no-pause-updates', 'let KubeVirt move VMs while the control plane rolls'),
  new Option('--leave-paused', 'end before the workload update methods are given back'),
  new Option(
    '--wait-workloads',
    'wait until no VM is left on the old virt-launcher but those that stay; hold again where VMs come to harm',
  ),
  new Option('--migrations <how>', 'what to do with migrations in flight')
    .choices(['wait', 'cancel', 'ignore'])
    .default('wait'),
  new Option('--migrations-timeout <duration>', 'how long to wait for migrations in flight').default('30m'),
  new Option(
    '--follow',
    'where Helm or GitOps owns KubeVirt: say what to commit, wait and judge, write nothing there',
  ),
  new Option('--releases <file>', 'release data to judge by instead of the built-in'),
  acceptWithReason(),
]

/** How a plan is carried out. */
export const runningFlags = (): Option[] => [
  new Option('--plan <file>', 'carry out this plan of kvup plan, unchanged or not at all; - for stdin'),
  new Option(
    '--backup <file>',
    'where the replaced operator objects are saved (default: kvup-backup-VERSION.yaml)',
  ),
  new Option('--timeout <duration>', 'how long the run may take; over several minors, each of them').default(
    '60m',
  ),
  new Option('--dry-run <none|client|server>', 'show what would change, change nothing').argParser(noFlag),
  new Option('--deadline <time>', 'start nothing that would pass it: 04:30 or 2026-11-22T04:30:00Z'),
  new Option('--until <step>', 'end after this step'),
  new Option('--pause-before <step>', 'end before this step (repeatable)')
    .argParser(list)
    .default([], 'none'),
  new Option('--take-over <holder>', 'take the lock of this holder, as history and the error print it'),
]
