import { lastWriter } from '../../procedure/last-writer.ts'
import type { Loan } from '../../procedure/journal.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { readOwner } from '../find-owner.ts'
import { restoreLine } from '../held-lines.ts'
import { loanOn } from '../loan-on.ts'
import { narrowedLine } from '../../system/narrowed-line.ts'
import type { Selection } from '../outdated/selection.ts'
import { methodsPointer, type SettingsOwner } from '../strategy/owner.ts'
import { methodsOf, methodsText } from '../update-methods.ts'

/** Whether workload updates have been held in this run. */
export interface Holding {
  held: boolean
}

/** Remembers that the hold was reached: only after that somebody can have switched it off. */
export function remembering(hold: Step, holding: Holding): Step {
  return {
    ...hold,
    async check(cx) {
      const state = await hold.check(cx)
      if (state.is === 'done') holding.held = true
      return state
    },
  }
}

/** The order that a person chose is none any more where KubeVirt's own updater was switched on meanwhile: nothing further is begun. */
export function unlessSwitchedOn(
  step: Step,
  { owner, holding, selection }: { owner: SettingsOwner; holding: Holding; selection: Selection },
): Step {
  return {
    ...step,
    async check(cx): Promise<StepState> {
      if (!holding.held) return step.check(cx)
      const methods = methodsOf(await readOwner(cx.reader, owner.kubevirt))
      if (methods.length === 0) return step.check(cx)
      const who = lastWriter(await readOwner(cx.reader, owner), methodsPointer(owner))
      return {
        is: 'blocked',
        reason: 'updater-switched-on',
        by: `workloadUpdateMethods was set to ${methodsText(methods)} meanwhile: KubeVirt moves VMs itself now, in an order of its own${who ? `. It was ${who}` : ''}`,
        remedy: remedyFor(loanOn(owner, await cx.journal.loans()), selection),
      }
    },
  }
}

function remedyFor(loan: Loan | undefined, selection: Selection): readonly string[] {
  const update = narrowedLine('kvup workloads update', selection)
  return [
    `${update}     holds again, and goes on`,
    `${update} --watch-only     follows KubeVirt instead`,
    ...(loan ? [`${restoreLine(loan)} --keep-current     closes the loan, and leaves it to KubeVirt`] : []),
  ]
}
