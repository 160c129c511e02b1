import type { Clock } from './clock.ts'
import type { Reader, Where } from './cluster.ts'
import type { Kind } from './object.ts'

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

/** Rings whenever one of these changes, until `signal`. A watch that ends or is refused leaves whoever waits to the regular look. */
export function ringOnChange(
  reader: Reader,
  followed: readonly (readonly [Kind, Where])[],
  { bell, signal }: { bell: Bell; signal: AbortSignal },
): void {
  for (const [kind, where] of followed) void ring(reader, [kind, where], { bell, signal })
}

async function ring(
  reader: Reader,
  [kind, where]: readonly [Kind, Where],
  { bell, signal }: { bell: Bell; signal: AbortSignal },
): Promise<void> {
  try {
    for await (const change of reader.follow(kind, where, signal)) if (change.type !== 'lost') bell.ring()
  } catch {
    bell.ring()
  }
}
