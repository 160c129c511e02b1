import type { Context } from '../../context.ts'
import type { AcceptedRisk } from '../../lib/checks/check-run.ts'
import type { Cluster, Reader } from '../../lib/kube/cluster.ts'
import { onceCached } from '../../lib/kube/read-cache.ts'
import type { EusPlan } from '../../lib/eus/plan/eus-plan.ts'
import { type EusClusterSnapshot, readEusCluster } from '../../lib/eus/plan/eus-snapshot.ts'
import { makeEusPlan } from '../../lib/eus/plan/eus-planner.ts'
import { parsePlatformMinor } from '../../lib/releases/release-versions.ts'
import type { Releases } from '../../lib/releases/releases.ts'
import { parseUpdateGraph, type UpdateGraph } from '../../lib/releases/update-graph.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import { usageError } from '../../lib/kube/errors.ts'
import { acceptedRisks } from '../check/checked-cluster.ts'
import { readCatalog } from '../upgrade/upgrade-target.ts'
import { readReleases } from '../read-cluster.ts'
import { type Finding, parseAccepted } from '../../lib/checks/check-definition.ts'
import { shellWord, withoutFlags, wordsOf } from '../../lib/kube/shell-line.ts'
import { InvalidArgumentError, Option } from 'commander'
import type { EusRequest } from '../../lib/eus/window.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { acceptWithReason, type DryRun, dryRunOption } from '../change-options.ts'

/** A plan, and what it was made from. */
export interface PlannedEus {
  plan: EusPlan
  snapshot: EusClusterSnapshot
  accepted: readonly AcceptedRisk[]
  releases: Releases
  /** The look: lists that it was made from are not read again. */
  reader: Reader
}

/**
 * See → plan → findings, all from one look; reads only. Throws `usage` for flags that cannot be meant, before the cluster is read, and
 * `blocked` where this is no OKD or OpenShift.
 */
export async function plannedEus(
  { world }: Pick<Context, 'world'>,
  { cluster, clock }: { cluster: Cluster; clock: Clock },
  options: EusPlanningOptions,
): Promise<PlannedEus> {
  const to = options.to === undefined ? undefined : parsePlatformMinor(options.to)
  const releases = await readReleases(world, options.releases)
  const accepted = acceptedRisks(options.accept, releases)
  const graph = await readGraph(world, options.graphFile)
  const catalog = await readCatalog(world, options.catalogFile)
  const reader = onceCached(cluster.reader)
  const snapshot = await readEusCluster({ ...cluster, reader }, clock)
  const plan = makeEusPlan(snapshot, { to, graph, catalog, releases })
  return {
    plan: { ...plan, findings: asTyped(plan.findings, options) },
    snapshot,
    accepted,
    releases,
    reader,
  }
}

