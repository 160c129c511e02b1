import type { Context } from '../../context.ts'
import { eusProcedure } from '../../lib/eus/eus-procedure.ts'
import { stepsBehind } from '../../lib/eus/window-status.ts'
import { type EusReportDocument, eusReportView } from '../../lib/output/views/eus/eus-report.ts'
import type { RunLimits } from '../../lib/engine/step.ts'
import { driftLines, driftOf, readSealed, type SealedPlan } from '../../lib/engine/sealed-plan.ts'
import { ticks } from '../../lib/kube/clock.ts'
import { drifted, type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import { connectedTo, endOf, vmsAccess, vmsText, vmsToRestore, workOnWindow } from './window-run.ts'
import { askingIn, ensureNotForgotten, type WindowSnapshot, seeWindow } from './window-snapshot.ts'
import { approvalIsAhead } from './planned-eus.ts'
import { joinedReport, reportOfWindow } from './window-report.ts'
import { outageLines } from '../../lib/output/views/eus/eus-plan.ts'
import type { Finding } from '../../lib/checks/check-definition.ts'
import { standsInTheWay } from '../../lib/eus/plan/eus-assessment.ts'
import { asSealed, sealedPath, windowWork, withPath } from '../../lib/eus/chosen-path.ts'
import { readEusCluster } from '../../lib/eus/plan/eus-snapshot.ts'
import { reliedOnByEus } from '../../lib/eus/sealed-eus-facts.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { begunSteps } from '../../lib/upgrade/sealed-facts.ts'
import { ensureSameCluster } from '../../lib/upgrade/plan/plan-document.ts'
import { limitsBefore } from '../change-options.ts'
import { gateOf } from '../run-change.ts'
import { type EusRunOptions, requestOf } from './eus-options.ts'

/** `kvup eus run`: from where the cluster stands to the end of the window; what is under way goes on. With `--plan` exactly that plan, or nothing. */
export async function eusRun(cx: Context, typed: EusRunOptions): Promise<ExitCode> {
  const { plan: file } = typed
  if (file === undefined) return runWindow(cx, typed)
  if (file === '-' && !cx.flags.yes)
    throw usageError('contradiction', 'standard input cannot carry both the plan and your answer', {
      remedy: 'add --yes, or pass the plan as a file',
    })
  const sealed = await readEusPlan(cx, file)
  return runWindow(cx, asPlanned(typed, sealed), sealed)
}

/** Where pools follow hop by hop, each is a window of its own (night E10): one after the other, until the target is reached. */
async function runWindow(cx: Context, options: EusRunOptions, sealed?: SealedPlan): Promise<ExitCode> {
  const limits = await limitsBefore(cx, options)
  const began = ticks(cx.clock)
  const reports: EusReportDocument[] = []
  for (let to = options.to; ;) {
    const timeoutMs = Math.max(1, limits.timeoutMs - (ticks(cx.clock) - began))
    const typed = { ...options, ...(to !== undefined && { to }) }
    const { report, code, next } = await oneWindow(cx, typed, { limits: { ...limits, timeoutMs }, sealed })
    reports.push(report)
    if (next === undefined) {
      const joined = joinedReport([reports[0] ?? report, ...reports.slice(1)])
      cx.printer.result(joined, eusReportView)
      return endOf(joined, code)
    }
    cx.printer.note(`platform and virtualization are at ${report.to}: on to ${next}`)
    to = next
  }
}

interface Within {
  limits: RunLimits
  sealed: SealedPlan | undefined
}

interface EndedWindow {
  report: EusReportDocument
  code: ExitCode
  /** The minor at the end of the way, where it is not reached yet. */
  next?: string
}

async function oneWindow(
  cx: Context,
  options: EusRunOptions,
  { limits: all, sealed }: Within,
): Promise<EndedWindow> {
  const request = requestOf(options, cx.world.commandLine)
  const snapshot = await seeWindow(cx, options, request, askingIn(cx, options))
  const windowSnapshot = sealed ? withSealedHops(snapshot, sealed) : snapshot
  if (!windowSnapshot.planned.accepted.some(({ id }) => id === 'pool-paused-already'))
    await ensureNotForgotten(windowSnapshot)
  ensurePools(options, windowSnapshot)
  const { past, ...limits } = limitsIn(all, {
    ...windowSnapshot,
    behind: await behindOf(cx, windowSnapshot, all),
  })
  if (past !== undefined) {
    const notes = [`${past} is done already`]
    const report = await reportOfWindow(cx, windowSnapshot, { outcome: 'nothing-to-do', steps: [], notes })
    return { report, code: exitCode.done }
  }
  const where = await connectedTo(cx)
  const machines = isLastWindow(windowSnapshot) ? await vmsToRestore(cx, windowSnapshot.cluster.reader) : []
  const ended = await workOnWindow(cx, windowSnapshot, {
    procedure: eusProcedure(windowSnapshot.window, machines),
    gate: gateOf(
      gatingFindings(windowSnapshot.planned.plan.findings, { isOpen: windowSnapshot.open !== undefined }),
      windowSnapshot.planned.accepted,
    ),
    question: questionOf(windowSnapshot),
    limits,
    dryRun: options.dryRun,
    end: 'done',
    alsoNeeds: vmsAccess(machines),
    announce: () => announceWindow(cx, windowSnapshot, [...where, ...vmsText(machines)]),
    ...(sealed && { sealed: sealed.seal.uid, ensureFits: () => ensureEusFits(cx, windowSnapshot, sealed) }),
  })
  const { to } = windowSnapshot.planned.plan
  return ended.report.outcome === 'done' && !isLastWindow(windowSnapshot) ? { ...ended, next: to } : ended
}

const isLastWindow = ({ window, planned }: WindowSnapshot): boolean => window.to === planned.plan.to

/** Asked only where a step is named. */
async function behindOf(
  { clock }: Context,
  { window, cluster: { reader }, environment: { journal } }: WindowSnapshot,
  { until, pauseBefore = [] }: RunLimits,
): Promise<(id: string) => boolean> {
  if (until === undefined && pauseBefore.length === 0) return () => false
  return stepsBehind(window, { reader, clock, journal }, until)
}

/** A pool that is not there would come last, and nobody would be told. Throws `usage`. */
function ensurePools({ poolOrder }: EusRunOptions, { planned, window }: WindowSnapshot): void {
  const { pools, hops } = planned.plan
  // At the target the same line is no mistake.
  if (pools.length === 0 && hops.length === 0) return
  const wrong = poolOrder.find((name) => !pools.some((pool) => pool.name === name))
  if (wrong === undefined) return
  throw usageError(
    'no-such-pool',
    `--pool-order names ${JSON.stringify(wrong)}, which is no pool to unpause`,
    {
      remedy:
        window.way === 'plain'
          ? 'leave it out: on this way pools are not paused, and follow the platform'
          : `the pools are: ${pools.map(({ name }) => name).join(', ')}`,
    },
  )
}

function questionOf({ window, planned, open }: WindowSnapshot): string {
  const { from } = planned.plan
  return open === undefined
    ? `Take the platform from ${from} to ${window.to}?`
    : `Go on to ${window.to}, from ${from}?`
}

/** What a person should know before the question; `where` says which cluster it is. */
export function announceWindow(
  { printer }: Context,
  windowSnapshot: WindowSnapshot,
  where: readonly string[],
): void {
  const { planned } = windowSnapshot
  const { plan } = planned
  const said = [...where, ...warnings(planned), ...meanwhile(windowSnapshot), ...course(windowSnapshot)]
  for (const line of [...said, ...outageLines(plan), ...plan.notes]) printer.note(line)
}

/** What is otherwise as long as it is open; told when it is opened. */
function meanwhile({ planned: { plan }, open }: WindowSnapshot): readonly string[] {
  if (open !== undefined) return []
  const pools = plan.pools.filter(({ paused }) => !paused).map(({ name }) => name)
  const { methods } = plan
  return [
    ...(pools.length > 0 ? [`paused until the end: pools ${pools.join(', ')}; master never`] : []),
    ...(methods.length > 0 ? [`workload updates (${methods.join(', ')}) stop until the end`] : []),
    // Of a window with paused pools its notes say it.
    ...(methods.length > 0 && plan.way === 'plain'
      ? ['hotplug of CPU, memory and networks and changes of volumes wait meanwhile']
      : []),
  ]
}

function course({ window, planned: { plan } }: WindowSnapshot): readonly string[] {
  const endsEarly = approvalIsAhead(plan) && !window.request.approve
  return [
    `by ${window.hops.map(({ minor }) => minor).join(', then ') || window.to}`,
    `takes ${plan.time.says}`,
    ...(endsEarly
      ? ['ends before each InstallPlan, for the Subscription is Manual: --approve goes on behind them']
      : []),
    'it may take days: leave it with Ctrl-C at any time, and run it again anywhere to go on',
  ]
}

/** What is no reason to refuse it, and not taken by name either. */
function warnings({ plan, accepted }: WindowSnapshot['planned']): readonly string[] {
  return plan.findings
    .filter(({ id, level }) => level === 'warning' && !accepted.some((risk) => risk.id === id))
    .map(({ id, summary }) => `warning: ${summary} (${id})`)
}

const ofHop =
  /^(?:gate|channel|request|accepted|platform|control-plane|operator|operator-channel|operator-releases|operator-way)-(?<minor>\d+\.\d+)$/u

/** The minor of the hop that a step belongs to; undefined where every window has such a step, or none. */
const minorOfStep = (id: string): string | undefined => ofHop.exec(id)?.groups?.['minor']

/**
 * The limits as far as they concern this window: steps of the hops that come in windows behind it, or that are `behind` us already, are none of its own. `past`: what
 * --until names is.
 */
export function limitsIn(
  limits: RunLimits,
  {
    window,
    planned: { plan },
    behind,
  }: Pick<WindowSnapshot, 'window' | 'planned'> & { behind: (id: string) => boolean },
): RunLimits & { past?: string } {
  const own = new Set(window.hops.map(({ minor }) => minor))
  const all = new Set(plan.hops.map(({ minor }) => minor))
  const isElsewhere = (id: string) => {
    const minor = minorOfStep(id)
    return behind(id) || (minor !== undefined && !own.has(minor) && all.has(minor))
  }
  const { until, pauseBefore = [] } = limits
  return {
    ...limits,
    until: until === undefined || isElsewhere(until) ? undefined : until,
    pauseBefore: pauseBefore.filter((id) => !isElsewhere(id)),
    ...(until !== undefined && behind(until) && { past: until }),
  }
}

/**
 * The findings that a run is refused for. In a window that is open steps judge anew what moves with it, and wait for what passes: findings
 * about it would keep a run that was cut off from going on.
 */
export function gatingFindings(
  findings: readonly Finding[],
  { isOpen }: { isOpen: boolean },
): readonly Finding[] {
  return isOpen ? findings.filter(({ id }) => standsInTheWay.has(id)) : findings
}

/** Reads `--plan FILE`, or standard input. Throws `usage` for what is no whole plan of `kvup eus plan`. */
export async function readEusPlan({ world }: Pick<Context, 'world'>, file: string): Promise<SealedPlan> {
  if (file === '-') return readSealed(await world.readStdin(), 'standard input', 'EusPlan')
  const text = await world.readText(file).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw usageError('plan-missing', `cannot read the plan ${file}: ${why}`, {
      remedy: `kvup eus plan --to-file ${shellWord(file)}`,
      cause,
    })
  })
  return readSealed(text, file, 'EusPlan')
}

