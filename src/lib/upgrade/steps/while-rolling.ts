import type { ReadContext, Step, StepContext, StepState } from '../../procedure/step.ts'
import { ticks } from '../../system/clock.ts'
import { hours, seconds } from '../../system/units.ts'
import { giveBackSteps } from '../../workloads/give-back.ts'
import { type Borrower, holdWorkloadUpdates } from '../../workloads/hold.ts'
import type { SettingsOwner } from '../../workloads/strategy/owner.ts'
import { openLoan, type Owner } from '../../workloads/update-methods.ts'
import { isGuards } from '../../workloads/update/hold-again.ts'
import { look, lookFollows } from '../look.ts'
import type { Patience } from '../patience.ts'

export interface Rolling {
  owner: Owner
  patience: Patience
  /** For how long virt-handler has to be rolled before VMs are moved again, ms. */
  settleMs: number
}

/** A roll of a DaemonSet may take hours on many nodes, whatever the step itself needs. */
const rollAtMost = 12 * hours

const isRolling = 'virt-handler to finish the roll that has begun'

/**
 * The step that resumes automatic VM updates, held back while virt-handler rolls: its restart ends migrations (facts 2.8). It has to
 * be rolled by its own status for as long as `--settle` says, whatever KubeVirt says meanwhile.
 */
export function onceRolled(step: Step, rolling: Rolling): Step {
  return {
    ...step,
    patience: { ...step.patience, atMost: rollAtMost },
    follows: [...lookFollows(rolling.owner), ...step.follows],
    due: (cx) => step.check(cx),
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      return state.is === 'todo' ? ((await stillRolling(cx, rolling)) ?? state) : state
    },
  }
}

async function stillRolling(
  cx: ReadContext,
  { owner, patience, settleMs }: Rolling,
): Promise<StepState | undefined> {
  const now = ticks(cx.clock)
  patience.saw(await look(cx, owner), now)
  const rolledFor = patience.rolledFor(now)
  if (rolledFor === undefined) return { is: 'waiting', on: isRolling }
  return rolledFor < settleMs
    ? { is: 'waiting', on: `virt-handler to stay rolled for ${Math.round(settleMs / seconds)}s` }
    : undefined
}

/**
 * A step behind the one that resumed automatic VM updates, which pauses them again where virt-handler is given a new template after
 * all: virt-operator may roll it once more after it said that it was done (lab 9). It resumes them once that roll is through.
 */
export function pausedWhileRolling(
  step: Step,
  { settings, borrower, ...rolling }: Rolling & { settings: SettingsOwner; borrower: Borrower },
): Step {
  const hold = holdWorkloadUpdates(settings, borrower)
  const gives = giveBackSteps(settings).map((give) => onceRolled(give, rolling))
  let next: Step | undefined
  return {
    ...step,
    patience: { ...step.patience, atMost: Math.max(step.patience.atMost, rollAtMost) },
    follows: [...lookFollows(rolling.owner), ...step.follows],
    // Further rolls come one after the other, two at most were seen; every one of them is a pause and a resumption.
    repeats: { atMost: 12, parallel: 1 },
    async check(cx): Promise<StepState> {
      next = undefined
      const loan = openLoan(await cx.journal.loans(), settings.uid)
      if (loan && !isGuards(loan)) {
        const found = await firstOpen(gives, cx)
        next = found?.step
        return found?.state ?? step.check(cx)
      }
      rolling.patience.saw(await look(cx, rolling.owner), ticks(cx.clock))
      if (!loan && rolling.patience.rollsAnew) {
        const found = await firstOpen([hold], cx)
        next = found?.step
        if (found?.state.is === 'todo')
          return {
            is: 'todo',
            change: `pause automatic VM updates again: virt-handler is given a new template`,
          }
        return found?.state ?? { is: 'waiting', on: isRolling }
      }
      return step.check(cx)
    },
    async apply(cx: StepContext) {
      return (next ?? step).apply?.(cx)
    },
  }
}

/** The first of the steps that is not done, and where it stands. */
async function firstOpen(
  steps: readonly Step[],
  cx: ReadContext,
): Promise<{ step: Step; state: StepState } | undefined> {
  for (const step of steps) {
    const state = await step.check(cx)
    if (state.is !== 'done') return { step, state }
  }
  return undefined
}
