import type { Cause } from '../../facts/cause.ts'
import type { StepState } from '../../procedure/step.ts'
import { minutes } from '../../system/units.ts'

/** How long what is broken beside KubeVirt's own word is waited for, ms. */
const patience = 2 * minutes

/**
 * KubeVirt says that all is well, and something was measured that is not: it is waited for behind KubeVirt's word for two minutes, and then the run ends
 * as Degraded (exit 3), for that is no doubt of ours.
 */
export class Broken {
  #since: number | undefined

  /** What ends the run; undefined while nothing does. `now` in ms. */
  after(faults: readonly Cause[], now: number): StepState | undefined {
    const [first] = faults
    if (first === undefined) {
      this.#since = undefined
      return undefined
    }
    this.#since ??= now
    if (now - this.#since < patience) return undefined
    return {
      is: 'blocked',
      reason: 'degraded',
      by: `KubeVirt says that all is well, and is Degraded: ${faults.map(({ sentence }) => sentence).join('; ')}`,
      remedy: first.look,
    }
  }
}
