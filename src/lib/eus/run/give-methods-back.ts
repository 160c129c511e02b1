import type { Loan } from '../../procedure/journal.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { nameOf, readOwner } from '../../workloads/find-owner.ts'
import { closeMethodsLoan, giveBackSteps } from '../../workloads/give-back.ts'
import { restoreLine } from '../../workloads/held-lines.ts'
import { loanOn } from '../../workloads/loan-on.ts'
import { methodsIn, type SettingsOwner, showsWriters } from '../../workloads/strategy/owner.ts'
import { storedNow } from '../../workloads/strategy/stored-now.ts'
import { keptMethods, loanId, methodsText, sameMethods } from '../../workloads/update-methods.ts'
import { loanNamed } from '../loans/find-borrowed.ts'

/** The methods go back to the object that they were taken from; where another one stands in its place, somebody is asked. */
export async function giveMethodsBack(
  settings: SettingsOwner,
  { journal }: Pick<ReadContext, 'journal'>,
): Promise<readonly Step[]> {
  const loans = await journal.loans()
  const ours = loanOn(settings, loans)
  if (ours !== undefined) return giveBackSteps(settings, { takenFrom: ours.object.uid })
  const former = loanNamed(loans, loanId)
  return former === undefined ? giveBackSteps(settings) : [toAnother(settings, former)]
}

/** It may have come with what was borrowed at the time: out of a backup, or a repository. */
function toAnother(found: SettingsOwner, loan: Loan): Step {
  return {
    id: 'give-back-workload-updates',
    title: 'give workload updates back',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    follows: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    shows: showsWriters(found),
    async check({ reader, journal }): Promise<StepState> {
      if (loanNamed(await journal.loans(), loanId)?.object.uid !== loan.object.uid) return { is: 'done' }
      const owner = await storedNow(reader, found)
      if ('is' in owner) return owner
      const now = methodsIn(await readOwner(reader, owner), owner)
      return sameMethods(now, keptMethods(loan))
        ? {
            is: 'todo',
            change: `note workloadUpdateMethods of ${nameOf(owner)} as given back: it is ${methodsText(now)} again`,
          }
        : madeAnew(owner, loan, now)
    },
    apply: (cx) => closeMethodsLoan(cx, found, `the ${found.kind.kind} that it was taken from is gone`),
  }
}

function madeAnew(owner: SettingsOwner, loan: Loan, now: readonly string[]): StepState {
  const kept = methodsText(keptMethods(loan))
  const restore = restoreLine(loan)
  return {
    is: 'blocked',
    reason: 'changed-meanwhile',
    by: `${nameOf(owner)} was deleted and made anew since workloadUpdateMethods was borrowed (kept: ${kept}); it reads ${methodsText(now)}`,
    remedy: [
      `${restore} --overwrite     sets the kept value on the new one`,
      `${restore} --keep-current     closes the loan and leaves it as it is`,
    ],
  }
}
