import { type AbortState, stateSince } from '../../../lib/eus/abort/abort-state.ts'
import { keptText, loanNamed } from '../../../lib/eus/loans/find-borrowed.ts'
import { armedByOthersText, ourRequest } from '../../../lib/eus/steps/kept-request.ts'
import { readPlatform } from '../../../lib/eus/steps/read-platform.ts'
import type { Loan } from '../../../lib/procedure/journal.ts'
import { KvupError } from '../../../lib/system/errors.ts'
import type { SeenWindow } from '../see-window.ts'

/** A request of somebody else, which an abort leaves: none where nothing is armed, or it is ours. Throws ApiError. */
export async function armedByOthers({ window, hands, cluster }: SeenWindow): Promise<readonly string[]> {
  const platform = await readPlatform(cluster.reader)
  const { armed } = platform.standing
  if (armed === undefined || (await ourRequest(hands.journal, window.name, platform))) return []
  return [armedByOthersText(armed)]
}

/** Said before the question: what goes back of the platform, and what cannot (night E2, E13). */
export function beforehand(
  state: AbortState,
  { loans, planned: { plan } }: Pick<SeenWindow, 'loans' | 'planned'>,
): readonly string[] {
  const { accepted, running, at } = state
  if (!accepted) return [requestsBack(state, loans)]
  const hasPools = loans.some(({ id }) => id.startsWith('pool-paused/'))
  return [
    ...(running ? [`the platform is on its way to ${at}: that hop is seen to its end first`] : []),
    ...stays(state),
    ...(hasPools ? [`nodes of paused pools roll to ${at} once they are unpaused: their VMs move`] : []),
    ...(plan.methods.length === 0 ? ['no workload update methods were kept'] : []),
  ]
}

function requestsBack({ at }: AbortState, loans: readonly Loan[]): string {
  const channel = loanNamed(loans, 'platform-channel')
  const back = [
    ...(channel === undefined ? [] : [`the channel goes back to ${keptText(channel)}`]),
    ...(loanNamed(loans, 'desired-update') === undefined ? [] : ['the request for an update is taken back']),
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
  seen: SeenWindow,
  since: string,
): Promise<readonly string[]> {
  try {
    return [...(await told(state, seen, since)), ...(await armedByOthers(seen))]
  } catch (error) {
    if (error instanceof KvupError) return [`what was given back could not be read: ${error.message}`]
    throw error
  }
}

async function told({ from }: AbortState, { loans, hands, cluster }: SeenWindow, since: string) {
  const entries = (await hands.journal.entries()).filter(({ at }) => at >= since)
  const back = entries
    .filter(({ what, step }) => what === 'gave-back' && loanNamed(loans, step) !== undefined)
    .map(({ step }) => step)
  // Also of an object that is gone, with what was noted on it: only the journal knows of that.
  const closed = entries.filter(({ what }) => what === 'closed')
  const state = stateSince(from, (await readPlatform(cluster.reader)).standing)
  return [
    ...(back.length === 0 ? [] : [`given back: ${back.join(', ')}`]),
    ...closed.map(({ step, text }) => `not given back: ${step}: ${text}`),
    ...(state.accepted ? stays(state) : []),
  ]
}
