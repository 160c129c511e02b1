import { paintedWidth } from './display-width.ts'
import { LiveRegion } from './live-region.ts'
import type { Story } from './story.ts'
import type { Stream } from './stream.ts'

/** What a page shows in so many columns. */
export type PageLines = (columns: number) => readonly string[]

/** With `-w` on a terminal: each answer takes the place of the one before, and is drawn anew when the terminal's size changes. */
export class LivePage {
  readonly #stream: Stream
  readonly #region: LiveRegion
  readonly #endResize: (() => void) | undefined
  #pending = ''
  #page: PageLines | undefined

  constructor(stream: Stream) {
    this.#stream = stream
    const collected: Stream = {
      write: (text) => void (this.#pending += text),
      columns: () => stream.columns?.(),
    }
    this.#region = new LiveRegion(collected)
    this.#endResize = stream.onResize?.(() => this.resume())
  }

  show(page: PageLines): void {
    this.#page = page
    this.resume()
  }

  /** Writes something to the same terminal: it stays above the page. */
  above(write: () => void): void {
    this.suspend()
    write()
    this.resume()
  }

  /** For SIGTSTP: the terminal belongs to the shell until `resume`. */
  suspend(): void {
    this.#region.clear()
    this.#flush()
  }

  resume(): void {
    if (this.#page === undefined) return
    // A line that the terminal broke is taken away whole before another one is written.
    this.#region.clear()
    // The last column stays free: some terminals wrap as soon as it is written.
    const columns = Math.max(1, (this.#stream.columns?.() ?? 80) - 1)
    this.#region.draw(fitted(this.#page(columns), columns, (this.#stream.rows?.() ?? 24) - 1))
    this.#flush()
  }

  /** Leaves what is drawn for good and gives the cursor back, however the process ends. */
  release(): void {
    this.#page = undefined
    this.#endResize?.()
    this.#region.release()
    this.#flush()
  }

  #flush(): void {
    if (this.#pending !== '') this.#stream.write(this.#pending)
    this.#pending = ''
  }
}

/** Only what stays on the screen can be drawn again: its end is left out where it is higher, and that is said. */
function fitted(lines: readonly string[], columns: number, rows: number): readonly string[] {
  const heights = lines.map((line) => Math.max(1, Math.ceil(paintedWidth(line) / columns)))
  if (heights.reduce((sum, height) => sum + height, 0) <= rows) return lines
  let left = rows - 1
  const kept = heights.findIndex((height) => (left -= height) < 0)
  return [...lines.slice(0, kept), `(${lines.length - kept} more lines)`.slice(0, columns)].slice(
    0,
    Math.max(1, rows),
  )
}

/** The story on the terminal that a page is drawn on: what is said stands above it, and the error below it. */
export function besidePage(story: Story, page: LivePage | undefined): Story {
  if (page === undefined) return story
  const both = (what: keyof Story['live']) => () => {
    story.live[what]()
    page[what]()
  }
  return {
    ...story,
    note: (line) => page.above(() => story.note(line)),
    warn: (line) => page.above(() => story.warn(line)),
    end(error) {
      page.release()
      story.end(error)
    },
    live: { suspend: both('suspend'), resume: both('resume'), release: both('release') },
  }
}
