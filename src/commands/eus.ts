import { InvalidArgumentError, Option } from 'commander'
import {
  acceptWithReason,
  asksCluster,
  dryRunOption,
  fromOption,
  KvupCommand,
  list,
  type Manual,
  measureFlags,
  stalledOption,
} from './command-options.ts'
import type { Context, Wire } from '../context.ts'
import type { EusPlanOptions } from './eus/eus-status.ts'
import type { EusStatusOptions } from '../lib/eus/run/window-status-report.ts'
import type { EusRunOptions } from '../lib/eus/run/window-run.ts'

/** Loaded when it runs: help does without. */
const planAction = async (cx: Context, options: EusPlanOptions) =>
  (await import('./eus/eus-status.ts')).planEus(cx, options)

export function eusPlanCommand(wire: Wire): KvupCommand {
  return new KvupCommand('plan')
    .flags([...eusPlanningFlags(), ...planOptions])
    .manual(planHelp)
    .action(wire<EusPlanOptions, []>(planAction))
}

const planOptions = [
  new Option('--to-file <file>', 'save the plan, for kvup eus run --plan'),
  fromOption(),
  new Option('--exit-code', 'exit 10 when something would change'),
]

const planHelp: Manual = {
  examples: [
    ['kvup eus plan', 'plan to the next EUS release'],
    ['kvup eus plan --to 4.20', 'plan up to 4.20'],
    ['kvup eus plan --graph-file graph.json --catalog-file catalog.yaml', 'every release is known'],
    ['kvup eus plan --from must-gather/', 'read a saved cluster'],
    ['kvup eus plan -o markdown', 'print it for a merge request'],
  ],
  more: `kvup eus plan changes nothing, and needs only permission to read. The cluster knows only its
next update. --graph-file (the graph of a channel, from the update service) shows the whole
upgrade path of the platform. --catalog-file (opm render of the catalog of the minor at the
end) shows that of the operator.`,
  codes: [...asksCluster, 'asked'],
}

/** Loaded when it runs: help does without. */
const runAction = async (cx: Context, options: EusRunOptions) =>
  (await import('./eus/window-command.ts')).eusRun(cx, options)

export function eusRunCommand(wire: Wire): KvupCommand {
  return new KvupCommand('run')
    .flags([...eusPlanningFlags(), ...runFlags(), ...approvingFlags(), ...windowFlags(), ...measureFlags()])
    .manual(runHelp)
    .action(wire<EusRunOptions, []>(runAction))
}

const runHelp: Manual = {
  examples: [
    ['kvup eus run --graph-file graph.json --catalog-file catalog.yaml', 'up to the first InstallPlan'],
    ['kvup eus run --approve', 'all of it, or the rest of it'],
    ['kvup eus run --plan plan.yaml', 'its releases, or none'],
    ['kvup eus run --approve --until operator-4.19', 'to the minor in between'],
    ['kvup eus run --approve --pause-before unpause-worker', 'all but the nodes'],
  ],
  more: `It may take days: Ctrl-C is safe at any time. It ends where you have to decide, where a step
takes longer than its limit, and at --timeout (24d). The same command continues, from any
computer: upgrade path and temporary changes are saved in the cluster. kvup withdraws a request
that the platform refuses.`,
  codes: [...asksCluster, 'timedOut', 'drifted', 'locked', 'lost', 'interrupted', 'terminated'],
}

const statusAction = async (cx: Context, options: EusStatusOptions) =>
  (await import('./eus/eus-status.ts')).eusStatus(cx, options)

export function eusStatusCommand(wire: Wire): KvupCommand {
  return new KvupCommand('status')
    .option('-w, --watch', 'keep watching; print every change')
    .addOption(fromOption().conflicts('watch'))
    .option('--to <minor>', 'target of an EUS upgrade that is not running')
    .option('--releases <file>', 'release data instead of the built-in')
    .manual({
      examples: [
        ['kvup eus status', 'progress, temporary changes, update requests'],
        ['kvup eus status -w', 'show it again at every change'],
        ['kvup eus status --from must-gather/', 'read a saved cluster'],
      ],
      codes: [...asksCluster, 'interrupted', 'terminated'],
    })
    .action(wire<EusStatusOptions, []>(statusAction))
}

