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
    const late = new AbortController()
    const ms = Math.min(this.#left, most)
    const timer = Number.isFinite(ms)
      ? setTimeout(() => late.abort(new DOMException('too late', 'TimeoutError')), Math.max(1, ms))
      : undefined
    return {
      signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
      end: () => clearTimeout(timer),
    }
  }
}
