import type { Ora } from 'ora'
import { spanText } from '../../kube/duration.ts'
import type { Paint } from '../printer.ts'
import { inLocale, sanitiseLine, type Stream } from '../terminal.ts'
import { cut } from '../text.ts'
import { frameInterval, hideCursor, showCursor } from './live-view.ts'

/** Silence of less than this is none. */
const quietBeats = 1000 / frameInterval

/**
 * On a terminal where nothing has been said for a second: a spinner, what is waited for, and since when. Gone at the first word, and back when
 * something else is awaited. It counts beats: the clock is put right at the first answer, which is what it waits for.
 */
export class BusySign {
  readonly #stream: Stream
  readonly #paint: Paint
  #what = 'waiting for the cluster'
  #spinner: Ora | undefined
  #beats = 0
  #isOver = false

  constructor(stream: Stream, paint: Paint) {
    this.#stream = stream
    this.#paint = paint
  }

  /** One beat of `frameInterval`. */
  tick(): void {
    this.#beats++
    if (this.#isOver) return
    if (this.#beats === quietBeats) void this.#start()
    if (this.#spinner !== undefined) this.#spinner.text = this.#text()
  }

  /** From now on that is waited for, until `stop`. */
  awaiting(what: string): void {
    this.stop()
    this.#what = what
    this.#beats = 0
    this.#isOver = false
  }

  stop(): void {
    this.#isOver = true
    if (this.#spinner === undefined) return
    this.#spinner.stop()
    this.#spinner = undefined
    this.#stream.write(showCursor)
  }

  async #start(): Promise<void> {
    const { default: ora } = await import('ora')
    // Something was said, or something else is awaited, while it was loaded.
    if (this.#isOver || this.#spinner !== undefined || this.#beats < quietBeats) return
    this.#stream.write(hideCursor)
    this.#spinner = ora({
      stream: asTerminal(this.#stream),
      isEnabled: true,
      color: false,
      spinner: inLocale('…', this.#paint) === '…' ? 'dots' : 'line',
      text: this.#text(),
      // Ctrl-C has to reach us as a signal, and our own exit gives the cursor back.
      discardStdin: false,
      hideCursor: false,
    }).start()
  }

  #text(): string {
    const text = `${sanitiseLine(this.#what)}, for ${spanText(this.#beats * frameInterval)}`
    return cut(inLocale(text, this.#paint), (this.#stream.columns?.() ?? 80) - 3, '~')
  }
}

/** Begin and end of an update that a terminal shows at once: not all of them know these. */
// oxlint-disable-next-line no-control-regex
const atOnce = /^\u001b\[\?2026[hl]$/u

/** What ora needs of a terminal. */
function asTerminal(stream: Stream): NodeJS.WriteStream {
  const terminal = {
    isTTY: true,
    get columns() {
      return stream.columns?.() ?? 80
    },
    get rows() {
      return stream.rows?.() ?? 24
    },
    write(text: string) {
      if (!atOnce.test(text)) stream.write(text)
      return true
    },
    cursorTo: () => stream.write('\r'),
    moveCursor: (_: number, lines: number) => stream.write(`\u001b[${-lines}A`),
    clearLine: () => stream.write('\u001b[2K'),
  }
  return terminal as unknown as NodeJS.WriteStream
}
