import type { Loan } from '../procedure/journal.ts'
import type { JournalReader, Step, StepState } from '../procedure/step.ts'
import { readOwner } from './find-owner.ts'
import type { SettingsOwner } from './strategy/owner.ts'
import { openLoan, methodsOf, type Owner } from './update-methods.ts'
import { isGuards, waysOn } from './update/hold-again.ts'

/** The hold that a guard took because VMs came to harm (night W5), while it is open. */
export async function guardsLoan(
  journal: JournalReader,
  { uid }: Pick<SettingsOwner, 'uid'>,
): Promise<Loan | undefined> {
  const loan = openLoan(await journal.loans(), uid)
  return loan && isGuards(loan) ? loan : undefined
}

/** Gives back, but not into the trouble that made a guard hold: that stays until a person has looked. `holder`: whose the settings are. */
export function unlessLeftHeld(
  giveBack: Step,
  owner: Owner,
  holder: Pick<SettingsOwner, 'uid'> = owner,
): Step {
  return {
    ...giveBack,
    async check(cx): Promise<StepState> {
      const loan = await guardsLoan(cx.journal, holder)
      const isHeld = loan && methodsOf(await readOwner(cx.reader, owner)).length === 0
      return isHeld ? { is: 'done', note: leftHeldText(loan) } : giveBack.check(cx)
    },
  }
}

/** `left held: VMs came to harm … `, for a step and for the plan. */
export const leftHeldText = ({ at, by }: Pick<Loan, 'at' | 'by'>): string =>
  `workload updates stay held: VMs came to harm when KubeVirt moved them (${by}, ${at}); kvup workloads restore gives them back`

/** Nobody moves them now, and waiting does not mend it. */
export function heldForHarm({ at, by }: Loan, outdated: number): StepState {
  const vms = outdated === 1 ? '1 outdated VM' : `${outdated} outdated VMs`
  return {
    is: 'blocked',
    reason: 'held-for-harm',
    by: `${vms} to move, and workload updates were held again at ${at} by ${by}, because VMs came to harm when KubeVirt moved them`,
    remedy: ['kvup history     shows what happened', ...waysOn],
  }
}
