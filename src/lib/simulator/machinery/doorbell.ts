import type { Clock } from '../../system/clock.ts'

/** Why a sleep was given up; a DOMException for each, with its stack, was 4 % of a simulation. */
const enoughSlept = new Error('rung')

/** Wakes one waiting loop. Rung twice before it is heard, it wakes once. */
export class Doorbell {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  #rung = false
  #wake: () => void = () => undefined

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
    signal.addEventListener('abort', () => this.ring(), { once: true })
  }

  ring(): void {
    this.#rung = true
    this.#wake()
  }

  /** Forgets that it rang: what it rang for is about to be looked at. */
  hush(): void {
    this.#rung = false
  }

  /** Until it rings, until `atMost` ms have passed, or until the signal ends everything; never rejects. */
  async wait(atMost?: number): Promise<void> {
    if (!this.#rung && !this.#signal.aborted) {
      const enough = new AbortController()
      const rung = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      const late =
        atMost === undefined ? rung : this.#clock.sleep(atMost, enough.signal).catch(() => undefined)
      await Promise.race([rung, late])
      enough.abort(enoughSlept)
    }
    this.#rung = false
  }
}
