import { canBeHeld, type Step } from '../engine/step.ts'
import { type AcceptedRisk, isBlocked } from '../releases/hop-findings.ts'
import { cannotRead, KvupError } from '../kube/errors.ts'
import { sealOf } from '../upgrade/sealed-facts.ts'
import { reliedOnByEus } from './sealed-window.ts'
import { onlyFlag, shellWord, withoutFlags, wordsOf } from '../kube/shell-line.ts'
import { atVersion } from '../kube/object.ts'
import { KubeVirts } from '../kube/kinds/kubevirt-kinds.ts'
import { eusProcedure } from './eus-procedure.ts'
import { windowOf } from './window.ts'
import { itemsOf } from '../kube/known.ts'
import { managerOf } from '../kubevirt/installation.ts'
import type { JournalReader } from '../engine/journal.ts'
import { type Clock, seconds } from '../kube/clock.ts'
import type { CommandContext } from '../kube/world.ts'
import type { Cluster, Reader } from '../kube/cluster.ts'
import { onceCached } from '../kube/read-cache.ts'
import type { EusPlan } from './plan/eus-plan.ts'
import { type EusClusterSnapshot, readEusCluster } from './plan/eus-snapshot.ts'
import { makeEusPlan } from './plan/eus-planner.ts'
import { parsePlatformMinor } from '../releases/release-versions.ts'
import { readReleases, type Releases } from '../releases/releases.ts'
import { fetchesGraph, parseUpdateGraph, type UpdateGraph } from '../releases/update-graph.ts'
import { readCatalog } from '../releases/catalog-path.ts'
import type { Finding } from '../checks/check-definition.ts'
import type { EusPlanningOptions } from './run/window-run.ts'

