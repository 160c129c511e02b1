import type { Procedure, Step } from '../procedure/step.ts'
import { closeMethodsLoan, giveBackSteps } from './give-back.ts'
import type { SettingsOwner } from './strategy/owner.ts'
import { loanId, openLoan } from './update-methods.ts'

/** What to do when somebody changed the borrowed setting meanwhile. */
export type Meanwhile = 'ask' | 'keep-current' | 'overwrite'

export interface Restoring {
  owner: SettingsOwner
  meanwhile: Meanwhile
  settled: Step
  /** The uid that the loan is of: another one than the owner's where KubeVirt was deleted and made anew. */
  takenFrom: string
}

/** Gives one loan back behind the step `settled`: at whichever version, but not while the control plane moves (contract "Loans"). */
export function restoreProcedure({ owner, meanwhile, settled, takenFrom }: Restoring): Procedure {
  return {
    name: 'restore workload updates',
    loans: [loanId],
    reached: async ({ journal }) => openLoan(await journal.loans(), takenFrom) === undefined,
    steps: async () =>
      meanwhile === 'keep-current'
        ? [closeLoan(owner, takenFrom)]
        : [settled, ...giveBackSteps(owner, { overwrite: meanwhile === 'overwrite', takenFrom })],
  }
}

/** Closes the loan and leaves somebody else's value where it is. */
function closeLoan(owner: SettingsOwner, takenFrom: string): Step {
  return {
    id: 'close-loan',
    title: 'leave workload updates as they are',
    patience: { every: 1000, atMost: 60_000 },
    estimate: 1000,
    follows: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }) {
      return openLoan(await journal.loans(), takenFrom)
        ? {
            is: 'todo',
            change: 'leave workloadUpdateMethods as somebody set it, and note it as borrowed no more',
          }
        : { is: 'done' }
    },
    apply: (cx) => closeMethodsLoan(cx, owner, 'left as somebody else set it'),
  }
}
