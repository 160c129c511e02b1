import type { Loan } from '../../procedure/journal.ts'
import type { Step } from '../../procedure/step.ts'
import type { Meanwhile } from '../../workloads/restore.ts'
import { fieldOfLoan } from './fields.ts'
import { giveField } from './give.ts'

/** Gives one borrowed setting back, whichever run took it; none for loans that have steps of their own (methods, requests). */
export function fieldBack(loan: Loan, meanwhile: Meanwhile = 'ask'): readonly Step[] {
  const field = fieldOfLoan(loan)
  if (field === undefined) return []
  const { kind, name } = loan.object
  const id = `give-back-${loan.id.replaceAll('/', '-')}`
  return [giveField(field, { id, title: `give ${kind} ${name} back`, meanwhile })]
}