const abortAction = async (cx: Context, options: EusRunOptions) =>
  (await import('./eus/window-command.ts')).eusAbort(cx, options)

export function eusAbortCommand(wire: Wire): KvupCommand {
  return new KvupCommand('abort')
    .flags([...keptPlanFlags(), ...approvingFlags(), ...windowFlags()])
    .manual(abortHelp)
    .action(wire<EusRunOptions, []>(abortAction))
}

const abortHelp: Manual = {
  examples: [
    ['kvup eus abort', 'ends the EUS upgrade, and restores its temporary changes'],
    ['kvup eus abort --dry-run=client', 'what it would restore'],
  ],
  more: `Before the platform accepts a step, everything is restored, the channel too. A running step ends
first: there is no way back for platform and operator, which kvup lists before the question.
After the pools, kvup restores the VMs that kvup workloads unblock changed. The same command
continues after an interruption.`,
  codes: [...asksCluster, 'timedOut', 'locked', 'lost', 'interrupted', 'terminated'],
}

/** What a plan of a window is made from: `kvup eus plan` and `kvup eus run` share them, and a sealed plan keeps their values. */
export const eusPlanningFlags = (): Option[] => [
  new Option('--to <minor>', 'minor, such as 4.20 (default the next EUS)'),
  new Option('--graph-file <file>', 'graph of the update service (JSON)'),
  new Option('--catalog-file <file>', 'catalog of the last minor (opm render)'),
  new Option('--releases <file>', 'release data instead of the built-in'),
  acceptWithReason(),
]

/**
 * The same for `kvup eus abort`, which ends what is under way: target and path are kept in the cluster, so that no help names the flags for them. A line that was typed with them works.
 */
const keptPlanFlags = (): Option[] =>
  eusPlanningFlags().map((option) => (option.long === '--accept' ? option : option.hideHelp()))

const names = (value: string, before: string[]) => [...before, ...value.split(',').map((one) => one.trim())]

function approval(value: string): 'Manual' | 'Automatic' {
  if (value === 'Manual' || value === 'Automatic') return value
  throw new InvalidArgumentError('It takes Manual or Automatic.')
}

/** What may be approved: `kvup eus run` and `kvup eus abort`, which see a hop of the operator to its end, share them. */
export const approvingFlags = (): Option[] => [
  new Option('--approve', 'approve the InstallPlans of this upgrade'),
  new Option('--approve-also <name>', 'what else an InstallPlan may install')
    .argParser(list)
    .default([], 'none'),
]

/** How steps of a window are carried out: `kvup eus run`, `abort` and `restore-settings` share them. */
export const windowFlags = (
  timeout = new Option('--timeout <duration>', 'how long the run may take').default('24d'),
): Option[] => [
  new Option('--pool-order <names>', 'order in which pools are unpaused')
    .argParser(names)
    .default([], 'by name'),
  new Option('--stable-for <duration>', 'time the cluster must stay healthy').default('30s'),
  timeout,
  new Option('--deadline <time>', 'begin no step that would end after this time'),
  new Option('--until <step>', 'end after this step'),
  new Option('--pause-before <step>', 'end before this change (repeatable)')
    .argParser(list)
    .default([], 'none'),
  dryRunOption(),
  new Option('--take-over <holder>', 'take the lock of this holder'),
]

/** What only `kvup eus run` takes. */
export const runFlags = (): Option[] => [
  new Option('--plan <file>', 'run this plan, unchanged; - for stdin'),
  new Option('--approval <how>', 'approval of the Subscription meanwhile: Manual, Automatic').argParser(
    approval,
  ),
  new Option('--leave-requested', 'leave a refused update requested'),
  stalledOption(),
]
