import type { RunEvent } from '../procedure/events.ts'
import { type Clock, ticks } from '../system/clock.ts'
import { timeOfDay } from './age.ts'
import { remedyLines } from './error-text.ts'
import type { Paint } from './printer.ts'
import { progressAfter, progressOf, type RunProgress, waitedFor } from './progress.ts'
import { sanitiseLine } from './sanitise.ts'
import { timeLeft } from './time-left.ts'
import { type Wording, waitingSentence, wordingOf } from './wording.ts'

/** A run on a pipe: `HH:MM:SS text`, only on change, and a heartbeat when nothing was said for 30 s. */
export interface PlainLines {
  event(event: RunEvent): void
  /** To be called now and then; speaks only when a heartbeat is due. */
  tick(): void
}

const heartbeat = 30_000
/** `9s`, `3m12s`, `4 restarts`, `and 2 more`: what grows while everything stays as it is. */
const growing = /\b(?:(?:\d+[dhms])+|\d+ (?:restarts?|more))\b/g

export function plainLines(write: (line: string) => void, clock: Clock, paint: Paint): PlainLines {
  let run: RunProgress = progressOf([])
  let spokenAt = ticks(clock)
  const said = new Map<string, string>()

  const speak = (at: Date | string, { text, tone, remedy = [] }: Wording) => {
    spokenAt = ticks(clock)
    const line = sanitiseLine(text)
    write(`${timeOfDay(at)} ${tone === undefined ? line : paint[tone](line)}`)
    for (const help of remedyLines(remedy, paint)) write(`       ${help}`)
  }
  const tick = () => {
    const now = clock.now()
    if (run.waiting === undefined || ticks(clock) - spokenAt < heartbeat) return
    const step = run.steps.find(({ id }) => id === run.waiting?.step)
    const sentence = waitingSentence(run.waiting, now, run.waiting.began)
    const left = timeLeft(run, now)
    const ends = left === undefined ? '' : `; ${left}`
    speak(now, { text: `${step?.title ?? run.waiting.step}: still ${sentence}${ends}` })
  }
  return {
    tick,
    event(event) {
      run = progressAfter(run, event)
      const wording = wordingOf(afterWaiting(event, run))
      const subject = 'step' in event ? event.step.id : event.kind
      const gist = wording && gistOf(event, wording)
      if (wording === undefined || said.get(subject) === gist) {
        tick()
        return
      }
      said.set(subject, gist ?? '')
      speak(event.at, wording)
    },
  }
}

/** What was waited for is done now; it was not so already. */
function afterWaiting(event: RunEvent, run: RunProgress): RunEvent {
  const isPlain = event.kind === 'step-done' && !event.changed && event.note === undefined
  return isPlain && waitedFor(run, event.step) ? { ...event, note: 'done' } : event
}

/** Where something is counted, the count is the change, and each pod on the way to it is none: the heartbeat names those that stay. */
function gistOf(event: RunEvent, { text }: Wording): string {
  const { state } = event.kind === 'step-waiting' ? event : {}
  if (state?.progress === undefined) return text.replace(growing, '')
  const why = state.is === 'stalled' ? state.why : state.trouble
  return `${state.is} ${state.progress.done}/${state.progress.total} ${why?.replace(growing, '') ?? ''}`
}
