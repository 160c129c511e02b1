import type { Procedure, Step } from '../procedure/step.ts'
import { giveWorkloadUpdatesBack } from './give-back.ts'
import { loanId, openLoan, type Owner } from './update-methods.ts'

/** What to do when somebody changed the borrowed setting meanwhile. */
export type Meanwhile = 'ask' | 'keep-current' | 'overwrite'

/** Gives one loan back behind the step `settled`: at whichever version, but not while the control plane moves (contract "Loans"). */
export function restoreProcedure(owner: Owner, meanwhile: Meanwhile, settled: Step): Procedure {
  return {
    name: 'restore workload updates',
    loans: [loanId],
    reached: async ({ journal }) => openLoan(await journal.loans(), owner.uid) === undefined,
    steps: async () =>
      meanwhile === 'keep-current'
        ? [closeLoan(owner)]
        : [settled, giveWorkloadUpdatesBack(owner, { overwrite: meanwhile === 'overwrite' })],
  }
}

/** Closes the loan and leaves somebody else's value where it is. */
function closeLoan(owner: Owner): Step {
  return {
    id: 'close-loan',
    title: 'close the loan',
    patience: { every: 1000, atMost: 60_000 },
    estimate: 1000,
    follows: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }) {
      return openLoan(await journal.loans(), owner.uid)
        ? { is: 'todo', change: 'close the loan and leave the present value' }
        : { is: 'done' }
    },
    apply: ({ journal }) => journal.release(loanId, 'left as somebody else set it'),
  }
}