/** Reads what `--accept` names; throws `usage` for a name that no finding has. */
export type ReadAccepted = (words: readonly string[], releases: Releases) => readonly AcceptedRisk[]

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
  { world }: Pick<CommandContext, 'world'>,
  { cluster, clock, accepted: read }: { cluster: Cluster; clock: Clock; accepted: ReadAccepted },
  options: EusPlanningOptions,
): Promise<PlannedEus> {
  const to = options.to === undefined ? undefined : parsePlatformMinor(options.to)
  const releases = await readReleases(world, options.releases)
  const accepted = read(options.accept, releases)
  const graph = await readGraph(world, options.graphFile, to)
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

/** The graph of `--graph-file`; undefined without one. Throws `usage` for a file that cannot be read or is none. */
async function readGraph(
  world: CommandContext['world'],
  file: string | undefined,
  to: string | undefined,
): Promise<UpdateGraph | undefined> {
  if (file === undefined) return undefined
  const unread = cannotRead('graph-unread', `the update graph ${file}`, fetchesGraph(to, file))
  const text = await world.readText(file).catch(unread)
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

interface EusPlanStep extends Pick<Step, 'id' | 'title'> {
  /** `kvup eus run` can be held before it. */
  canBeHeld?: true
}

/** `kvup.io/v1alpha1 EusPlan`: what `kvup eus plan` prints. */
export interface EusPlanDocument extends EusPlan {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'EusPlan'
  /** False: the platform and its operator are at the target, and nothing is paused. */
  pending: boolean
  /** Risks that were taken by name, why and by whom (`user@host`). */
  accepted: readonly { id: string; reason?: string; by?: string }[]
  /** The steps of `kvup eus run`, in order. */
  steps: readonly EusPlanStep[]
  /** The flags that it was made with. */
  request: Readonly<Record<string, unknown>>
  /** Ties the plan to the cluster that it was made for, by the uid of its namespace kube-system. */
  seal?: { uid: string; at: string; by: string; cluster: string }
  /** What to type to carry it out; nothing where it is done already, or would be refused. */
  next?: readonly string[]
}

/** The plan as a document: sealed, with what to type next where it would not be refused. */
export async function eusPlanDocument(
  cx: Pick<CommandContext, 'world' | 'clock' | 'printer'>,
  planned: PlannedEus,
  options: EusPlanningOptions & { toFile?: string },
): Promise<EusPlanDocument> {
  const found = await plannedSteps(planned, cx)
  const plan = withUnknown(planned.plan, notKnown(found, planned.plan.to))
  const accepted = planned.accepted.map((risk) => ({ ...risk, by: cx.world.who }))
  const pending = isPending(plan)
  const document = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusPlan',
    ...plan,
    pending,
    accepted,
    steps: 'why' in found ? [] : found.steps,
    request: requestOf(plan, options),
  } as const
  const mayBegin = pending && !isBlocked(plan.findings, planned.accepted)
  return {
    ...document,
    ...sealOf(cx, reliedOnByEus(planned.snapshot), document),
    next: mayBegin ? afterEusPlan(plan, cx.world.commandLine, options.toFile) : [],
  }
}

const withUnknown = (plan: EusPlan, what: readonly string[]): EusPlan => ({
  ...plan,
  unknown: [...plan.unknown, ...what],
})

/** Where pools follow, each minor is a window of its own, whose steps are worked out when it is its turn. */
function notKnown(found: { why: string } | { to: string }, to: string): readonly string[] {
  if ('why' in found) return [`the steps: ${found.why}`]
  return found.to === to ? [] : [`the steps after ${found.to}: planned once it is reached`]
}

/** A pool that is left behind is something to do as well. */
function isPending({ hops, began, to, pools }: EusPlan): boolean {
  const isLeft = began !== to && pools.some(({ paused }) => paused)
  return (
    isLeft || hops.some(({ platform, operators }) => !platform.done || operators.some(({ done }) => !done))
  )
}

/** A default is kept as what it came to. */
function requestOf(
  { to }: EusPlan,
  { graphFile, catalogFile, releases }: EusPlanningOptions,
): Readonly<Record<string, unknown>> {
  return {
    to,
    ...(graphFile !== undefined && { graphFile }),
    ...(catalogFile !== undefined && { catalogFile }),
    ...(releases !== undefined && { releases }),
  }
}

const ofReading = { alone: ['--exit-code'], valued: ['--output', '-o', '--to-file', '--from'] }

/** What to type after `kvup eus plan`: with the file where there is one. */
function afterEusPlan(plan: EusPlan, typed: string, file: string | undefined): readonly string[] {
  const words = wordsOf(typed)
  if (file !== undefined)
    return [
      typedFor(plan, `kvup eus run --plan ${[shellWord(file), ...onlyFlag(words, '--releases')].join(' ')}`),
    ]
  const reading = withoutFlags(words, ofReading)
  const at = reading.findIndex((word, i) => word === 'plan' && reading[i - 1] === 'eus')
  const run = reading.map((word, i) => (i === at ? 'run' : word))
  return [
    `${typedFor(plan, run.join(' '))}     runs it`,
    `${reading.join(' ')} --to-file plan.yaml     saves it, for ${typedFor(plan, 'kvup eus run --plan plan.yaml')}`,
  ]
}

function stepOf(step: Step): EusPlanStep {
  const { id, title } = step
  return canBeHeld(step) ? { id, title, canBeHeld: true } : { id, title }
}

/** The steps of `kvup eus run`, as far as they are known before it, and the minor that they lead to; or why they are not. */
async function plannedSteps(
  { plan, snapshot, accepted, releases, reader }: PlannedEus,
  { clock }: { clock: Clock },
): Promise<{ steps: readonly EusPlanStep[]; to: string } | { why: string }> {
  const [kubevirt] = itemsOf(snapshot.kubevirts)
  if (kubevirt === undefined) return { why: 'there is no KubeVirt' }
  const { name, namespace = '', uid = '' } = kubevirt.metadata
  const window = windowOf(plan, {
    who: '',
    kubevirt: {
      kind: atVersion(KubeVirts, kubevirt.apiVersion.split('/').at(-1) ?? 'v1'),
      ref: { name, namespace },
      uid,
    },
    manager: managerOf(kubevirt) ?? { kind: 'plain' },
    releases,
    request: {
      accepted: accepted.map(({ id }) => id),
      approve: false,
      approveAlso: [],
      poolOrder: [],
      leaveRequested: false,
      stableMs: 30 * seconds,
      command: 'kvup eus run',
    },
  })
  try {
    const steps = await eusProcedure(window).steps({ reader, clock, journal: journalOf(snapshot) })
    return {
      steps: steps.map(stepOf),
      to: window.to,
    }
  } catch (error) {
    if (error instanceof KvupError) return { why: error.message }
    throw error
  }
}

/** What was read of it already; of a saved cluster nothing is written. */
const journalOf = ({ overrides }: PlannedEus['snapshot']): JournalReader => ({
  entries: async () => [],
  overrides: async () => itemsOf(overrides),
  kept: async () => undefined,
})
