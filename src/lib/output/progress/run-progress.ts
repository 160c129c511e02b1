import type { Progress, RunEvent, StepSummary } from '../../engine/step.ts'
import { inStages } from '../../kube/text.ts'

type Waiting = Extract<RunEvent, { kind: 'step-waiting' }>

export type StepShape = 'todo' | 'running' | 'stalled' | 'done' | 'failed'

/** One step as the live view knows it. */
export interface StepLine {
  id: string
  title: string
  /** See `StepSummary`. */
  part?: string
  ahead?: string
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
  /** In that nothing of it could be begun, for all windows were closed; ms of its `tookMs`. */
  closedMs?: number
}

/** What of a run is worth showing, reduced from its events. */
export interface RunProgress {
  procedure: string
  /** What a person calls it; absent: by its procedure. */
  title?: string
  startedAt?: string
  steps: readonly StepLine[]
  waiting?: Pick<Waiting, 'state' | 'until'> & { step: string; began: string }
  finishedAt?: string
}

/** Of a step that had nothing to do. */
export const nothingChanged = 'already done'

const nothing: RunProgress = { procedure: '', steps: [] }

type Reducers = {
  [K in RunEvent['kind']]: (run: RunProgress, event: Extract<RunEvent, { kind: K }>) => RunProgress
}

const reducers: Reducers = {
  'run-started': (_, { procedure, title, at, steps }) => ({
    procedure,
    ...(title !== undefined && { title }),
    startedAt: at,
    steps: merged([], steps),
  }),
  'steps-known': (run, { steps }) => ({ ...run, steps: merged(run.steps, steps) }),
  'step-started': (run, { step, at }) => quiet(withStep(run, step, { shape: 'running', startedAt: at })),
  'step-applied': (run, { step, change }) => withStep(run, step, { shape: 'running', note: change }),
  'step-waiting': afterWaiting,
  'step-done': (run, { step, note, changed, tookMs }) => {
    const moved = changed || tookMs >= 1000 || waitedFor(run, step)
    return quiet(withStep(run, step, { shape: 'done', note: note ?? (moved ? '' : nothingChanged), tookMs }))
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

/** The run as it is left where it was told to stop: nothing is waited for. */
export const progressStopped = (run: RunProgress, at: string): RunProgress =>
  quiet({ ...run, finishedAt: at })

function afterWaiting(run: RunProgress, { step, state, until, at }: Waiting): RunProgress {
  const goesOn = run.waiting?.step === step.id && run.waiting.state.is === state.is
  const began = goesOn && run.waiting !== undefined ? run.waiting.began : at
  const change: Partial<StepLine> = {
    waited: true,
    ...(state.since !== undefined && { since: state.since }),
    ...(state.progress !== undefined && counted(run, { id: step.id, progress: state.progress, at })),
    ...closedNow(run, { id: step.id, state, at }),
    ...(state.is === 'stalled'
      ? { shape: 'stalled', stalledAt: state.since ?? began }
      : { shape: 'running' }),
  }
  return { ...withStep(run, step, change), waiting: { state, until, step: step.id, began } }
}

/** While windows are closed no time passes for it: it counts, and is measured, from when the next one opens. */
function closedNow(
  { steps }: RunProgress,
  { id, state, at }: { id: string; state: Waiting['state']; at: string },
): Partial<StepLine> {
  const closed = state.is === 'waiting' ? state.closed : undefined
  const until = closed?.find(({ from }) => from === undefined)?.until
  const line = steps.find((step) => step.id === id)
  if (until === undefined || line?.startedAt === undefined || line.startedAt === until) return {}
  const { progress = line.progress } = state
  return {
    startedAt: until,
    closedMs: (line.closedMs ?? 0) + Math.max(0, Date.parse(until) - Date.parse(at)),
    ...(progress && { begunAt: { done: progress.done, at: until }, movedAt: until }),
  }
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
    const part = line.part === undefined ? undefined : newName(line.part, known, steps)
    const done = part === undefined ? line : { ...line, part }
    return all.toSpliced(all.findLastIndex(({ id }) => before.has(id)) + 1, 0, done)
  }, ahead)
}

