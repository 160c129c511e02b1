import type { RunEvent } from '../procedure/events.ts'
import type { Clock } from '../system/clock.ts'
import { errorLines } from './error-text.ts'
import { frameInterval, LiveView } from './live-view.ts'
import { inLocale } from './paint.ts'
import { plainLines } from './plain-lines.ts'
import type { Paint } from './printer.ts'
import { sanitise, sanitiseLine } from './sanitise.ts'
import { type Environment, isLive, type Stream } from './stream.ts'

/** Calls back every `ms` until the returned function is called. Wall-clock time, whatever the Clock says. */
export type Beat = (ms: number, beat: () => void) => () => void

export interface Telling {
  stream: Stream
  clock: Clock
  paint: Paint
  env: Environment
  verbosity: number
  beat: Beat
  /** With `-o ndjson` events are told on stdout instead. */
  eventsElsewhere: boolean
}

/** What happens on the way, on stderr: live on a terminal, plain lines elsewhere. */
export interface Story {
  event: (event: RunEvent) => void
  note: (line: string) => void
  warn: (line: string) => void
  /** Runs a write to the other stream, which may be the same terminal, without tearing the live view. */
  aside: (write: () => void) => void
  end: (error?: unknown) => void
  readonly live: { suspend(): void; resume(): void }
}

export function tellStory(telling: Telling): Story {
  const { stream, clock, paint, env } = telling
  const writeLine = (line: string) => stream.write(`${inLocale(line, paint)}\n`)
  const view =
    isLive(stream, env) && !telling.eventsElsewhere ? new LiveView(stream, clock, paint) : undefined
  const plain = plainLines(writeLine, clock, paint)
  const above = (write: () => void) => (view ? view.above(write) : write())
  const warned = new Set<string>()
  let stop: (() => void) | undefined

  const start = () => (stop ??= telling.beat(frameInterval, () => (view ?? plain).tick()))
  const note = (text: string) => above(() => sanitise(text).split('\n').forEach(writeLine))
  return {
    event(event) {
      if (telling.eventsElsewhere) return
      start()
      if (view && event.kind === 'remark') note(event.text)
      else (view ?? plain).event(event)
    },
    note,
    warn(text) {
      if (warned.has(text)) return
      warned.add(text)
      above(() => writeLine(`${paint.warn('warning:')} ${sanitiseLine(text)}`))
    },
    aside: above,
    end(error) {
      stop?.()
      view?.close(error !== undefined)
      if (error !== undefined) errorLines(error, paint, telling.verbosity).forEach(writeLine)
    },
    live: { suspend: () => view?.suspend(), resume: () => view?.resume() },
  }
}
