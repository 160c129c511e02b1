import type { Failure } from './failure.ts'

/** How long to wait before the next try, in ms; undefined when there must be none. */
export type Patience = (failure: Failure, circumstances: Circumstances) => number | undefined

interface Circumstances {
  /** 0 after the first try. */
  attempt: number
  random: () => number
  /** False until this server has answered once: a mistyped address is told at once, a restart is sat out. */
  met: boolean
}

const tries = 5
const triesBeforeItAnswered = 2
const firstWait = 600
const longestRetryAfter = 30_000

/** 0.6, 1.2, 2.4, 4.8 s … give or take a quarter, never over `cap`. */
export function backoff(attempt: number, random: () => number, cap = 10_000): number {
  const jitter = 0.75 + random() / 2
  return Math.round(Math.min(cap, firstWait * 2 ** Math.min(attempt, 16)) * jitter)
}

/** Reading twice harms nobody: 429, 5xx, a gateway that has lost its server, and connections that were refused, reset or cut. */
export const patientReads: Patience = (failure, { attempt, random, met }) => {
  const limit = met || failure.status > 0 ? tries : triesBeforeItAnswered
  if (attempt + 1 >= limit || !isPassing(failure)) return undefined
  return wait(failure, attempt, random)
}

/** The same for a question that changes nothing and is answered at once: one that is lost is asked again. */
export const patientQuestions: Patience = (failure, circumstances) =>
  patientReads(failure.cause === 'timeout' ? { ...failure, cause: 'cut' } : failure, circumstances)

/** A write is sent again only where the server surely did not act on the first one. */
export const carefulWrites: Patience = (failure, circumstances) =>
  surelyNotDone(failure) ? patientReads(failure, circumstances) : undefined

/** Who follows decides about reconnecting; only an overloaded server is waited for here. */
export const overloadOnly: Patience = (failure, circumstances) =>
  failure.status === 429 ? patientReads(failure, circumstances) : undefined

function isPassing({ status, cause, astray }: Failure): boolean {
  if (astray) return true
  if (status === 0) return cause === 'refused' || cause === 'unknown-host' || cause === 'cut'
  return status === 429 || (status >= 500 && status !== 501)
}

function surelyNotDone({ status, cause, retryAfter }: Failure): boolean {
  if (status === 0) return cause === 'refused' || cause === 'unknown-host'
  return (status === 429 || status === 503) && retryAfter !== undefined
}

function wait({ retryAfter }: Failure, attempt: number, random: () => number): number {
  const own = backoff(attempt, random)
  return retryAfter === undefined ? own : Math.max(Math.min(retryAfter, longestRetryAfter), own / 4)
}

/**
 * What is left of `--request-timeout` for one request with all its tries and the pauses between them, as kubectl bounds one (client-go,
 * `Request.request`). A login in between costs nothing of it.
 */
export class Allowance {
  /** ms that all tries have together; undefined is no limit. */
  readonly whole: number | undefined
  #left: number
  #isShortened = false

  constructor(ms: number | undefined) {
    this.whole = ms
    this.#left = ms ?? Infinity
  }

  /** Whether there is time for another try after such a pause. */
  outlasts(pause: number): boolean {
    return pause < this.#left
  }

  /** A pause that the server asked for, shortened once where it would leave no time to ask again: at the end of the time there is a last try. */
  fitted(pause: number): number {
    if (this.outlasts(pause) || this.#isShortened) return pause
    this.#isShortened = true
    return Math.max(1, this.#left * 0.9)
  }

  spend(ms: number): void {
    this.#left -= ms
  }

  /** Aborts when the time is up, or that of this one try, or the caller has had enough; after `end` only the caller can. */
  limit(signal: AbortSignal | undefined, most = Infinity): { signal: AbortSignal; end(): void } {
    const ms = Math.min(this.#left, most)
    // Without an end of its own there is nothing to put together: of thousands of requests that is a tenth of the time.
    if (!Number.isFinite(ms) && signal !== undefined) return { signal, end: () => undefined }
    const late = new AbortController()
    const timer = Number.isFinite(ms)
      ? setTimeout(() => late.abort(new DOMException('too late', 'TimeoutError')), Math.max(1, ms))
      : undefined
    return {
      signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
      end: () => clearTimeout(timer),
    }
  }
}
