import type { Procedure, ReadContext } from './step.ts'

/** The goal is reached and nothing of it is borrowed: exit 0 before any question, lock or write. */
export async function nothingToDo(procedure: Procedure, cx: ReadContext): Promise<boolean> {
  if (!(await procedure.reached(cx))) return false
  const { name, loans: owed, leaves = () => false } = procedure
  const open = (await cx.journal.loans()).filter((loan) => !leaves(loan))
  return !open.some((loan) => (owed === undefined ? loan.procedure === name : owed.includes(loan.id)))
}
