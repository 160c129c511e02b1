import type { RunEvent } from '../procedure/events.ts'
import type { Clock } from '../system/clock.ts'
import { timeOfDay } from './age.ts'
import type { Paint } from './printer.ts'
import { progressAfter, progressOf, type RunProgress } from './progress.ts'
import { sanitiseLine } from './sanitise.ts'
import { type Wording, waitingSentence, wordingOf } from './wording.ts'

/** A run on a pipe: `HH:MM:SS text`, only on change, and a heartbeat when nothing was said for 30 s. */
export interface PlainLines {
  event(event: RunEvent): void
  /** To be called now and then; speaks only when a heartbeat is due. */
  tick(): void
}

const heartbeat = 30_000
/** `9s`, `3m12s`: a duration that grows is no change. */
const spans = /\b(?:\d+[dhms])+\b/g

export function plainLines(write: (line: string) => void, clock: Clock, paint: Paint): PlainLines {
  let run: RunProgress = progressOf([])
  let spokenAt = clock.now().getTime()
  const said = new Map<string, string>()

  const speak = (at: Date | string, { text, tone }: Wording) => {
    spokenAt = clock.now().getTime()
    const line = sanitiseLine(text)
    write(`${timeOfDay(at)} ${tone === undefined ? line : paint[tone](line)}`)
  }
  const tick = () => {
    const now = clock.now()
    if (run.waiting === undefined || now.getTime() - spokenAt < heartbeat) return
    const step = run.steps.find(({ id }) => id === run.waiting?.step)
    const sentence = waitingSentence(run.waiting, now, run.waiting.began)
    speak(now, { text: `${step?.title ?? run.waiting.step}: still ${sentence}` })
  }
  return {
    tick,
    event(event) {
      run = progressAfter(run, event)
      const wording = wordingOf(event)
      const subject = 'step' in event ? event.step.id : event.kind
      const gist = wording?.text.replace(spans, '')
      if (wording === undefined || gist === undefined || said.get(subject) === gist) {
        tick()
        return
      }
      said.set(subject, gist)
      speak(event.at, wording)
    },
  }
}
