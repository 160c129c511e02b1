import type { RunEvent } from '../procedure/events.ts'
import { brief } from './brief.ts'
import { duration, timeAfter } from './age.ts'
import { count } from './count.ts'
import type { Tone } from './printer.ts'

/** What is said of an event: nothing, or a line and how much it matters. */
export interface Wording {
  text: string
  tone?: Tone
  /** Commands that help, below it. */
  remedy?: readonly string[]
}

type Waiting = Extract<RunEvent, { kind: 'step-waiting' }>
type Words = { [K in RunEvent['kind']]: (event: Extract<RunEvent, { kind: K }>) => Wording | undefined }

/** The mapped type makes a new kind of event a compile error here. */
const words: Words = {
  'run-started': ({ procedure, steps }) => ({
    text: `${procedure}: ${count(steps.length, 'step')}`,
    tone: 'strong',
  }),
  // Each is named when it begins.
  'steps-known': () => undefined,
  // What it does or waits for is said by the events that follow at once.
  'step-started': () => undefined,
  'step-applied': ({ step, change }) => ({ text: `${step.title}: ${change}` }),
  'step-waiting': (event) => waitingChange(event),
  'step-done': ({ step, changed, note, tookMs }) => ({
    text: `${step.title}: ${note ?? (changed || tookMs >= 1000 ? 'done' : 'already so')}${tookMs >= 1000 ? `, took ${duration(tookMs)}` : ''}`,
    tone: 'good',
  }),
  'run-finished': ({ procedure, tookMs }) => ({
    text: `${procedure}: finished in ${duration(tookMs)}`,
    tone: 'good',
  }),
  remark: ({ text }) => ({ text: `note: ${text}`, tone: 'warn' }),
}

/** The line for one event, without time and colour; undefined where a pipe has nothing to gain from it. */
export function wordingOf<E extends RunEvent>(event: E): Wording | undefined {
  return (words[event.kind] as (event: E) => Wording | undefined)(event)
}

function waitingChange({ step, state }: Waiting): Wording {
  const { progress: seen } = state
  // What tells a share says it in its own words.
  const progress = seen === undefined || seen.share ? '' : `${seen.done}/${seen.total}, `
  const trouble = state.is === 'waiting' && state.trouble !== undefined ? `; ${brief(state.trouble)}` : ''
  const text = `${step.title}: ${progress}${objectOf(state)}${trouble}`
  if (state.is === 'waiting') return { text }
  return {
    text: `${text}: ${brief(state.why)}`,
    tone: 'bad',
    ...(state.remedy && { remedy: state.remedy }),
  }
}

function objectOf({ is, on }: Waiting['state']): string {
  return is === 'stalled' ? `stalled on ${on}` : `waiting for ${on}`
}

/** What is waited for, and since when and until when: `waiting for node-14` and `for 9s`, `until 08:10:02`. */
export function waitingWords(
  { state, until }: Pick<Waiting, 'state' | 'until'>,
  at: Date,
  began?: string,
): { what: string; how: string[] } {
  const since = state.since ?? began
  const so = since === undefined ? [] : [`for ${duration(at.getTime() - Date.parse(since))}`]
  return {
    what: objectOf(state),
    how: [...so, `until ${timeAfter(until, at)}`],
  }
}

/** The same in one sentence, with what stands in the way. */
export function waitingSentence(event: Pick<Waiting, 'state' | 'until'>, at: Date, began?: string): string {
  const { what, how } = waitingWords(event, at, began)
  const { state } = event
  const why = state.is === 'stalled' ? state.why : state.trouble
  return [what, ...(why === undefined ? [] : [brief(why)]), ...how].join(', ')
}
