import { parseAccepted } from '../../releases/hop-findings.ts'
import { withoutFlags, wordsOf } from '../../kube/shell-line.ts'
import { parseDuration } from '../../kube/duration.ts'
import {
  type DryRun,
  type ChangingCommand,
  type RunEnvironment,
  runEnvironment,
} from '../../engine/change.ts'
import type { Cluster } from '../../kube/cluster.ts'
import { onceCached } from '../../kube/read-cache.ts'
import { isLeftUnclosed } from '../abort-procedure.ts'
import { type EusRequest, type EusWindow, windowOf } from '../window.ts'
import { isOfWindow, targetOfName, windowName } from '../../engine/overrides.ts'
import { pathKept, onKeptPath } from '../chosen-path.ts'
import { type Baseline, keptBaseline } from '../baseline.ts'
import { readPlatform } from '../steps/cluster-version-status.ts'
import { type Installation, theInstallation } from '../../kubevirt/installation.ts'
import { takeSnapshot } from '../../kubevirt/snapshot.ts'
import { type Journal, type JournalReader, type Override, RememberedJournal } from '../../engine/journal.ts'
import { platformMinor } from '../../releases/platform-releases.ts'
import { minorOfPlatform, parsePlatformMinor } from '../../releases/release-versions.ts'
import { blocked } from '../../kube/errors.ts'
import { ownerOf } from '../../upgrade/upgrade-plan.ts'
import { type PlannedEus, plannedEus, type ReadAccepted } from '../planned-eus.ts'
import type { EusPlan } from '../plan/eus-plan.ts'
import { windowIn } from '../plan/eus-snapshot.ts'

/** A window and all that is needed to work on it. */
export interface WindowSnapshot {
  cluster: Cluster
  installation: Installation
  window: EusWindow
  planned: PlannedEus
  environment: RunEnvironment
  /** Open ones of any window. */
  loans: readonly Override[]
  /** The minor that the open window leads to: something is borrowed for it, or a hop was accepted and it was not finished. Undefined where none is open. */
  open: string | undefined
}

/**
 * Looks, and makes the plan anew from where the cluster stands. A window that is open keeps its target, whatever the next one would be. Throws
 * `blocked` where another target is asked for in an open window, and what `plannedEus` and `settle` throw.
 */
export async function seeWindow(
  cx: ChangingCommand,
  options: EusPlanningOptions & { takeOver?: string },
  request: EusRequest,
  { accepted, settle }: Asking,
): Promise<WindowSnapshot> {
  const cluster = await cx.cluster()
  const reader = onceCached(cluster.reader)
  const installation = theInstallation(await takeSnapshot(reader, [], cx.clock))
  const { namespace, manager } = installation
  const environment = runEnvironment(cx, cluster, { namespace, takeOver: options.takeOver })
  await settle?.(environment.journal)
  const journal = new RememberedJournal(environment.journal)
  const loans = (await journal.loans()).filter(isOfWindow)
  const { to, begun, kept } = await meantBy(options, { cluster, journal, loans })
  const planned = await plannedEus(
    cx,
    { cluster: { ...cluster, reader }, clock: cx.clock, accepted },
    { ...options, ...(to && { to }) },
  )
  const isOpen = loans.length > 0 || (kept !== undefined && hasMoved(kept, planned.plan.from))
  const open = isOpen ? begun : undefined
  const { who } = cx.world
  const { releases } = planned
  const kubevirt = ownerOf(installation)
  const fresh = windowOf(planned.plan, { who, kubevirt, manager, releases, request }, kept)
  const way = open === undefined ? undefined : await pathKept(journal, windowName(open))
  const window = onKeptPath(fresh, way, options)
  return { cluster, installation, window, planned, environment, loans, open }
}

/** What becomes of saved values that are missing, before anything is judged by the journal. */
export type Settling = (journal: Journal) => Promise<void>

/** What lies above this room: the names of findings, and who is asked about saved values. */
export interface Asking {
  accepted: ReadAccepted
  settle?: Settling
}

const targetOf = ([loan]: readonly Override[]): string | undefined => loan && targetOfName(loan.procedure)

interface Meant {
  /** The minor that is planned for; undefined: the next one. */
  to: string | undefined
  /** The minor that the window leads to which was begun and not finished. */
  begun: string | undefined
  /** Of that window, where it is the one that is meant. */
  kept: Baseline | undefined
}

async function meantBy(
  options: EusPlanningOptions,
  { cluster, journal, loans }: { cluster: Cluster; journal: JournalReader; loans: readonly Override[] },
): Promise<Meant> {
  const lent = targetOf(loans)
  const begun = lent ?? (await unfinishedTarget(journal))
  const kept = begun === undefined ? undefined : await keptBaseline(journal, windowName(begun))
  const goal = kept?.goal ?? begun
  const to = targetFor(options, lent, goal) ?? (await reachedTarget(cluster, journal))
  const isMeant = lent !== undefined || to === goal
  return { to, begun, kept: isMeant ? kept : undefined }
}

/**
 * Nothing of it is borrowed, yet or any more, and it was never said to be finished: a run was cut off at its very beginning or end. Not one whose settings were all given
 * back by name: that is over.
 */
async function unfinishedTarget(journal: JournalReader): Promise<string | undefined> {
  const last = (await journal.entries()).findLast(({ procedure }) => targetOfName(procedure) !== undefined)
  const to = last && targetOfName(last.procedure)
  if (to === undefined || (await isLeftUnclosed(journal, windowName(to)))) return undefined
  return (await keptBaseline(journal, windowName(to))) ? to : undefined
}