function lineOf({ id, title, estimate, ahead }: StepSummary): StepLine {
  return { id, title, estimate, ...(ahead !== undefined && { ahead }), shape: 'todo' }
}

/** What a whole stage is called now, as the steps of a minor that is behind are one line; a step that is listed again elsewhere stays where it was done. */
function newName(
  part: string,
  known: readonly StepLine[],
  steps: readonly StepSummary[],
): string | undefined {
  const names = known
    .filter((line) => line.part === part)
    .map(({ id }) => steps.find((step) => step.id === id)?.part)
  return names.every((name) => name === names[0]) ? names[0] : undefined
}

/** Of steps in between it may be known only later. */
const partOf = ({ part }: StepSummary): Pick<StepLine, 'part'> => (part === undefined ? {} : { part })

function withStep(run: RunProgress, step: StepSummary, change: Partial<StepLine>): RunProgress {
  const at = run.steps.findIndex(({ id }) => id === step.id)
  const line = { ...(run.steps[at] ?? lineOf(step)), ...change }
  return { ...run, steps: at < 0 ? [...run.steps, line] : run.steps.with(at, line) }
}

/** A line of the live view: a step, or the stage that several steps are of, with the one that is at work in it. */
export interface StageLine extends StepLine {
  /** The ids of its steps. */
  steps: readonly string[]
}

/** The stages of a run. */
export function stagesOf({ steps, finishedAt }: RunProgress): readonly StageLine[] {
  return inStages(steps).flatMap((all) =>
    all[0] === undefined ? [] : [stageOf(all[0], all, finishedAt !== undefined)],
  )
}

/** Each step as a line of its own. */
export const stepsAlone = (steps: readonly StepLine[]): readonly StageLine[] =>
  steps.map((step) => ({ ...step, steps: [step.id] }))

function stageOf(first: StepLine, steps: readonly StepLine[], isOver: boolean): StageLine {
  const { id, title, part = title } = first
  const estimate = steps.reduce((sum, step) => sum + step.estimate, 0)
  const line = { id, title: part, estimate, steps: steps.map((step) => step.id) }
  const atWork = steps.find(({ shape }) => shape !== 'done' && shape !== 'todo')
  if (atWork) {
    const { note: _, ahead: __, ...rest } = atWork
    return { ...rest, ...line }
  }
  const done = steps.filter(({ shape }) => shape === 'done')
  if (done.length === steps.length) return { ...line, shape: 'done', ...endOf(steps) }
  if (done.length > 0)
    return isOver
      ? { ...line, shape: 'todo', ahead: `${done.length} of ${steps.length} steps done` }
      : { ...line, shape: 'running' }
  const ahead = aheadOf(steps)
  return { ...line, shape: 'todo', ...(ahead.length > 0 && { ahead: ahead.join(', then ') }) }
}

const aheadOf = (steps: readonly StepLine[]): readonly string[] =>
  steps.flatMap(({ ahead }) => (ahead === undefined ? [] : [ahead]))

/** More than this is no end of a stage but a list. */
const notesAtMost = 2

/** What its steps found, where they say one or two things; that nothing had to be done only where that is true of all. */
function endOf(steps: readonly StepLine[]): Pick<StepLine, 'note' | 'tookMs'> {
  const tookMs = steps.reduce((sum, step) => sum + (step.tookMs ?? 0), 0)
  const notes = [...new Set(steps.map(({ note = '' }) => note).filter(Boolean))]
  const found = notes.filter((note) => note !== nothingChanged)
  const isNothing = notes.length > 0 && steps.every(({ note }) => note === nothingChanged)
  const note = isNothing ? nothingChanged : found.length > notesAtMost ? '' : found.join(', ')
  return { tookMs, note }
}
