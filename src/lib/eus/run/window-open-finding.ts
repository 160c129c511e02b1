import type { Finding } from '../../checks/finding.ts'
import type { Loan } from '../../procedure/journal.ts'
import { loanId } from '../../workloads/update-methods.ts'
import { targetOfName } from '../../system/window-name.ts'

/**
 * What speaks against an upgrade of the operator alone while the methods are borrowed for a window: it gives them back at its end, and VMs would move while the pools
 * are paused. None where it leaves them held.
 */
export function windowOpenFinding(
  loans: readonly Pick<Loan, 'id' | 'procedure'>[],
  { leaveHeld }: { leaveHeld: boolean },
): readonly Finding[] {
  const [to] = loans.flatMap(({ id, procedure }) => (id === loanId ? (targetOfName(procedure) ?? []) : []))
  if (to === undefined || leaveHeld) return []
  return [
    {
      id: 'window-open',
      level: 'blocker',
      summary: `a window of the platform to ${to} is open and holds workload updates: this upgrade would give them back at its end, and VMs would move in the middle of the window`,
      remedy: [
        'kvup eus run      goes on with the window, and takes the operator along',
        'kvup upgrade --leave-held      with the same flags: leaves workload updates held for the window',
      ],
    },
  ]
}

/** The same for `kvup workloads restore`, whichever way the loan would be closed: behind it VMs move while their pools are paused (night E11). */
export function windowHoldsFinding({ procedure }: Pick<Loan, 'procedure'>): readonly Finding[] {
  const to = targetOfName(procedure)
  if (to === undefined) return []
  return [
    {
      id: 'window-open',
      level: 'blocker',
      summary: `a window of the platform to ${to} is open and holds workload updates: given back now, VMs would move in the middle of the window, and pools, health checks and what was asked of the platform stay as they are`,
      remedy: [
        'kvup eus status      where the window stands',
        'kvup eus run      goes on with it, and gives them back at its end',
        'kvup eus abort      ends it, and gives back all that it borrowed',
      ],
    },
  ]
}
