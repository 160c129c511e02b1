import type { Reader } from '../../lib/cluster/cluster.ts'
import { statusChanges } from '../../lib/facts/status-changes.ts'
import type { StatusReport } from '../../lib/facts/status-report.ts'
import { missingFor, type WaitCondition } from '../../lib/facts/wait-condition.ts'
import { meaningOf, remarkOn } from '../../lib/procedure/failures.ts'
import type { Clock } from '../../lib/system/clock.ts'
import { blocked, forbidden } from '../../lib/system/errors.ts'
import { outdatedUnseen } from './outdated-unseen.ts'

export interface Waiting {
  reader: Reader
  clock: Clock
  signal: AbortSignal
  /** Told at every look that differs; `missing` is undefined where the condition holds. */
  seen(report: StatusReport, missing: string | undefined): void
  /** Told what the wait goes on in spite of. */
  remark(line: string): void
}

/** Between two looks where no change tells us, ms. */
const lookAgain = 5000

/**
 * Ends when the condition holds; throws the signal's reason, and what makes waiting useless. A server that is away for a
 * while is waited for, but not before it has answered once.
 */
export async function untilItHolds(condition: WaitCondition, waiting: Waiting): Promise<void> {
  const { clock, signal } = waiting
  const before = { answered: false }
  for (;;) {
    try {
      if (await holdsNow(condition, waiting, before)) return
    } catch (error) {
      if (!before.answered || meaningOf(error) !== 'retry') throw error
      waiting.remark(remarkOn(error))
    }
    await clock.sleep(lookAgain, signal)
  }
}

/** Follows until a look has all that is asked; then false where that look alone does not prove it. */
async function holdsNow(condition: WaitCondition, waiting: Waiting, before: { answered: boolean }) {
  const { reader, clock } = waiting
  for await (const report of statusChanges(waiting)) {
    before.answered = true
    refuseHopeless(condition, report)
    const missing = missingFor(condition, report)
    const unseen =
      missing === undefined && condition.is === 'workloads' ? await outdatedUnseen(reader, clock) : undefined
    waiting.seen(report, missing ?? unseen)
    if (missing === undefined) return unseen === undefined
  }
  return false
}

function refuseHopeless(condition: WaitCondition, { installation, next, workloads }: StatusReport): void {
  if (!installation)
    throw blocked('no-kubevirt-cr', 'there is no KubeVirt resource: nothing will ever settle', {
      remedy: next ?? [],
    })
  if (condition.is === 'workloads' && workloads.outdated.labelled === undefined)
    throw forbidden('instances-not-readable', 'the virtual machine instances may not be read', {
      remedy: 'kvup rbac kvup-view | kubectl apply -f -, then bind it to this user',
    })
}
