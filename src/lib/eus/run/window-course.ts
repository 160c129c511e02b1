import { type AbortState, stateSince } from '../abort-procedure.ts'
import { KvupError, usageError } from '../../kube/errors.ts'
import { poolRolls } from '../plan/eus-duration.ts'
import { borrowedText, stepsBehind } from '../window-status.ts'
import type { Override } from '../../engine/journal.ts'
import { rangeWords } from '../../upgrade/upgrade-duration.ts'
import { keptText, overrideNamed } from '../settings/saved-setting.ts'
import { armedByOthersText, ourRequest, readPlatform } from '../steps/cluster-version-status.ts'
import type { CommandContext } from '../../kube/world.ts'
import type { RunLimits } from '../../engine/step.ts'
import type { WindowSnapshot, EusRunOptions } from './window-snapshot.ts'
import { approvalIsAhead } from '../planned-eus.ts'
import type { Finding } from '../../checks/check-definition.ts'
import { standsInTheWay } from '../plan/eus-assessment.ts'

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
    `--pool-order names ${JSON.stringify(wrong)}, which is no pool to unpause`,
    {
      remedy:
        window.way === 'plain'
          ? 'leave it out: on this way pools are not paused, and follow the platform'
          : `the pools are: ${pools.map(({ name }) => name).join(', ')}`,
    },
  )
}

export function windowQuestion({ window, planned, open }: WindowSnapshot): string {
  const { from } = planned.plan
  return open === undefined
    ? `Take the platform from ${from} to ${window.to}?`
    : `Go on to ${window.to}, from ${from}?`
}

/** What a person should know before the question; `where` says which cluster it is, `outages` which VMs go down with their node. */
export function announceWindow(
  { printer }: CommandContext,
  windowSnapshot: WindowSnapshot,
  { where, outages }: { where: readonly string[]; outages: readonly string[] },
): void {
  const { planned } = windowSnapshot
  const { plan } = planned
  const said = [...where, ...warnings(planned), ...meanwhile(windowSnapshot), ...course(windowSnapshot)]
  for (const line of [...said, ...outages, ...plan.notes]) printer.note(line)
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

/** Said before the question: what an abort gives back. Past an accepted hop channel and request stay (night E2). */
export function restoredText(loans: readonly Override[], { accepted }: AbortState): readonly string[] {
  const back = accepted
    ? loans.filter(({ id }) => id !== 'platform-channel' && id !== 'desired-update')
    : loans
  const text = borrowedText(back)
  return text === '' ? ['nothing is borrowed that would be given back'] : [`given back: ${text}`]
}

/** How long it takes, and where it would end early. */
export function timeAndApproval(
  { loans, planned: { plan }, window }: Pick<WindowSnapshot, 'loans' | 'planned' | 'window'>,
  { accepted, running, at, leavesMinor }: AbortState,
): readonly string[] {
  const lent = plan.pools.filter(({ name }) => loans.some(({ id }) => id === `pool-paused/${name}`))
  const [rest, rolls] = [
    running ? `the rest of the hop to ${at}, and then ` : '',
    rangeWords(poolRolls(lent)),
  ]
  return [
    accepted && lent.length > 0
      ? `takes ${rest}${rolls} until the nodes have followed; VMs that move and drains that are refused come on top`
      : `takes ${rest}minutes`,
    ...(accepted && leavesMinor && approvalIsAhead(plan) && !window.request.approve
      ? ['ends before each InstallPlan, for the Subscription is Manual: --approve goes on behind them']
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
  { loans, planned: { plan } }: Pick<WindowSnapshot, 'loans' | 'planned'>,
): readonly string[] {
  const { accepted, running, at } = state
  if (!accepted) return [requestsRestored(state, loans)]
  const hasPools = loans.some(({ id }) => id.startsWith('pool-paused/'))
  return [
    ...(running ? [`the platform is on its way to ${at}: that hop is seen to its end first`] : []),
    ...stays(state),
    ...(hasPools ? [`nodes of paused pools roll to ${at} once they are unpaused: their VMs move`] : []),
    ...(plan.methods.length === 0 ? ['no workload update methods were kept'] : []),
  ]
}

function requestsRestored({ at }: AbortState, loans: readonly Override[]): string {
  const channel = overrideNamed(loans, 'platform-channel')
  const back = [
    ...(channel === undefined ? [] : [`the channel goes back to ${keptText(channel)}`]),
    ...(overrideNamed(loans, 'desired-update') === undefined
      ? []
      : ['the request for an update is taken back']),
  ]
  return `no hop was accepted: ${back.length === 0 ? `the platform is at ${at}, as it was` : back.join(', and ')}`
}

function stays({ from, at, channel, leavesMinor }: AbortState): readonly string[] {
  return [
    `not undone: the platform stays at ${at}, it does not go back to ${from}`,
    ...(leavesMinor
      ? [`not undone: the operator follows to the minor of ${at}, and OLM knows no way back`]
      : []),
    ...(channel === undefined
      ? []
      : [`not undone: the channel stays ${channel}, for it does not go back past an accepted hop`]),
    ...(leavesMinor ? ['not undone: what HyperConverged rewrites of its own spec when it is upgraded'] : []),
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
    if (error instanceof KvupError) return [`what was given back could not be read: ${error.message}`]
    throw error
  }
}

async function told({ from }: AbortState, { loans, environment, cluster }: WindowSnapshot, since: string) {
  const entries = (await environment.journal.entries()).filter(({ at }) => at >= since)
  const back = entries
    .filter(({ what, step }) => what === 'gave-back' && overrideNamed(loans, step) !== undefined)
    .map(({ step }) => step)
  // Also of an object that is gone, with what was noted on it: only the journal knows of that.
  const closed = entries.filter(({ what }) => what === 'closed')
  const state = stateSince(from, (await readPlatform(cluster.reader)).platformStatus)
  return [
    ...(back.length === 0 ? [] : [`given back: ${back.join(', ')}`]),
    ...closed.map(({ step, text }) => `not given back: ${step}: ${text}`),
    ...(state.accepted ? stays(state) : []),
  ]
}
