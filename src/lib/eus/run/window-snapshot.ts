import type { Cluster } from '../../kube/cluster.ts'
import { onceCached } from '../../kube/read-cache.ts'
import { type AbortState, isLeftUnclosed, stateSince } from '../abort-procedure.ts'
import { type EusRequest, type EusWindow, windowOf } from '../window.ts'
import { isOfWindow, targetOfName, windowName } from '../../engine/overrides.ts'
import { type Baseline, keptBaseline, onKeptPath, pathKept } from '../baseline.ts'
import { armedByOthersText, ourRequest, readPlatform } from '../steps/cluster-version-status.ts'
import { type Installation, theInstallation } from '../../kubevirt/installation.ts'
import { takeSnapshot } from '../../kubevirt/snapshot.ts'
import { type Journal, type JournalReader, type Override, rememberedJournal } from '../../engine/journal.ts'
import { platformMinor } from '../../releases/platform-releases.ts'
import { minorOfPlatform, parsePlatformMinor } from '../../releases/release-versions.ts'
import { type ChangingCommand, type RunEnvironment, runEnvironment } from '../../engine/change.ts'
import { blocked, KvupError, usageError } from '../../kube/errors.ts'
import { ownerOf } from '../../upgrade/upgrade-plan.ts'
import { approvalIsAhead, type PlannedEus, plannedEus, type ReadAccepted } from '../planned-eus.ts'
import { type EusPlan, poolRolls } from '../plan/eus-plan.ts'
import { standsInTheWay, windowIn } from '../plan/eus-snapshot.ts'
import type { EusPlanningOptions, EusRunOptions } from './window-run.ts'
import { overridesText, stepsBehind } from '../window-status.ts'
import { rangeWords } from '../../upgrade/upgrade-duration.ts'
import { keptText, overrideNamed } from '../settings/eus-settings.ts'
import type { CommandContext } from '../../kube/world.ts'
import { cannotBeHeld, type RunLimits } from '../../engine/step.ts'
import type { Finding } from '../../checks/check-definition.ts'

/** A window and all that is needed to work on it. */
export interface WindowSnapshot {
  cluster: Cluster
  installation: Installation
  window: EusWindow
  planned: PlannedEus
  environment: RunEnvironment
  /** Open ones of any window. */
  overrides: readonly Override[]
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
  const journal = rememberedJournal(environment.journal)
  const overrides = (await journal.overrides()).filter(isOfWindow)
  const { to, begun, kept } = await meantBy(options, { cluster, journal, overrides })
  const planned = await plannedEus(
    cx,
    { cluster: { ...cluster, reader }, clock: cx.clock, accepted },
    { ...options, ...(to && { to }) },
  )
  const isOpen = overrides.length > 0 || (kept !== undefined && hasMoved(kept, planned.plan.from))
  const open = isOpen ? begun : undefined
  const { who } = cx.world
  const { releases } = planned
  const kubevirt = ownerOf(installation)
  const fresh = windowOf(planned.plan, { who, kubevirt, manager, releases, request }, kept)
  const chosen = open === undefined ? undefined : await pathKept(journal, windowName(open))
  const window = onKeptPath(fresh, chosen, options)
  return { cluster, installation, window, planned, environment, overrides, open }
}

/** What becomes of saved values that are missing, before anything is judged by the journal. */
export type Settling = (journal: Journal) => Promise<void>

/** What lies above this room: the names of findings, and who is asked about saved values. */
export interface Asking {
  accepted: ReadAccepted
  settle?: Settling
}

const targetOf = ([override]: readonly Override[]): string | undefined =>
  override && targetOfName(override.procedure)

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
  {
    cluster,
    journal,
    overrides,
  }: { cluster: Cluster; journal: JournalReader; overrides: readonly Override[] },
): Promise<Meant> {
  const vms = targetOf(overrides)
  const begun = vms ?? (await unfinishedTarget(journal))
  const kept = begun === undefined ? undefined : await keptBaseline(journal, windowName(begun))
  const goal = kept?.goal ?? begun
  const to = targetFor(options, vms, goal) ?? (await reachedTarget(cluster, journal))
  const isMeant = vms !== undefined || to === goal
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
  throw blocked('another-window', `an EUS upgrade to ${open} is running, but you asked for ${asked} `, {
    remedy: ['kvup eus status', 'kvup eus run     continues it', 'kvup eus abort     ends it'],
  })
}

