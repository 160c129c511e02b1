import type { Step, StepState } from '../../procedure/step.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { look, lookFollows } from '../look.ts'
import { stalledOr } from './stalled.ts'
import { ticks } from '../../system/clock.ts'
import { minutes, seconds } from '../../system/units.ts'

/** The real one takes the Lease within 23 s (lab README, Seen 1). */
const leadAtMost = 2 * minutes

/**
 * Waits until the new operator runs everywhere and leads: from the apply until then the CR says "all good" with the old
 * version for 20 s (lab README, Seen 1), and the old operator may fail on the new rights (facts 2.7).
 */
export function operatorRolled(owner: Owner, version: string): Step {
  let rolledSince: number | undefined
  return {
    id: 'virt-operator',
    title: 'virt-operator',
    patience: { every: 10 * seconds, atMost: 15 * minutes },
    estimate: 40 * seconds,
    follows: lookFollows(owner),
    risk: { undo: 'apply the saved manifest', safeToLeave: 'the operator goes on by itself' },
    async check(cx): Promise<StepState> {
      const { standing } = await look(cx, owner)
      const { operator } = standing
      if (!operator) return { is: 'waiting', on: 'the virt-operator Deployment to be there' }
      const progress = { done: operator.updated, total: operator.desired }
      if (operator.version !== version)
        return { is: 'waiting', on: `the virt-operator Deployment to say ${version}`, progress }
      if (!operator.rolled) rolledSince = undefined
      if (!operator.rolled)
        return stalledOr(standing, 'virt-operator', {
          is: 'waiting',
          on: `virt-operator pods of ${version}`,
          progress,
        })
      const now = ticks(cx.clock)
      rolledSince ??= now
      // Who leads may not be known, and another release may elect otherwise. What it does is waited for by the steps behind.
      if (operator.leads === false && now - rolledSince < leadAtMost)
        return { is: 'waiting', on: `a virt-operator of ${version} to take its Lease`, progress }
      return { is: 'done', note: `${operator.ready}/${operator.desired}` }
    },
  }
}
