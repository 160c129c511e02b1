import { paintedWidth } from './display-width.ts'
import type { Stream } from './stream.ts'

const escape = '\u001b['
const eraseLine = `${escape}2K`
const up = (lines: number) => (lines > 0 ? `${escape}${lines}A` : '')
const hideCursor = `${escape}?25l`
const showCursor = `${escape}?25h`

/**
 * The last lines of a terminal, drawn again in place: only cursor-up and erase-line, the cursor is left below them. Lines
 * must not be wider than the terminal; after it shrank, the reflowed height of the old ones is erased.
 */
export class LiveRegion {
  readonly #stream: Stream
  #drawn: readonly string[] = []
  #isHidden = false

  constructor(stream: Stream) {
    this.#stream = stream
  }

  draw(lines: readonly string[]): void {
    const old = this.#height()
    const surplus = Math.max(0, old - lines.length)
    const body = lines.map((line) => `${eraseLine}${line}\n`).join('')
    const rest = `${eraseLine}\n`.repeat(surplus)
    const cursor = this.#isHidden ? '' : hideCursor
    this.#isHidden = true
    this.#drawn = lines
    this.#stream.write(`${cursor}\r${up(old)}${body}${rest}${up(surplus)}`)
  }

  /** Takes the region away and gives the cursor back; text can be written as if it had not been there. */
  clear(): void {
    if (this.#drawn.length > 0) this.draw([])
    this.release()
  }

  /** Leaves what is drawn for good and gives the cursor back. */
  release(): void {
    if (this.#isHidden) this.#stream.write(showCursor)
    this.#isHidden = false
    this.#drawn = []
  }

  #height(): number {
    const columns = this.#stream.columns?.() ?? 80
    return this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(paintedWidth(line) / columns)), 0)
  }
}