const hasMoved = ({ from }: Baseline, now: string): boolean => minorOfPlatform(from) !== minorOfPlatform(now)

/** Who runs it again at the end of a window does not mean the next one. */
async function reachedTarget({ reader }: Cluster, journal: JournalReader): Promise<string | undefined> {
  const last = (await journal.entries()).findLast(
    ({ what, procedure }) => what === 'finished' && targetOfName(procedure) !== undefined,
  )
  const to = last && targetOfName(last.procedure)
  if (to === undefined) return undefined
  const { platformStatus } = await readPlatform(reader)
  return minorOfPlatform(platformStatus.version) === to && isAnEnd(to, platformStatus.version)
    ? to
    : undefined
}

/** On OpenShift a minor without extended support is one in between, unless somebody says --to; on OKD each is as good as the next. */
const isAnEnd = (minor: string, release: string | undefined): boolean =>
  platformMinor(minor)?.eus !== false || release?.includes('okd') === true

/** Where windows follow one another the end of the way is meant as well. */
function targetFor({ to }: EusPlanningOptions, open: string | undefined, goal = open): string | undefined {
  const asked = to === undefined ? undefined : parsePlatformMinor(to)
  if (open === undefined || asked === undefined || asked === open || asked === goal) return asked ?? goal
  throw blocked('another-window', `a window to ${open} is open, and ${asked} was asked for`, {
    remedy: ['kvup eus status', 'kvup eus run     goes on', 'kvup eus abort     ends it'],
  })
}

/**
 * A journal that was deleted half-way took the kept values with it: nothing is guessed. Throws `blocked` with what the cluster itself still shows, and
 * with the commands that a person decides about.
 */
export function ensureDeducible({ loans, planned: { plan } }: WindowSnapshot): void {
  const arePaused = plan.pools.some(({ paused }) => paused)
  if (loans.length > 0 || !(arePaused || isEmptied(plan))) return
  const what = arePaused ? pausedText(plan) : 'workload update methods were emptied by kvup'
  const otherwise = arePaused ? 'somebody else paused them' : 'somebody had kvup set them so'
  throw blocked(
    'window-not-in-journal',
    `${what}, and the journal knows of no window: it was deleted, or ${otherwise}`,
    { notes: deductions(plan), remedy: rollbackHints(plan) },
  )
}

/** The hold is the first that a window borrows: without its loan nothing else tells of it. */
const isEmptied = ({ findings }: EusPlan): boolean =>
  findings.some(({ id, level }) => id === 'methods-empty-without-loan' && level === 'blocker')

const rollbackHints = (plan: EusPlan): readonly string[] => [
  ...plan.pools
    .filter(({ paused }) => paused)
    .map(
      ({ name }) =>
        `oc patch machineconfigpool ${name} --type=merge -p '{"spec":{"paused":false}}'     its nodes follow the platform then`,
    ),
  'kvup workloads strategy set --methods LiveMigrate     where the methods are empty and should not be',
  `kvup eus run ${acceptingAll(plan)}     goes on; what is so now stays so at the end`,
]

function acceptingAll(plan: EusPlan): string {
  const ids = [
    ...(plan.pools.some(({ paused }) => paused) ? ['pool-paused-already'] : []),
    ...(isEmptied(plan) ? ['methods-empty-without-loan'] : []),
  ]
  return ids.map((id) => `--accept ${id}`).join(' ')
}

/** The same for who goes on: where the window was brought to its end pools are paused by others. */
export async function ensureNotForgotten(windowSnapshot: WindowSnapshot): Promise<void> {
  const entries = await windowSnapshot.environment.journal.entries()
  const isOver = entries.some(
    ({ what, procedure }) => what === 'finished' && procedure === windowSnapshot.window.name,
  )
  if (!isOver && isForgotten(windowSnapshot)) ensureDeducible(windowSnapshot)
}

/** Pools that are paused while the control plane stands where they are may be anybody's; behind it they are a window. */
const isForgotten = ({ planned: { snapshot } }: WindowSnapshot): boolean => windowIn(snapshot)?.by === 'pools'

/** For who only looks: a window is open by what the cluster shows, and the journal knows of none. */
export function forgotten(
  windowSnapshot: WindowSnapshot,
): { unknown: readonly string[]; next: readonly string[] } | undefined {
  if (!isForgotten(windowSnapshot)) return undefined
  const { plan } = windowSnapshot.planned
  const unknown = [
    `what is borrowed: ${pausedText(plan)}, and the journal knows of no window`,
    ...deductions(plan),
  ]
  return { unknown, next: rollbackHints(plan) }
}

function pausedText({ pools }: EusPlan): string {
  const names = pools.filter(({ paused }) => paused).map(({ name }) => name)
  return `${names.length === 1 ? 'pool' : 'pools'} ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} paused`
}

function methodsText({ methods, methodsUnknown }: EusPlan): string {
  if (methodsUnknown) return 'workload update methods could not be read'
  return methods.length === 0
    ? 'workload update methods are empty: what they were is not known'
    : `workload update methods are ${methods.join(', ')}`
}

function deductions(plan: EusPlan): readonly string[] {
  const { began, from, healthChecks } = plan
  const checks = healthChecks.filter(({ paused }) => paused)
  return [
    `by the kubelets of the paused pools it began at ${began}; the platform is at ${from}`,
    methodsText(plan),
    ...checks.map(({ kind, name }) => `${kind} ${name} is paused`),
  ]
}

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