async function readGraph(
  world: Context['world'],
  file: string | undefined,
): Promise<UpdateGraph | undefined> {
  if (file === undefined) return undefined
  const text = await world.readText(file).catch((cause: unknown) => {
    throw usageError(
      'graph-unread',
      `cannot read the update graph ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        remedy:
          'the update service serves one: https://api.openshift.com/api/upgrades_info/graph?channel=eus-4.20',
        cause,
      },
    )
  })
  return parseUpdateGraph(text, file)
}

/** Findings know of no command line: what they say to plan anew is made from the same files and with the same risks as what was typed, but for what they name themselves. */
export function asTyped(findings: readonly Finding[], options: EusPlanningOptions): readonly Finding[] {
  const flags = typedFlags(options)
  return findings.map((finding) =>
    Object.assign({}, finding, { remedy: finding.remedy.map((line) => withFlags(line, flags)) }),
  )
}

type Flag = readonly [name: string, value: string]

function typedFlags({ to, graphFile, catalogFile, releases, accept }: EusPlanningOptions): readonly Flag[] {
  const valued: readonly (readonly [string, string | undefined])[] = [
    ['--to', to],
    ['--graph-file', graphFile],
    ['--catalog-file', catalogFile],
    ['--releases', releases],
    ...accept.map((id) => ['--accept', id] as const),
  ]
  return valued.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

/** Behind five blanks and more it is said what the line does. */
const planLine = /^(?<line>kvup eus plan(?: \S+)*)(?<says> {5}.*)?$/su

function withFlags(remedy: string, flags: readonly Flag[]): string {
  const { line, says = '' } = planLine.exec(remedy)?.groups ?? {}
  if (line === undefined) return remedy
  const words = line.split(' ')
  const more = flags.filter(([name]) => !words.includes(name))
  return [line, ...more.map(([name, value]) => `${name} ${shellWord(value)}`)].join(' ') + says
}

/** The Subscription is Manual and a release of the operator is still to come: without `--approve` a run ends before it. */
export const approvalIsAhead = ({ operator, hops }: Pick<EusPlan, 'operator' | 'hops'>): boolean =>
  operator?.approval === 'Manual' && hops.some(({ operators }) => operators.some(({ done }) => !done))

/** A line of `kvup eus run` or `abort` as it comes to its end. */
export function typedFor(plan: Pick<EusPlan, 'operator' | 'hops'>, line: string): string {
  return approvalIsAhead(plan) && !/ --approve(?: |$)/u.test(line) ? `${line} --approve` : line
}

/** What a plan of a window is made from: `kvup eus plan` and `kvup eus run` share them, and a sealed plan keeps their values. */
export const eusPlanningFlags = (): Option[] => [
  new Option(
    '--to <minor>',
    'minor of the platform to end at, such as 4.20; default: the next with extended support',
  ),
  new Option(
    '--graph-file <file>',
    'update graph as the update service answers it (JSON): the whole way is known then',
  ),
  new Option(
    '--catalog-file <file>',
    'file-based catalog of the minor at the end: the way of the operator is known then',
  ),
  new Option('--releases <file>', 'release data to judge by instead of the built-in'),
  acceptWithReason(),
]

export interface EusPlanningOptions {
  to?: string
  graphFile?: string
  catalogFile?: string
  releases?: string
  accept: readonly string[]
}

/** As commander hands them over. */
export interface EusRunOptions extends EusPlanningOptions {
  plan?: string
  approve?: boolean
  approveAlso: string[]
  approval?: 'Manual' | 'Automatic'
  poolOrder: string[]
  leaveRequested?: boolean
  settle: string
  timeout: string
  deadline?: string
  until?: string
  pauseBefore: string[]
  dryRun?: DryRun
  takeOver?: string
}

const list = (value: string, before: string[]) => [...before, value]
const names = (value: string, before: string[]) => [...before, ...value.split(',').map((one) => one.trim())]

function approval(value: string): 'Manual' | 'Automatic' {
  if (value === 'Manual' || value === 'Automatic') return value
  throw new InvalidArgumentError('It takes Manual or Automatic.')
}

/** What may be approved: `kvup eus run` and `kvup eus abort`, which see a hop of the operator to its end, share them. */
export const approvingFlags = (): Option[] => [
  new Option(
    '--approve',
    'approve the InstallPlans that are exactly the next hop; otherwise end before each',
  ),
  new Option('--approve-also <name>', 'a CSV or package that the same InstallPlan may install (repeatable)')
    .argParser(list)
    .default([], 'none'),
]

/** How steps of a window are carried out: `kvup eus run`, `abort` and `restore` share them. */
export const windowFlags = (): Option[] => [
  new Option('--pool-order <names>', 'pools in the order in which they are unpaused, with commas')
    .argParser(names)
    .default([], 'by name'),
  new Option('--settle <duration>', 'how long everything has to stay good before it counts').default('30s'),
  new Option(
    '--timeout <duration>',
    'how long the whole run may take; a window takes days, and running again goes on',
  ).default('24d'),
  new Option('--deadline <time>', 'start nothing that would pass it: 04:30 or 2026-11-22T04:30:00Z'),
  new Option('--until <step>', 'end after this step'),
  new Option('--pause-before <step>', 'end before this step (repeatable)')
    .argParser(list)
    .default([], 'none'),
  dryRunOption(),
  new Option('--take-over <holder>', 'take the lock of this holder, as history and the error print it'),
]

/** What only `kvup eus run` takes. */
export const runFlags = (): Option[] => [
  new Option('--plan <file>', 'carry out this plan of kvup eus plan, unchanged or not at all; - for stdin'),
  new Option(
    '--approval <how>',
    'approval of the Subscription while the window is open: Manual or Automatic',
  ).argParser(approval),
  new Option(
    '--leave-requested',
    'leave an update that the platform refused requested: it starts by itself later',
  ),
]

/** `commandLine`: as it was typed. A sealed plan takes no other risk than it was made with, so that a line with one more goes without it. */
export function requestOf(options: EusRunOptions, commandLine: string): EusRequest {
  return {
    accepted: parseAccepted(options.accept).map(({ id }) => id),
    approve: options.approve ?? false,
    approveAlso: options.approveAlso,
    ...(options.approval !== undefined && { approval: options.approval }),
    poolOrder: options.poolOrder,
    leaveRequested: options.leaveRequested ?? false,
    settleMs: parseDuration(options.settle),
    command: withoutFlags(wordsOf(commandLine), { valued: ['--plan'] }).join(' '),
  }
}
