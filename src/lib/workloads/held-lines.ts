import type { Loan } from '../procedure/journal.ts'
import { isOfWindow } from '../system/window-name.ts'
import { loanId } from './update-methods.ts'

type Held = Pick<Loan, 'procedure'>

/** The command whose end gives held workload updates back: in a window `kvup workloads restore` is refused (`window-open`). */
export const giveBackLine = (loan: Held | undefined): string =>
  loan !== undefined && isOfWindow(loan) ? 'kvup eus run' : 'kvup workloads restore'

/** The command that ends this one loan, and takes `--keep-current` and `--overwrite`. */
export const restoreLine = (loan: Held): string =>
  isOfWindow(loan) ? `kvup eus restore ${loanId}` : 'kvup workloads restore'

/** What gives held workload updates back, with what it does. None where nothing is held. */
export function heldLines(loan: Held | undefined, why = ''): readonly string[] {
  if (loan === undefined) return []
  const inWindow = '     goes on with the window, which gives workload updates back at its end'
  return [`${giveBackLine(loan)}${isOfWindow(loan) ? inWindow : why}`]
}
