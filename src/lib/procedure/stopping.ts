import { usageError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import { nothingToDo } from './nothing-to-do.ts'
import type { RunLimits, StopReason } from './run-context.ts'
import type { Procedure, ReadContext, Step, StepState } from './step.ts'

/** Throws `usage` (exit 2) for a name in --until or --pause-before that no step has: a typo must not run on. */
export function ensureStepsExist({ until, pauseBefore = [] }: RunLimits, steps: readonly Step[]): void {
  const unknown = [...(until === undefined ? [] : [until]), ...pauseBefore].find(
    (id) => !steps.some((step) => step.id === id),
  )
  if (unknown === undefined) return
  const ids = steps.map(({ id }) => id)
  const meant = nearest(unknown.replace(/^step\//u, ''), ids)
  throw usageError('no-such-step', `there is no step "${unknown}"`, {
    remedy: [
      ...(meant === undefined ? [] : [`did you mean ${meant}?`]),
      `the steps are: ${ids.join(', ')}`,
      'without it, the same line with --dry-run=client -o name lists them',
    ],
  })
}

/** The same for a dry run: what the run would refuse before it asks, it refuses as well. Where nothing is to be done there is nothing to refuse. */
export async function ensureStepsMeant(
  limits: RunLimits,
  procedure: Procedure,
  reading: ReadContext,
): Promise<void> {
  const { until, pauseBefore = [] } = limits
  if (until === undefined && pauseBefore.length === 0) return
  if (await nothingToDo(procedure, reading)) return
  ensureStepsExist(limits, await procedure.steps(reading))
}

/** Why this step, which stands at `state`, is not to be begun; undefined when it may, or need not. */
export function reasonToStop(
  step: Step,
  state: StepState,
  { limits, steps, now }: { limits: RunLimits; steps: readonly Step[]; now: number },
): StopReason | undefined {
  if (state.is === 'done') return undefined
  if (limits.pauseBefore?.includes(step.id)) return 'pause-before'
  if (limits.deadline === undefined || state.is !== 'todo' || step.closes) return undefined
  return now + costOf(step, steps) > limits.deadline.getTime() ? 'deadline' : undefined
}

/** A step together with those right after it that only wait for what it set going, or close it: between them is no safe point. */
function costOf(step: Step, steps: readonly Step[]): number {
  const after = steps.slice(steps.findIndex(({ id }) => id === step.id) + 1)
  const nextChange = after.findIndex((next) => next.apply !== undefined && !next.closes)
  const waits = nextChange === -1 ? after : after.slice(0, nextChange)
  return [step, ...waits].reduce((sum, { estimate }) => sum + estimate, 0)
}
