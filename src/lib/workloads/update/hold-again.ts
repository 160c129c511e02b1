import type { Loan } from '../../procedure/journal.ts'
import type { StepContext, StepState } from '../../procedure/step.ts'
import { holdWorkloadUpdates } from '../hold.ts'
import type { SettingsOwner } from '../strategy/owner.ts'
import type { Harm } from './harm.ts'

/** In the journal: a hold that the guard opened stays open until a person has looked. */
export const guardName = 'watch workload updates'

/** Whether the guard took it: nobody but `kvup workloads restore` gives it back. */
export const isGuards = ({ procedure }: Loan): boolean => procedure === guardName

type Blocked = Extract<StepState, { is: 'blocked' }>

/** What a guard does with harm: it holds workload updates again, journal first, and says why it ends (night W5). */
export interface HoldAgain {
  /** Why it was held; undefined: it was not, by this one. */
  readonly tripped: Blocked | undefined
  /** There is harm: what is to be done now. */
  trip(harm: Harm): StepState
  apply(cx: StepContext): Promise<void>
}

export function holdAgain(owner: SettingsOwner, who: string): HoldAgain {
  const hold = holdWorkloadUpdates(owner, { who, procedure: guardName })
  let tripped: Blocked | undefined
  return {
    get tripped() {
      return tripped
    },
    trip(harm) {
      tripped = stoppedBy(harm, 'workload updates are held again', waysOn)
      return { is: 'todo', change: `hold workload updates: ${harm.text}` }
    },
    apply: async (cx) => {
      await hold.apply?.(cx)
    },
  }
}

export const stoppedBy = (
  { reason, text }: Harm,
  consequence: string,
  remedy: readonly string[],
): Blocked => ({ is: 'blocked', reason, by: `${text}; ${consequence}`, remedy })

/** By hand, or by KubeVirt again: both, and what to look at before. */
export const waysOn: readonly string[] = [
  'kvup workloads migrations --history     shows what failed, and of what',
  'kvup workloads update --canary 1     goes on by hand, one first',
  'kvup workloads restore     lets KubeVirt go on',
]