/** Target, files and accepted risks are the plan's. Throws `usage` for a flag that would make another one. */
export function asPlanned(typed: EusRunOptions, { request, accepted, file }: SealedPlan): EusRunOptions {
  const differing = (['to', 'graphFile', 'catalogFile', 'releases'] as const).find(
    (name) => typed[name] !== undefined && typed[name] !== request[name],
  )
  const more = typed.accept.filter((word) => !accepted.some(({ id }) => word.split('=')[0] === id))
  if (differing !== undefined || more.length > 0)
    throw usageError(
      'contradiction',
      `--plan carries out what ${file} says, and ${differing === undefined ? `--accept ${more[0] ?? ''}` : planningFlag(differing)} says something else`,
      { remedy: `kvup eus plan --to-file ${shellWord(file)}      makes a plan with it` },
    )
  const text = (name: string) => (typeof request[name] === 'string' ? { [name]: request[name] } : {})
  return {
    ...typed,
    ...text('to'),
    ...text('graphFile'),
    ...text('catalogFile'),
    ...text('releases'),
    accept: accepted.map(({ id }) => id),
  }
}

const planningFlag = (name: string): string => `--${name.replace('File', '-file')}`

/** The same window with the releases that were sealed. */
export const withSealedHops = (windowSnapshot: WindowSnapshot, { document }: SealedPlan): WindowSnapshot => ({
  ...windowSnapshot,
  window: withPath(
    { ...windowSnapshot.window, hops: asSealed(windowSnapshot.window.hops, document) },
    sealedPath(document),
  ),
})

