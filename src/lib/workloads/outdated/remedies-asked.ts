import type { Decision } from './decision.ts'

/** For whom the VM is read where only what helps depends on it. */
export interface RemediesAsked {
  ask(decision: Decision): boolean
}

export const ofEach: RemediesAsked = { ask: () => true }

/** A table shows one command below it: a few VMs of each kind are enough to know it. Counts, so one for each listing. */
export function ofSome(): RemediesAsked {
  const asked = new Map<Decision, number>()
  return {
    ask(decision) {
      const count = asked.get(decision) ?? 0
      asked.set(decision, count + 1)
      return count < enough
    },
  }
}

/** The first may be a VM that nothing helps. */
const enough = 3
