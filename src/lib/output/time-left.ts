import type { RunProgress, StepLine } from './progress.ts'

const minute = 60_000

/** `4–6 min left`, from the steps' estimates and how the finished ones compared with theirs; undefined when nothing can be said. */
export function timeLeft(run: RunProgress, at: Date): string | undefined {
  const open = run.steps.filter(({ shape }) => shape !== 'done')
  const cannotSay =
    run.finishedAt !== undefined || open.some(({ shape }) => shape === 'stalled' || shape === 'failed')
  if (cannotSay || open.length === 0) return undefined
  const left = open.reduce((sum, step) => sum + stepLeft(step, at), 0)
  const pace = paceOf(run.steps)
  return range(left * Math.min(1, pace) * 0.8, left * Math.max(1, pace) * 1.2)
}

function stepLeft(step: StepLine, at: Date): number {
  const spent = step.startedAt === undefined ? 0 : Math.max(0, at.getTime() - Date.parse(step.startedAt))
  const { done, total } = step.progress ?? { done: 0, total: 0 }
  if (done > 0 && total > 0) return Math.max(0, (spent / done) * (total - done))
  return Math.max(step.estimate - spent, step.estimate * 0.1)
}

/** Real over estimated time of the steps that took any, kept between a third and three. */
function paceOf(steps: readonly StepLine[]): number {
  const timed = steps.filter(
    ({ shape, tookMs, estimate }) => shape === 'done' && (tookMs ?? 0) > 1000 && estimate > 0,
  )
  const estimated = timed.reduce((sum, { estimate }) => sum + estimate, 0)
  if (estimated === 0) return 1
  const real = timed.reduce((sum, { tookMs }) => sum + (tookMs ?? 0), 0)
  return Math.min(3, Math.max(1 / 3, real / estimated))
}

function range(low: number, high: number): string {
  if (high < minute) return 'less than 1 min left'
  const [from, to] = [Math.max(1, Math.floor(low / minute)), Math.ceil(high / minute)]
  return from === to ? `${to} min left` : `${from}–${to} min left`
}
