/**
 * What is left of `--request-timeout` for one request with all its tries and the pauses between them, as kubectl bounds one (client-go,
 * `Request.request`). A login in between costs nothing of it.
 */
export class Allowance {
  /** ms that all tries have together; undefined is no limit. */
  readonly whole: number | undefined
  #left: number

  constructor(ms: number | undefined) {
    this.whole = ms
    this.#left = ms ?? Infinity
  }

  /** Whether there is time for another try after such a pause. */
  outlasts(pause: number): boolean {
    return pause < this.#left
  }

  spend(ms: number): void {
    this.#left -= ms
  }

  /** Aborts when the time is up or the caller has had enough; after `end` only the caller can. */
  limit(signal: AbortSignal | undefined): { signal: AbortSignal; end(): void } {
    const late = new AbortController()
    const timer = Number.isFinite(this.#left)
      ? setTimeout(() => late.abort(new DOMException('too late', 'TimeoutError')), Math.max(1, this.#left))
      : undefined
    return {
      signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
      end: () => clearTimeout(timer),
    }
  }
}
