import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import type { Loan } from '../procedure/journal.ts'
import type { Step, StepContext, StepState } from '../procedure/step.ts'
import { blocked } from '../system/errors.ts'
import { readOwner } from './find-owner.ts'
import {
  keptMethods,
  loanId,
  methodsOf,
  openLoan,
  type Owner,
  sameMethods,
  showWriters,
} from './update-methods.ts'
import { minutes, seconds } from '../system/units.ts'

/**
 * Sets `workloadUpdateMethods` back to the kept value and closes the loan once that was read back. Belongs behind a step
 * that saw the control plane settled (contract "Loans"). Somebody else's value is never overwritten. `takenFrom` is the uid that
 * the loan is of, where that KubeVirt was deleted and made anew.
 */
export function giveWorkloadUpdatesBack(
  owner: Owner,
  { overwrite = false, takenFrom = owner.uid } = {},
): Step {
  return {
    id: 'give-back-workload-updates',
    title: 'give workload updates back',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    follows: [],
    dependsOn: ['hold-workload-updates'],
    risk: { undo: 'kvup upgrade --leave-held leaves them held', safeToLeave: 'always' },
    async check({ reader, journal }): Promise<StepState> {
      const loan = openLoan(await journal.loans(), takenFrom)
      if (!loan) return { is: 'done' }
      return standingOf(loan, await readOwner(reader, owner), overwrite)
    },
    async apply(cx) {
      const loan = openLoan(await cx.journal.loans(), takenFrom)
      if (loan) await giveBack(cx, owner, loan)
    },
  }
}

function standingOf(loan: Loan, kubevirt: KubeVirt, overwrite: boolean): StepState {
  const now = methodsOf(kubevirt)
  const kept = keptMethods(loan)
  if (now.length === 0 || (overwrite && !sameMethods(now, kept)))
    return { is: 'todo', change: `set workloadUpdateMethods back to ${kept.join(', ')}` }
  if (sameMethods(now, kept))
    return { is: 'todo', change: `close the loan: workloadUpdateMethods is ${kept.join(', ')} again` }
  return {
    is: 'blocked',
    reason: 'changed-meanwhile',
    by: `workloadUpdateMethods was ${kept.join(', ')} when it was borrowed; somebody set it to ${now.join(', ')} meanwhile`,
    remedy: [
      'kvup workloads restore --keep-current     closes the loan and leaves their value',
      'kvup workloads restore --overwrite        sets the kept value',
    ],
  }
}

/** Writes the kept value with optimistic concurrency, reads it back, and only then closes the loan. */
async function giveBack({ reader, writer, journal }: StepContext, owner: Owner, loan: Loan): Promise<void> {
  const kubevirt = await readOwner(reader, owner)
  const kept = keptMethods(loan)
  if (!sameMethods(methodsOf(kubevirt), kept))
    await writer.mergePatch(owner.kind, owner.ref, {
      metadata: { resourceVersion: kubevirt.metadata.resourceVersion ?? '' },
      spec: { workloadUpdateStrategy: { workloadUpdateMethods: [...kept] } },
    })
  const after = methodsOf(await readOwner(reader, owner))
  if (!sameMethods(after, kept))
    throw blocked(
      'give-back-undone',
      `workloadUpdateMethods was set back to ${kept.join(', ')}, but reads ${after.join(', ') || 'none'}`,
      {
        remedy: ['kvup workloads restore', showWriters(owner)],
      },
    )
  await journal.release(loanId)
}
