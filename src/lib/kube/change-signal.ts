import type { Clock } from './clock.ts'
import type { Reader, Where } from './cluster.ts'
import type { Kind } from './object.ts'

/** Wakes who waits when it is rung; a ring that nobody waited for is kept. */
export class ChangeSignal {
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
export function notifyOnChange(
  reader: Reader,
  watched: readonly (readonly [Kind, Where])[],
  { changed, signal }: { changed: ChangeSignal; signal: AbortSignal },
): void {
  const notify = async ([kind, where]: readonly [Kind, Where]) => {
    try {
      for await (const change of reader.watch(kind, where, signal)) if (change.type !== 'lost') changed.ring()
    } catch {
      changed.ring()
    }
  }
  for (const one of watched) void notify(one)
}
