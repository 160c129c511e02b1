import type { AbortState } from '../../../lib/eus/abort/abort-state.ts'
import { poolRolls } from '../../../lib/eus/plan/time.ts'
import { borrowedText } from '../../../lib/eus/status/window-status.ts'
import type { Loan } from '../../../lib/procedure/journal.ts'
import { rangeWords } from '../../../lib/upgrade/range.ts'
import { approvalIsAhead } from '../approval-ahead.ts'
import type { SeenWindow } from '../see-window.ts'

/** Said before the question: what an abort gives back. Past an accepted hop channel and request stay (night E2). */
export function givenBackText(loans: readonly Loan[], { accepted }: AbortState): readonly string[] {
  const back = accepted
    ? loans.filter(({ id }) => id !== 'platform-channel' && id !== 'desired-update')
    : loans
  const text = borrowedText(back)
  return text === '' ? ['nothing is borrowed that would be given back'] : [`given back: ${text}`]
}

/** How long it takes, and where it would end early. */
export function timeAndApproval(
  { loans, planned: { plan }, window }: Pick<SeenWindow, 'loans' | 'planned' | 'window'>,
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
