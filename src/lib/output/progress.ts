import type { RunEvent, StepSummary } from '../procedure/events.ts'
import type { Progress } from '../procedure/step.ts'

type Waiting = Extract<RunEvent, { kind: 'step-waiting' }>

export type StepShape = 'todo' | 'running' | 'stalled' | 'done' | 'failed'

/** One step as the live view knows it. */
export interface StepLine {
  id: string
  title: string
  /** See `StepSummary`. */
  part?: string
  /** ms */
  estimate: number
  shape: StepShape
  /** What it did or found: shown beside the title. */
  note?: string
  progress?: Progress
  /** When what is waited for began, which may be before we looked. */
  since?: string
  /** The count that was seen first, and when: its pace is measured from there. */
  begunAt?: { done: number; at: string }
  /** When its count last went up. */
  movedAt?: string
  startedAt?: string
  stalledAt?: string
  tookMs?: number
  /** It was waited for: that it is done now is no longer `already so`. */
  waited?: true
}

/** What of a run is worth showing, reduced from its events. */
export interface RunProgress {
  procedure: string
  startedAt?: string
  steps: readonly StepLine[]
  waiting?: Pick<Waiting, 'state' | 'until'> & { step: string; began: string }
  finishedAt?: string
}

const nothing: RunProgress = { procedure: '', steps: [] }

type Reducers = {
  [K in RunEvent['kind']]: (run: RunProgress, event: Extract<RunEvent, { kind: K }>) => RunProgress
}

const reducers: Reducers = {
  'run-started': (_, { procedure, at, steps }) => ({ procedure, startedAt: at, steps: merged([], steps) }),
  'steps-known': (run, { steps }) => ({ ...run, steps: merged(run.steps, steps) }),
  'step-started': (run, { step, at }) => quiet(withStep(run, step, { shape: 'running', startedAt: at })),
  'step-applied': (run, { step, change }) => withStep(run, step, { shape: 'running', note: change }),
  'step-waiting': waited,
  'step-done': (run, { step, note, changed, tookMs }) => {
    const moved = changed || tookMs >= 1000 || waitedFor(run, step)
    return quiet(withStep(run, step, { shape: 'done', note: note ?? (moved ? '' : 'already so'), tookMs }))
  },
  'run-finished': (run, { at }) => quiet({ ...run, finishedAt: at }),
  remark: (run) => run,
}

/** The run after one more event. */
export function progressAfter<E extends RunEvent>(run: RunProgress, event: E): RunProgress {
  return (reducers[event.kind] as (run: RunProgress, event: E) => RunProgress)(run, event)
}

/** Where a run stands after these events. */
export function progressOf(events: readonly RunEvent[]): RunProgress {
  return events.reduce<RunProgress>(progressAfter, nothing)
}

/** The run as it is left when it ends with an error: the step at work failed, nothing is waited for. */
export function progressFailed(run: RunProgress, at: string): RunProgress {
  const steps = run.steps.map((step) =>
    step.shape === 'running' || step.shape === 'stalled' ? { ...step, shape: 'failed' as const } : step,
  )
  return quiet({ ...run, steps, finishedAt: at })
}

function waited(run: RunProgress, { step, state, until, at }: Waiting): RunProgress {
  const goesOn = run.waiting?.step === step.id && run.waiting.state.is === state.is
  const began = goesOn && run.waiting !== undefined ? run.waiting.began : at
  const change: Partial<StepLine> = {
    waited: true,
    ...(state.since !== undefined && { since: state.since }),
    ...(state.progress !== undefined && counted(run, { id: step.id, progress: state.progress, at })),
    ...(state.is === 'stalled'
      ? { shape: 'stalled', stalledAt: state.since ?? began }
      : { shape: 'running' }),
  }
  return { ...withStep(run, step, change), waiting: { state, until, step: step.id, began } }
}

/** A count that goes down, or another total, is another roll: it is measured anew. */
function counted(
  { steps }: RunProgress,
  { id, progress, at }: { id: string; progress: Progress; at: string },
): Partial<StepLine> {
  const before = steps.find((step) => step.id === id)
  const { done, total } = before?.progress ?? { done: 0, total: 0 }
  const goesOn = before?.begunAt !== undefined && total === progress.total && done <= progress.done
  if (!goesOn) return { progress, begunAt: { done: progress.done, at }, movedAt: at }
  return done < progress.done ? { progress, movedAt: at } : { progress }
}

/** True where it was waited for on the way to `done`. */
export function waitedFor({ steps }: RunProgress, { id }: Pick<StepSummary, 'id'>): boolean {
  return steps.some((step) => step.id === id && step.waited === true)
}

function quiet(run: RunProgress): RunProgress {
  const { waiting: _, ...rest } = run
  return rest
}

/** The steps as they are known now; what is done stays where it was, whether it is still among them or not. */
function merged(known: readonly StepLine[], steps: readonly StepSummary[]): StepLine[] {
  const ahead = steps.flatMap((step) => {
    const line = known.find(({ id }) => id === step.id) ?? lineOf(step)
    return line.shape === 'done' ? [] : [{ ...line, ...partOf(step) }]
  })
  return known.reduce((all, line, index) => {
    if (line.shape !== 'done') return all
    const before = new Set(known.slice(0, index).map(({ id }) => id))
    return all.toSpliced(all.findLastIndex(({ id }) => before.has(id)) + 1, 0, line)
  }, ahead)
}

function lineOf({ id, title, estimate }: StepSummary): StepLine {
  return { id, title, estimate, shape: 'todo' }
}

/** Of steps in between it may be known only later. */
const partOf = ({ part }: StepSummary): Pick<StepLine, 'part'> => (part === undefined ? {} : { part })

function withStep(run: RunProgress, step: StepSummary, change: Partial<StepLine>): RunProgress {
  const at = run.steps.findIndex(({ id }) => id === step.id)
  const line = { ...(run.steps[at] ?? lineOf(step)), ...change }
  return { ...run, steps: at < 0 ? [...run.steps, line] : run.steps.with(at, line) }
}
