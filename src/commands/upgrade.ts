import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import {
  acceptWithReason,
  asksCluster,
  list,
  type Manual,
  measureFlags,
  stalledOption,
  KvupCommand,
} from './command-options.ts'
import type { UpgradeOptions } from '../lib/upgrade/plan/upgrade-options.ts'

/** Loaded when it runs: help does without. */
const lazyAction = async (cx: Context, options: UpgradeOptions) =>
  (await import('./upgrade/upgrade.ts')).upgrade(cx, options)

export function upgradeCommand(wire: Wire): KvupCommand {
  return new KvupCommand('upgrade')
    .flags([...planningFlags(), ...runningFlags()])
    .manual(text)
    .action(wire<UpgradeOptions, []>(lazyAction))
}

const text: Manual = {
  examples: [
    ['kvup upgrade --to v1.8.4', 'upgrade by the method that fits'],
    ['kvup upgrade --to v1.8.4 --dry-run=server', 'show what would change'],
    ['kvup upgrade --plan plan.yaml --yes', 'run a plan that was reviewed'],
  ],
  codes: [...asksCluster, 'timedOut', 'drifted', 'locked', 'lost', 'interrupted', 'terminated'],
}

/** As a sealed plan keeps them: one text. */
const joined = (value: string, before?: string) => (before === undefined ? value : `${before},${value}`)

/** What a plan is made from: `kvup plan` and `kvup upgrade` share them, and a sealed plan keeps their values. */
export const planningFlags = (): Option[] => [
  new Option('--to <version>', 'version of KubeVirt, or of HyperConverged'),
  new Option('--method <method>', 'method')
    .choices(['auto', 'image-tag', 'operator-manifest', 'olm'])
    .default('auto'),
  new Option('--manifest <file|url|->', 'operator manifest, not the public one'),
  new Option('--manifest-base <dir|url>', 'folder or site with a folder per version'),
  new Option('--manifest-sha256 <sum>', 'checksum of the manifest, or VERSION=SUM'),
  new Option('--via <versions>', 'releases in between: v1.6.6,v1.7.4').argParser(joined),
  new Option('--between <what>', 'wait between minors').choices(['wait', 'none']).default('wait'),
  new Option('--rewrite-namespace', 'use the namespace of this KubeVirt'),
  new Option('--catalog-file <file>', 'file-based catalog with the upgrade path'),
  new Option('--approve-also <name>', 'what else an InstallPlan may install').argParser(joined),
  new Option('--image-registry <registry>', 'registry of the images'),
  new Option('--stable-for <duration>', 'time KubeVirt must stay healthy').default('30s'),
  new Option('--no-pause-updates', 'let KubeVirt move VMs during the upgrade'),
  new Option('--leave-paused', 'leave automatic VM updates paused at the end'),
  new Option('--wait-workloads', 'wait until VMs are updated'),
  new Option('--migrations <how>', 'what to do about running migrations')
    .choices(['wait', 'cancel', 'ignore'])
    .default('wait'),
  new Option('--migrations-timeout <duration>', 'how long to wait for migrations').default('30m'),
  new Option('--follow', 'say what to commit, then watch (Helm, GitOps)'),
  new Option('--releases <file>', 'release data instead of the built-in'),
  acceptWithReason(),
]

/** How a plan is carried out. */
export const runningFlags = (): Option[] => [
  new Option('--plan <file>', 'run this plan, unchanged; - for stdin'),
  new Option('--rehearsal <file>', 'compare with what kvup rehearse saved'),
  new Option('--backup <file>', 'file for the objects that are replaced'),
  new Option('--timeout <duration>', 'limit of each minor (60m or twice estimated)'),
  stalledOption(),
  new Option('--dry-run <none|client|server>', 'show what would change, change nothing'),
  new Option('--deadline <time>', 'begin no step that would end after this time'),
  new Option('--until <step>', 'end after this step'),
  new Option('--pause-before <step>', 'end before this change (repeatable)')
    .argParser(list)
    .default([], 'none'),
  new Option('--take-over <holder>', 'take the lock of this holder'),
  ...measureFlags(),
]
