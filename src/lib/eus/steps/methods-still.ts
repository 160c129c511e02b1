import type { Reader } from '../../cluster/cluster.ts'
import type { Loan } from '../../procedure/journal.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { nameOf, readOwner } from '../../workloads/find-owner.ts'
import { keptMethods, loanId, methodsOf, methodsText, type Owner } from '../../workloads/update-methods.ts'

interface Holding {
  /** Of the procedure. */
  name: string
  accepted: readonly string[]
  kubevirt: Owner
  /** The line whose step it is. */
  command: string
}

/**
 * Somebody set the methods in the middle of the window. Read from the KubeVirt, whoever owns them: what stands there moves VMs, and it is readable in every moment of an upgrade of
 * the operator. Throws ApiError, and `blocked` where the KubeVirt is another one.
 */
export async function methodsSetAgain(
  reader: Reader,
  loans: readonly Loan[],
  holding: Holding,
): Promise<StepState | undefined> {
  const now = methodsOf(await readOwner(reader, holding.kubevirt))
  return now.length === 0
    ? undefined
    : setAgain(
        now,
        loans.find(({ id }) => id === loanId),
        holding,
      )
}

/** The hold of a window: done by an earlier run, and undone by somebody since, is asked about and not quietly done again. */
export function heldOnce(hold: Step, holding: Holding): Step {
  return {
    ...hold,
    async check(cx): Promise<StepState> {
      const state = await hold.check(cx)
      const isUndone = state.is === 'todo' || (state.is === 'blocked' && state.reason === 'hold-changed')
      if (!isUndone || holding.accepted.includes('borrowed-changed')) return state
      const loans = await cx.journal.loans()
      const loan = loans.find(({ id, procedure }) => id === loanId && procedure === holding.name)
      if (loan === undefined) return state
      return setAgain(methodsOf(await readOwner(cx.reader, holding.kubevirt)), loan, holding)
    },
  }
}

function setAgain(now: readonly string[], loan: Loan | undefined, { kubevirt, command }: Holding): StepState {
  const before = loan === undefined ? 'they were none before' : `kept: ${methodsText(keptMethods(loan))}`
  return {
    is: 'blocked',
    reason: 'borrowed-changed',
    by: `workload updates are held (${before}), and somebody set workloadUpdateMethods of ${nameOf(kubevirt)} to ${methodsText(now)} in the middle of the window: VMs move`,
    remedy: [
      `${command} --accept borrowed-changed     empties them again`,
      'kvup history     shows when they were borrowed',
      `kubectl -n ${kubevirt.ref.namespace} get kubevirts,hyperconvergeds -o yaml --show-managed-fields     shows who writes them`,
    ],
  }
}
