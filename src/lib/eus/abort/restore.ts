import type { Loan } from '../../procedure/journal.ts'
import { rememberSteps } from '../../procedure/remember-steps.ts'
import type { Procedure, ReadContext, Step } from '../../procedure/step.ts'
import { settledFor } from '../../upgrade/steps/settled.ts'
import { type Meanwhile, restoreProcedure } from '../../workloads/restore.ts'
import { fieldBack } from '../loans/field-back.ts'
import { rewritten } from '../run/end-steps.ts'
import { type EusWindow, settingsOf } from '../run/window.ts'
import { forecastStep } from '../steps/vms-left.ts'
import { abortState } from './abort-state.ts'
import { closeWindow, isLeftUnclosed, restoreOf } from './close-window.ts'
import { channelBack, withdrawRequest } from './give-requests-back.ts'
import { poolsBack } from './pools-back.ts'

export interface Restoring {
  /** The loans to give back, of those that are open. */
  loans: readonly Loan[]
  meanwhile: Meanwhile
}

/**
 * The settings alone, wherever the window stands, in the order of its end: requests, methods, pools, the rest. With the last loan the window is closed, for what
 * was kept for it must not pass for that of the next one.
 */
export function restoreWindow(window: EusWindow, restoring: Restoring): Procedure {
  const wanted = new Set(restoring.loans.map(({ id }) => id))
  const name = restoreOf(window.name)
  const remembered = rememberSteps(rewritten)
  return {
    name,
    loans: [...wanted],
    reached: async ({ journal }) =>
      !(await journal.loans()).some(({ id }) => wanted.has(id)) &&
      !(await isLeftUnclosed(journal, window.name)),
    steps: async (cx) => remembered(await stepsNow(window, restoring, cx)),
  }
}

async function stepsNow(
  window: EusWindow,
  { loans, meanwhile }: Restoring,
  cx: ReadContext,
): Promise<readonly Step[]> {
  const named = (id: string) => loans.find((loan) => loan.id === id)
  const methods = named('workload-updates')
  const pools = loans.filter(({ id }) => id.startsWith('pool-paused/'))
  const rest = loans.filter((loan) => !pools.includes(loan))
  return [
    ...(named('desired-update') ? [withdrawRequest(window.name, meanwhile)] : []),
    ...(named('platform-channel')
      ? [await channelBack(cx, { isAccepted: (await abortState(window, cx)).accepted, meanwhile })]
      : []),
    ...(methods ? await methodsBack(window, { loan: methods, meanwhile }, cx) : []),
    ...(await poolsBack(window, { loans: pools, meanwhile }, cx)),
    ...rest.flatMap((loan) => fieldBack(loan, meanwhile)),
    closeWindow({ name: window.name, text: 'all was given back' }),
  ]
}

async function methodsBack(
  window: EusWindow,
  { loan, meanwhile }: { loan: Loan; meanwhile: Meanwhile },
  cx: ReadContext,
): Promise<readonly Step[]> {
  const owner = await settingsOf(window, cx.reader)
  const settled = settledFor(owner.kubevirt, {
    id: 'settled',
    title: 'KubeVirt is settled',
    settleMs: window.request.settleMs,
  })
  const steps = await restoreProcedure({ owner, meanwhile, settled, takenFrom: loan.object.uid }).steps(cx)
  return meanwhile === 'keep-current' ? steps : [forecastStep(owner, window.request), ...steps]
}