/** The cluster is the one that the plan was made for, and stands as it stood then or as the plan's own steps leave it. Throws `drifted` (5). */
export async function ensureEusFits(
  cx: Context,
  windowSnapshot: WindowSnapshot,
  sealed: SealedPlan,
): Promise<void> {
  const { seal, file } = sealed
  const snapshot = await readEusCluster(windowSnapshot.cluster, cx.clock)
  const { platform, lifecycle, hyperconverged, clusterUid } = snapshot
  const { clusterVersion, pools } = platform
  const { subscriptions } = lifecycle
  const now = reliedOnByEus({ clusterVersion, pools, subscriptions, hyperconverged, clusterUid })
  ensureSameCluster(file, seal.cluster, now.cluster)
  const begun = begunSteps(await windowSnapshot.environment.journal.entries(), seal.uid)
  const lines = driftLines(driftOf(seal.facts, now, windowWork(begun)))
  if (lines.length === 0) return
  throw drifted(
    'drifted',
    `the cluster is no longer as it was when ${file} was made (${seal.at}); nothing was changed`,
    {
      notes: lines.slice(0, 20),
      remedy: `${planAnewLine(sealed)}      makes it anew; look at what is different before you use it`,
    },
  )
}

/** The line that makes such a plan again: with the flags that this one was made with, and into another file, for somebody has reviewed the first. */
export function planAnewLine({
  request,
  accepted,
  file,
}: Pick<SealedPlan, 'request' | 'accepted' | 'file'>): string {
  const flags = Object.entries(request).flatMap(([name, value]) =>
    typeof value === 'string' ? [flagOfRequest(name), shellWord(value)] : [],
  )
  const risks = accepted.flatMap(({ id }) => ['--accept', shellWord(id)])
  return ['kvup eus plan', ...flags, ...risks, '--to-file', shellWord(contextOf(file))].join(' ')
}

/** `graphFile` is `--graph-file`. */
const flagOfRequest = (name: string): string =>
  `--${name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`

/** `plan.yaml` → `plan.new.yaml`. Standard input has no name. */
function contextOf(file: string): string {
  if (file === 'standard input') return 'plan.new.yaml'
  const named = /^(?<name>.*[^/])(?<end>\.[^./]+)$/u.exec(file)?.groups
  return named === undefined ? `${file}.new` : `${named['name']}.new${named['end']}`
}
