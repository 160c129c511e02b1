import type { Loan } from '../../procedure/journal.ts'
import { blocked } from '../../system/errors.ts'
import { heldLines, restoreLine } from '../held-lines.ts'
import { keptMethods } from '../update-methods.ts'
import type { Wanted } from './wanted.ts'

/** Methods that are borrowed are not set: the next restore would find another value and give nothing back. Throws `blocked`. */
export function ensureNotHeld(wanted: Wanted, loan: Loan | undefined): void {
  if (wanted['workloadUpdateMethods'] === undefined || loan === undefined) return
  throw blocked(
    'workloads-held',
    `workloadUpdateMethods is borrowed by ${loan.by} since ${loan.at} (kept: ${keptMethods(loan).join(', ')})`,
    {
      remedy: [
        ...heldLines(loan, '     gives it back first'),
        `${restoreLine(loan)} --keep-current     forgets the kept value`,
      ],
    },
  )
}
