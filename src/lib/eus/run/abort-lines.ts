import { type AbortState, stateSince } from '../abort-procedure.ts'
import { KvupError } from '../../kube/errors.ts'
import type { WindowSnapshot } from './window-snapshot.ts'
import { approvalIsAhead } from '../plan/planned-eus.ts'
import { poolRolls } from '../plan/eus-duration.ts'
import { borrowedText } from '../window-status.ts'
import type { Override } from '../../engine/journal.ts'
import { rangeWords } from '../../upgrade/upgrade-duration.ts'
import { keptText, overrideNamed } from '../settings/saved-setting.ts'
import { armedByOthersText, ourRequest, readPlatform } from '../steps/cluster-version-status.ts'

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
