import type { Standing } from '../../kubevirt/rollout-status.ts'
import type { ReadContext, Step, StepContext, StepState } from '../../engine/step.ts'
import { openLoan, type Owner } from '../../vms/update-methods.ts'
import { look, lookFollows } from '../upgrade-snapshot.ts'
import { type Patience, stalledOr } from './verification.ts'
import { hours, minutes, seconds, ticks } from '../../kube/clock.ts'
import type { ComponentStanding } from '../../kubevirt/component-status.ts'
import { type Borrower, giveBackSteps, holdWorkloadUpdates } from '../../vms/pause-updates.ts'
import type { SettingsOwner } from '../../vms/strategy/settings-owner.ts'
import { isGuards } from '../../vms/update-guard.ts'

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
        on: strategyWaitedFor(standing, version),
      })
    },
  }
}

/** With the strategy in place come RBAC, CRDs and webhooks, and then the first component (facts 2.5). */
function strategyWaitedFor({ waitingFor, components: [first] }: Standing, version: string): string {
  if (first && waitingFor?.startsWith(`${first.name}: `)) return `virt-operator to begin with ${first.name}`
  return waitingFor ?? `the install strategy of ${version}`
}

/** The operator works on this version: what its operands carry can be compared with its target (facts 1.5). */
function aimedAt({ target, generation }: Standing, version: string): boolean {
  return target.version === version && generation.spec !== undefined
}

/** Waits for one DaemonSet or Deployment of KubeVirt to run the target everywhere. `expectedMs` is only an estimate. */
export function componentRolled(
  owner: Owner,
  { name, version, undo, expectedMs }: { name: string; version: string; undo: string; expectedMs: number },
): Step {
  return {
    id: name,
    title: name,
    patience: { every: 10 * seconds, atMost: 12 * 60 * minutes },
    estimate: expectedMs,
    follows: lookFollows(owner),
    risk: { undo, safeToLeave: 'the operator goes on by itself' },
    async check(cx): Promise<StepState> {
      const { standing } = await look(cx, owner)
      if (!aimedAt(standing, version))
        return { is: 'waiting', on: `virt-operator to take ${version} as its target` }
      const component = standing.components.find((c) => c.name === name)
      if (!component || component.state === 'absent') return { is: 'done', note: 'not part of this version' }
      const progress = { done: Math.min(component.updated, component.desired), total: component.desired }
      if (component.state === 'current')
        return { is: 'done', note: `${component.updated}/${component.desired}` }
      return stalledOr(standing, name, {
        is: 'waiting',
        on: componentWaitedFor(standing, component),
        progress,
      })
    },
  }
}

/** Without the component's name and count, which are said beside it. */
function componentWaitedFor({ waitingFor }: Standing, { name, state, detail }: ComponentStanding): string {
  if (waitingFor === undefined) return name
  if (!waitingFor.startsWith(`${name}: `)) return waitingFor
  return state === 'waiting' ? 'its turn' : detail || 'its pods to be ready'
}

interface Rolling {
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
