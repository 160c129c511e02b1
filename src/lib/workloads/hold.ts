import { lastWriter } from '../procedure/last-writer.ts'
import type { Step, StepContext, StepState } from '../procedure/step.ts'
import { closeFormerLoan } from './former-loan.ts'
import { readOwner } from './find-owner.ts'
import {
  keptMethods,
  loanId,
  methodsOf,
  methodsPath,
  openLoan,
  type Owner,
  sameMethods,
  showWriters,
} from './update-methods.ts'
import { minutes, seconds } from '../system/units.ts'

/** Who borrows, for the journal. */
export interface Borrower {
  who: string
  procedure: string
}

/**
 * Empties `workloadUpdateMethods`, its value kept in the journal first: workload migrations race the virt-handler roll
 * (facts 2.8, section 8). Methods that are empty already are left alone and no loan is opened.
 */
export function holdWorkloadUpdates(owner: Owner, { who, procedure }: Borrower): Step {
  return {
    id: 'hold-workload-updates',
    title: 'hold workload updates',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows: [],
    risk: { undo: 'kvup workloads restore', safeToLeave: 'days; hotplug and volume changes wait while held' },
    async check({ reader, journal }): Promise<StepState> {
      const methods = methodsOf(await readOwner(reader, owner))
      const loan = openLoan(await journal.loans(), owner.uid)
      if (methods.length === 0)
        return { is: 'done', ...(loan && { note: `kept ${keptMethods(loan).join(', ')}` }) }
      if (loan && !sameMethods(methods, keptMethods(loan)))
        return changedWhileHeld(methods, keptMethods(loan))
      return {
        is: 'todo',
        change: `set workloadUpdateMethods of ${owner.ref.name} from ${methods.join(', ')} to none, and keep the value`,
      }
    },
    shows: showWriters(owner),
    blame: async ({ reader }) => lastWriter(await readOwner(reader, owner), methodsPath),
    apply: (cx) => hold(cx, owner, { who, procedure }),
  }
}

async function hold(
  { reader, writer, journal, clock }: StepContext,
  owner: Owner,
  { who, procedure }: Borrower,
): Promise<void> {
  const kubevirt = await readOwner(reader, owner)
  const { name, namespace } = owner.ref
  await closeFormerLoan(journal, loanId, owner)
  await journal.borrow({
    id: loanId,
    procedure,
    object: { apiVersion: owner.kind.apiVersion, kind: owner.kind.kind, namespace, name, uid: owner.uid },
    path: methodsPath,
    was: { present: true, value: [...methodsOf(kubevirt)] },
    by: who,
    at: clock.now().toISOString(),
    harmless: 'for days; hotplug and volume changes wait meanwhile',
  })
  await writer.mergePatch(owner.kind, owner.ref, {
    metadata: { resourceVersion: kubevirt.metadata.resourceVersion ?? '' },
    spec: { workloadUpdateStrategy: { workloadUpdateMethods: [] } },
  })
}

function changedWhileHeld(now: readonly string[], kept: readonly string[]): StepState {
  return {
    is: 'blocked',
    reason: 'hold-changed',
    by: `workloadUpdateMethods was set to ${now.join(', ')} while kvup held it (kept: ${kept.join(', ')})`,
    remedy: ['kvup workloads restore', 'kvup history'],
  }
}
