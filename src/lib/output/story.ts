import type { RunEvent } from '../procedure/events.ts'
import type { Beat, Clock } from '../system/clock.ts'
import { BusySign } from './busy-sign.ts'
import { errorLines } from './error-text.ts'
import { frameInterval, LiveView } from './live-view.ts'
import { inLocale } from './paint.ts'
import { plainLines } from './plain-lines.ts'
import type { Paint } from './printer.ts'
import { sanitise, sanitiseLine } from './sanitise.ts'
import { type Environment, isLive, type Stream } from './stream.ts'
import { wrap } from './wrap.ts'

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

/** The live view as the process sees it; each is nothing where there is none. */
export interface LiveTerminal {
  /** SIGTSTP: the terminal belongs to the shell until `resume`. */
  suspend: () => void
  /** SIGCONT. */
  resume: () => void
  /** Exit of any kind: the cursor comes back. Safe to call at any time and again. */
  release: () => void
}

/** What happens on the way, on stderr: live on a terminal, plain lines elsewhere. */
export interface Story {
  event: (event: RunEvent) => void
  note: (line: string) => void
  warn: (line: string) => void
  /** Runs a write to the other stream, which may be the same terminal, without tearing the live view. */
  aside: (write: () => void) => void
  end: (error?: unknown) => void
  readonly live: LiveTerminal
}

export function tellStory(telling: Telling): Story {
  const { stream, paint } = telling
  const columns = () => (stream.isTTY === true ? (stream.columns?.() ?? 80) : Infinity)
  const writeLine = (line: string) =>
    wrap(inLocale(line, paint), columns()).forEach((part) => stream.write(`${part}\n`))
  const { busy, view, told } = tellers(telling, writeLine)
  const stop = telling.beat(frameInterval, () => {
    busy?.tick()
    told.tick()
  })
  const above = (write: () => void) => {
    busy?.stop()
    if (view) view.above(write)
    else write()
  }
  const note = (text: string) => above(() => writeLine(sanitise(text)))
  return {
    event(event) {
      if (telling.eventsElsewhere) return
      busy?.stop()
      if (view && event.kind === 'remark') note(event.text)
      else told.event(event)
    },
    note,
    warn: once((text) => above(() => writeLine(`${paint.warn('warning:')} ${sanitiseLine(text)}`))),
    aside: above,
    end(error) {
      stop()
      busy?.stop()
      view?.close(error !== undefined)
      if (error !== undefined) errorLines(error, paint, telling.verbosity).forEach(writeLine)
    },
    live: liveTerminal(busy, view),
  }
}

function tellers({ stream, clock, paint, env, eventsElsewhere }: Telling, writeLine: (line: string) => void) {
  const canMove = isLive(stream, env)
  const busy = canMove ? new BusySign(stream) : undefined
  const view = canMove && !eventsElsewhere ? new LiveView(stream, clock, paint) : undefined
  return { busy, view, told: view ?? plainLines(writeLine, clock, paint) }
}

function once(say: (text: string) => void): (text: string) => void {
  const said = new Set<string>()
  return (text) => {
    if (!said.has(text)) say(text)
    said.add(text)
  }
}

function liveTerminal(busy: BusySign | undefined, view: LiveView | undefined): LiveTerminal {
  const silence = (then: (() => void) | undefined) => () => {
    busy?.stop()
    then?.()
  }
  return {
    suspend: silence(() => view?.suspend()),
    resume: () => view?.resume(),
    release: silence(() => view?.release()),
  }
}
