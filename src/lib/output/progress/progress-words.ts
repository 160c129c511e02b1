import type { Progress, RunEvent } from '../../engine/step.ts'
import { spanText } from '../../kube/duration.ts'
import { timeAfter } from '../age.ts'
import type { Tone } from '../printer.ts'
import { brief, count } from '../text.ts'
import { nothingChanged, type RunProgress, type StageLine, stagesOf, waitedFor } from './run-progress.ts'
import { percentDone, timeLeft } from './time-left.ts'

type Waiting = Extract<RunEvent, { kind: 'step-waiting' }>

/** What is said of an event: nothing, or a line and how much it matters. */
export interface Wording {
  /** Id of the stage or step that it is about. */
  about: string
  text: string
  tone?: Tone
  /** Commands that help, below it. */
  remedy?: readonly string[]
}

/** What happens, in one phrase that stands alone: `worker-2 restarting, next worker-1`, or `waiting for the install strategy of v1.8.4`. */
export function phraseOf(state: Waiting['state']): string {
  return state.is === 'waiting' && state.now !== undefined ? state.now : `waiting for ${state.on}`
}

/** `4 of 6 nodes`, `62 %`; empty where nothing is counted. */
export function countText(progress: Progress | undefined): string {
  if (progress === undefined || progress.total === 0) return ''
  const { done, total, of, share } = progress
  return share ? `${done} %` : `${done} of ${total}${of === undefined ? '' : ` ${of}`}`
}

/** Spans in which a step that has longer is near its end, ms, and which part of its time. */
const near = { atMost: 5 * 60_000, share: 0.2 }

/** `gives up at 22:35`, once that is near; undefined before. */
export function givesUp({ until, began }: NonNullable<RunProgress['waiting']>, at: Date): string | undefined {
  const left = Date.parse(until) - at.getTime()
  const whole = Date.parse(until) - Date.parse(began)
  if (left > Math.min(near.atMost, near.share * whole)) return undefined
  return `gives up at ${timeAfter(until, at).slice(0, -3)}`
}

/** What stands in the way: of a stall and before it counts as one. */
export const troubleOf = (state: Waiting['state']): string | undefined => {
  const why = state.is === 'stalled' ? state.why : state.trouble
  return why === undefined ? undefined : brief(why)
}

/** `stable for 31 s`, or `done` where nothing more is to be said. */
export const doneText = ({ note }: Pick<StageLine, 'note'>): string => (note ? note : 'done')

type Words = {
  [K in RunEvent['kind']]: (event: Extract<RunEvent, { kind: K }>, run: RunProgress) => Wording | undefined
}

const silent = () => undefined

/** As the screen says it: stages, their counts and what is in the way, and no step by its name. A new kind of event does not compile until it stands here. */
const stageWords: Words = {
  'run-started': ({ procedure, title = procedure }) => ({ about: 'run', text: title, tone: 'strong' }),
  'steps-known': silent,
  'step-started': silent,
  'step-applied': silent,
  'step-waiting': ({ step, state }, run) => {
    const stage = stageWith(run, step.id)
    return stage && waitingWords(stage.id, stage.title, state)
  },
  'step-done'({ step }, run) {
    const stage = stageWith(run, step.id)
    return stage?.shape === 'done' ? stageDone(stage) : undefined
  },
  'run-finished': ({ tookMs, shortfall }) =>
    shortfall === undefined
      ? { about: 'run', text: `done in ${spanText(tookMs)}`, tone: 'good' }
      : { about: 'run', text: `incomplete after ${spanText(tookMs)}: ${shortfall}`, tone: 'bad' },
  remark: ({ text }) => ({ about: text, text: `note: ${text}`, tone: 'warn' }),
}

/** Each step by its title, and what it changed. */
const stepWords: Words = {
  ...stageWords,
  'run-started': ({ procedure, title = procedure, steps }) => ({
    about: 'run',
    text: `${title}: ${count(steps.length, 'step')}`,
    tone: 'strong',
  }),
  'step-applied': ({ step, change }) => ({ about: step.id, text: `${step.title}: ${change}` }),
  'step-waiting': ({ step, state }) => waitingWords(step.id, step.title, state),
  'step-done'({ step, changed, note, tookMs }, run) {
    const isNothing = !changed && tookMs < 1000 && !waitedFor(run, step)
    return stageDone({ ...step, note: note ?? (isNothing ? nothingChanged : ''), tookMs })
  },
}

/** The line for one event, without time and colour; undefined where a pipe has nothing to gain from it. `run`: as it stands behind the event. */
export function wordingOf<E extends RunEvent>(
  event: E,
  run: RunProgress,
  of: 'stages' | 'steps',
): Wording | undefined {
  const words = of === 'steps' ? stepWords : stageWords
  return (words[event.kind] as (event: E, run: RunProgress) => Wording | undefined)(event, run)
}

const stageWith = (run: RunProgress, id: string): StageLine | undefined =>
  stagesOf(run).find((stage) => stage.steps.includes(id))

/** `Prepare: done in 6 s, automatic VM updates paused`. */
function stageDone(stage: Pick<StageLine, 'id' | 'title' | 'note' | 'tookMs'>): Wording {
  const { id, title, note = '', tookMs = 0 } = stage
  const done = tookMs >= 1000 ? `done in ${spanText(tookMs)}` : 'done'
  const text = note === nothingChanged ? nothingChanged : [done, note].filter(Boolean).join(', ')
  return { about: id, text: `${title}: ${text}`, tone: 'good' }
}

/** STALLED, or what KubeVirt is then: as `kvup status` says it. */
export const stallWord = (state: Waiting['state'] | undefined): string =>
  ((state?.is === 'stalled' ? state.verdict : undefined) ?? 'Stalled').toUpperCase()

function waitingWords(about: string, title: string, state: Waiting['state']): Wording {
  const counted = state.progress?.share ? '' : countText(state.progress)
  const why = troubleOf(state)
  const what = state.is === 'stalled' ? `${stallWord(state)} while waiting for ${state.on}` : phraseOf(state)
  const said = state.is === 'stalled' ? [what, counted] : [counted, what]
  const text = `${title}: ${said.filter(Boolean).join(', ')}`
  if (state.is === 'waiting') return { about, text: why === undefined ? text : `${text}; ${why}` }
  return {
    about,
    text: `${text}: ${why ?? ''}`,
    tone: 'bad',
    ...(state.remedy && { remedy: state.remedy }),
  }
}

/** That something is waited for still: where it stands, for how long, and how far the whole run is. */
export function heartbeatWording(run: RunProgress, at: Date, of: 'stages' | 'steps'): Wording | undefined {
  const { waiting } = run
  if (waiting === undefined) return undefined
  const { state, step: id, began } = waiting
  const step = run.steps.find((line) => line.id === id)
  const about = of === 'steps' ? step : stageWith(run, id)
  const { text } = waitingWords(id, about?.title ?? id, state)
  const since = spanText(at.getTime() - Date.parse(state.since ?? began))
  const left = timeLeft(run, at)
  const whole = [`${percentDone(run, at)} %`, ...(left === undefined ? [] : [left])]
  const end = givesUp(waiting, at)
  return {
    about: id,
    text: `${text}, for ${since}${end === undefined ? '' : `, ${end}`} (${whole.join(', ')})`,
    ...(state.is === 'stalled' && { tone: 'bad' as const }),
  }
}