/**
 * A journal that was deleted half-way took the kept values with it: nothing is guessed. Throws `blocked` with what the cluster itself still shows, and
 * with the commands that a person decides about.
 */
export function ensureDeducible({ overrides, planned: { plan } }: WindowSnapshot): void {
  const arePaused = plan.pools.some(({ paused }) => paused)
  if (overrides.length > 0 || !(arePaused || isEmptied(plan))) return
  const what = arePaused ? pausedText(plan) : 'kvup emptied workloadUpdateMethods'
  const otherwise = arePaused ? 'someone else paused them' : 'someone used kvup to set it'
  throw blocked(
    'window-not-in-journal',
    `${what}, but the journal has no EUS upgrade: it was deleted, or ${otherwise}`,
    { notes: deductions(plan), remedy: rollbackHints(plan) },
  )
}

/** The hold is the first that a window borrows: without its override nothing else tells of it. */
const isEmptied = ({ findings }: EusPlan): boolean =>
  findings.some(({ id, level }) => id === 'methods-empty-without-override' && level === 'blocker')

const rollbackHints = (plan: EusPlan): readonly string[] => [
  ...plan.pools
    .filter(({ paused }) => paused)
    .map(
      ({ name }) =>
        `oc patch machineconfigpool ${name} --type=merge -p '{"spec":{"paused":false}}'     its nodes follow the platform then, and reboot`,
    ),
  'kvup workloads strategy set --methods LiveMigrate     if automatic VM updates should be on',
  `kvup eus run ${acceptingAll(plan)}     continues, and leaves these as they are at the end`,
]

function acceptingAll(plan: EusPlan): string {
  const ids = [
    ...(plan.pools.some(({ paused }) => paused) ? ['pool-paused-already'] : []),
    ...(isEmptied(plan) ? ['methods-empty-without-override'] : []),
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
    `the temporary changes: ${pausedText(plan)}, but the journal has no EUS upgrade`,
    ...deductions(plan),
  ]
  return { unknown, next: rollbackHints(plan) }
}

function pausedText({ pools }: EusPlan): string {
  const names = pools.filter(({ paused }) => paused).map(({ name }) => name)
  return `${names.length === 1 ? 'pool' : 'pools'} ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} paused`
}

function methodsText({ methods, methodsUnknown }: EusPlan): string {
  if (methodsUnknown) return 'kvup could not read workloadUpdateMethods'
  return methods.length === 0
    ? 'workloadUpdateMethods is empty: its earlier value is unknown'
    : `workloadUpdateMethods is ${methods.join(', ')}`
}

function deductions(plan: EusPlan): readonly string[] {
  const { began, from, healthChecks } = plan
  const checks = healthChecks.filter(({ paused }) => paused)
  return [
    `the kubelets of the paused pools show that it started at ${began}; the platform is at ${from}`,
    methodsText(plan),
    ...checks.map(({ kind, name }) => `${kind} ${name} is paused`),
  ]
}

export const isLastWindow = ({ window, planned }: WindowSnapshot): boolean => window.to === planned.plan.to

/** Asked only where a step is named. */
export async function behindOf(
  { clock }: CommandContext,
  { window, cluster: { reader }, environment: { journal } }: WindowSnapshot,
  { until, pauseBefore = [] }: RunLimits,
): Promise<(id: string) => boolean> {
  if (until === undefined && pauseBefore.length === 0) return () => false
  return stepsBehind(window, { reader, clock, journal }, until)
}

