import type { Standing } from '../../facts/standing.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { look, lookFollows } from '../look.ts'
import { stalledOr } from './stalled.ts'
import { minutes, seconds } from '../../system/units.ts'

/**
 * Waits until the operator took the new target and its first operand carries it: RBAC, CRDs and webhooks come before any
 * operand (facts 2.5). A wrong tag shows only here, in the pod of the strategy Job (facts 2.4).
 */
export function installStrategy(owner: Owner, { version, undo }: { version: string; undo: string }): Step {
  return {
    id: 'install-strategy',
    title: 'install strategy, CRDs, RBAC',
    patience: { every: 10 * seconds, atMost: 30 * minutes },
    estimate: 15 * seconds,
    follows: lookFollows(owner),
    risk: { undo, safeToLeave: 'the operator goes on by itself' },
    async check(cx): Promise<StepState> {
      const { standing } = await look(cx, owner)
      if (!aimedAt(standing, version))
        return stalledOr(standing, undefined, {
          is: 'waiting',
          on: `virt-operator to take ${version} as its target`,
        })
      if (standing.observed.id === standing.target.id || standing.components.some((c) => c.applied))
        return { is: 'done' }
      return stalledOr(standing, undefined, {
        is: 'waiting',
        on: waitedFor(standing, version),
      })
    },
  }
}

/** With the strategy in place come RBAC, CRDs and webhooks, and then the first component (facts 2.5). */
function waitedFor({ waitingFor, components: [first] }: Standing, version: string): string {
  if (first && waitingFor?.startsWith(`${first.name}: `)) return `virt-operator to begin with ${first.name}`
  return waitingFor ?? `the install strategy of ${version}`
}

/** The operator works on this version: what its operands carry can be compared with its target (facts 1.5). */
export function aimedAt({ target, generation }: Standing, version: string): boolean {
  return target.version === version && generation.spec !== undefined
}
