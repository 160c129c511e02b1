import type { Loan } from '../../procedure/journal.ts'
import type { Procedure, ReadContext, Step } from '../../procedure/step.ts'
import { settledFor } from '../../upgrade/steps/settled.ts'
import { type Meanwhile, restoreProcedure } from '../../workloads/restore.ts'
import { fieldBack } from '../loans/field-back.ts'
import { type EusWindow, settingsOf } from '../run/window.ts'
import { forecastStep } from '../steps/vms-left.ts'
import { abortState } from './abort-state.ts'
import { channelBack, withdrawRequest } from './give-requests-back.ts'

export interface Restoring {
  /** The loans to give back, of those that are open. */
  loans: readonly Loan[]
  meanwhile: Meanwhile
}

/** The settings alone: each of these loans is given back now, and nothing is waited for but that it took effect. */
export function restoreWindow(window: EusWindow, { loans, meanwhile }: Restoring): Procedure {
  const wanted = new Set(loans.map(({ id }) => id))
  return {
    name: `restore ${window.name}`,
    loans: [...wanted],
    reached: async ({ journal }) => !(await journal.loans()).some(({ id }) => wanted.has(id)),
    steps: async (cx) =>
      (await Promise.all(loans.map(async (loan) => stepsFor(window, { loan, meanwhile }, cx)))).flat(),
  }
}

interface One {
  loan: Loan
  meanwhile: Meanwhile
}

async function stepsFor(window: EusWindow, one: One, cx: ReadContext): Promise<readonly Step[]> {
  const { loan } = one
  if (loan.id === 'workload-updates') return methodsBack(window, one, cx)
  if (loan.id === 'desired-update') return [withdrawRequest(window.name)]
  if (loan.id === 'platform-channel') return [await channelBack(cx, (await abortState(window, cx)).accepted)]
  return fieldBack(loan, one.meanwhile)
}

async function methodsBack(
  window: EusWindow,
  { loan, meanwhile }: One,
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