/** A pool that is not there would come last, and nobody would be told. Throws `usage`. */
export function ensurePools({ poolOrder }: EusRunOptions, { planned, window }: WindowSnapshot): void {
  const { pools, hops } = planned.plan
  // At the target the same line is no mistake.
  if (pools.length === 0 && hops.length === 0) return
  const wrong = poolOrder.find((name) => !pools.some((pool) => pool.name === name))
  if (wrong === undefined) return
  throw usageError(
    'no-such-pool',
    `--pool-order names ${JSON.stringify(wrong)}, which is not a paused pool`,
    {
      remedy:
        window.mode === 'rolling'
          ? 'omit it: in this upgrade no pool is paused'
          : `the pools are: ${pools.map(({ name }) => name).join(', ')}`,
    },
  )
}

export function windowQuestion({ window, planned, open }: WindowSnapshot): string {
  const { from, operator } = planned.plan
  const path = `the EUS upgrade ${window.began} → ${window.to}`
  const parts = ['platform', ...(operator === undefined ? [] : ['virtualization']), 'nodes'].join(', ')
  return open === undefined ? `Start ${path} (${parts})?` : `Continue ${path} (now at ${from})?`
}

export const endsBeforeApprovals =
  'ends before each InstallPlan, because the Subscription is Manual: --approve approves them'

/** Nobody said that kvup may approve what OLM waits with: the run ends there. */
export const endsAtApprovals = ({
  window,
  planned: { plan },
}: Pick<WindowSnapshot, 'planned' | 'window'>): boolean => approvalIsAhead(plan) && !window.request.approve

const ofHop =
  /^(?<kind>gate|channel|request|accepted|platform|control-plane|operator|operator-channel|operator-releases|operator-way)-(?<minor>\d+\.\d+)$/u

/** The minor of the hop that a step belongs to; undefined where every window has such a step, or none. */
const minorOfStep = (id: string): string | undefined => ofHop.exec(id)?.groups?.['minor']

/** Hours later the window that they belong to would refuse them. */
function ensureHeld(ids: readonly string[]): void {
  for (const id of ids) {
    const { kind = 'channel', minor } = ofHop.exec(id)?.groups ?? {}
    if (!/channel$|^request$/u.test(kind))
      throw cannotBeHeld(id, comesFirst.has(kind) ? undefined : `request-${minor}`)
  }
}

/** Checks before anything of a hop is changed. */
const comesFirst: ReadonlySet<string> = new Set(['gate', 'operator-way'])

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
  ensureHeld(pauseBefore.filter(isElsewhere))
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
export const gatingFindings = (
  findings: readonly Finding[],
  { isOpen }: { isOpen: boolean },
): readonly Finding[] => (isOpen ? findings.filter(({ id }) => standsInTheWay.has(id)) : findings)

/** Said before the question: what an abort gives back. Past an accepted hop channel and request stay (night E2). */
export function restoredText(overrides: readonly Override[], { accepted }: AbortState): readonly string[] {
  const back = accepted
    ? overrides.filter(({ id }) => id !== 'platform-channel' && id !== 'desired-update')
    : overrides
  const text = overridesText(back)
  return [text === '' ? 'There is no temporary change to restore' : `Abort restores: ${text}`]
}

/** How long it takes, and where it would end early. */
export function timeAndApproval(
  { overrides, planned, window }: Pick<WindowSnapshot, 'overrides' | 'planned' | 'window'>,
  { accepted, running, at, leavesMinor }: AbortState,
): readonly string[] {
  const { plan } = planned
  const vms = plan.pools.filter(({ name }) => overrides.some(({ id }) => id === `pool-paused/${name}`))
  const [rest, rolls] = [
    running ? `the rest of the step to ${at}, and then ` : '',
    rangeWords(poolRolls(vms)),
  ]
  return [
    accepted && vms.length > 0
      ? `Takes ${rest}${rolls} until the nodes are updated, plus time for VM migrations and blocked drains`
      : `Takes ${rest}minutes`,
    ...(accepted && leavesMinor && endsAtApprovals({ window, planned })
      ? [`Approval: ${endsBeforeApprovals}`]
      : []),
  ]
}

