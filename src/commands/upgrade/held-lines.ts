import { isOfWindow } from '../../lib/system/window-name.ts'
import type { Loan } from '../../lib/procedure/journal.ts'

/** What gives held workload updates back: of a window its own end, for before it that is refused (`window-open`). None where nothing is held. */
export function heldLines(loan: Pick<Loan, 'procedure'> | undefined, why = ''): readonly string[] {
  if (loan === undefined) return []
  return isOfWindow(loan)
    ? ['kvup eus run     goes on with the window, which gives workload updates back at its end']
    : [`kvup workloads restore${why}`]
}
