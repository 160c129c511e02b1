import type { Clock } from '../system/clock.ts'

/** Wakes who waits when it is rung; a ring that nobody waited for is kept. */
export class Bell {
  #rung = false
  #wake: () => void = () => undefined

  ring(): void {
    this.#rung = true
    this.#wake()
  }

  /** Until it is rung, or for at most this many ms. Rejects with the signal's reason. */
  async wait(clock: Clock, atMost: number, signal: AbortSignal): Promise<void> {
    const enough = new AbortController()
    this.#wake = () => enough.abort()
    if (!this.#rung)
      await clock.sleep(atMost, AbortSignal.any([signal, enough.signal])).catch(() => undefined)
    this.#rung = false
    this.#wake = () => undefined
    signal.throwIfAborted()
  }
}