/** A request of somebody else, which an abort leaves: none where nothing is armed, or it is ours. Throws ApiError. */
export async function armedByOthers({
  window,
  environment,
  cluster,
}: WindowSnapshot): Promise<readonly string[]> {
  const platform = await readPlatform(cluster.reader)
  const { armed } = platform.platformStatus
  if (armed === undefined || (await ourRequest(environment.journal, window.name, platform))) return []
  return [armedByOthersText(armed)]
}

/** Said before the question: what goes back of the platform, and what cannot (night E2, E13). */
export function beforehand(
  state: AbortState,
  { overrides, planned: { plan } }: Pick<WindowSnapshot, 'overrides' | 'planned'>,
): readonly string[] {
  const { accepted, running, at } = state
  if (!accepted) return [requestsRestored(state, overrides)]
  const hasPools = overrides.some(({ id }) => id.startsWith('pool-paused/'))
  return [
    ...(running ? [`The platform is updating to ${at}: kvup waits for its end first`] : []),
    ...stays(state),
    ...(hasPools
      ? [`Nodes of paused pools update to ${at} once they are unpaused, and their VMs migrate`]
      : []),
    ...(plan.methods.length === 0 ? ['Automatic VM updates: no value was saved'] : []),
  ]
}

/** Where it began is not known any more behind an abort that was cut off at its very end: then nothing is said of it. */
function requestsRestored({ from, at }: AbortState, overrides: readonly Override[]): string {
  const channel = overrideNamed(overrides, 'platform-channel')
  const back = [
    ...(channel === undefined ? [] : [`the channel becomes ${keptText(channel)}`]),
    ...(overrideNamed(overrides, 'desired-update') === undefined ? [] : ['the update request is withdrawn']),
  ]
  if (back.length === 0 && minorOfPlatform(from) === '') return `The platform remains at ${at}`
  return `The platform has accepted no step: ${back.length === 0 ? `the platform is at ${at}, as it was` : back.join(', and ')}`
}

function stays({ from, at, channel, leavesMinor }: AbortState): readonly string[] {
  return [
    `Abort cannot undo: the platform remains at ${at}; there is no way back to ${from}`,
    ...(leavesMinor
      ? [`Abort cannot undo: the operator follows to the minor of ${at}; OLM does not downgrade`]
      : []),
    ...(channel === undefined
      ? []
      : [`Abort cannot undo: the channel remains ${channel}; the platform has accepted a step`]),
    ...(leavesMinor
      ? ['Abort cannot undo: what HyperConverged changes in its own spec during an upgrade']
      : []),
  ]
}

/**
 * Said at the end, from the journal and the platform as it is then: what was given back since, what was not, what cannot be undone. What was done is done,
 * whatever can be read of it.
 */
export async function afterwards(
  state: AbortState,
  windowSnapshot: WindowSnapshot,
  since: string,
): Promise<readonly string[]> {
  try {
    return [...(await told(state, windowSnapshot, since)), ...(await armedByOthers(windowSnapshot))]
  } catch (error) {
    if (error instanceof KvupError) return [`kvup could not read what was restored: ${error.message}`]
    throw error
  }
}

async function told(
  { from }: AbortState,
  { overrides, environment, cluster }: WindowSnapshot,
  since: string,
) {
  const entries = (await environment.journal.entries()).filter(({ at }) => at >= since)
  const open = await environment.journal.overrides()
  const back = entries
    .filter(({ what, step }) => what === 'restored' && !open.some(({ id }) => id === step))
    .flatMap(({ step }) => overrideNamed(overrides, step) ?? [])
  // Also of an object that is gone, with what was noted on it: only the journal knows of that.
  const closed = entries.filter(({ what }) => what === 'closed')
  const state = stateSince(from, (await readPlatform(cluster.reader)).platformStatus)
  return [
    ...(back.length === 0 ? [] : [`Restored: ${overridesText(back)}`]),
    ...closed.map(({ step, text }) => `Not restored: ${step}: ${text}`),
    ...(state.accepted ? stays(state) : []),
  ]
}
