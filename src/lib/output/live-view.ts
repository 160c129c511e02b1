import type { RunEvent } from '../procedure/events.ts'
import type { Clock } from '../system/clock.ts'
import { renderLive } from './live-frame.ts'
import { LiveRegion } from './live-region.ts'
import type { Paint } from './printer.ts'
import { progressAfter, progressFailed, progressOf, type RunProgress } from './progress.ts'
import type { Stream } from './stream.ts'

/** How often a changed frame may be drawn, and after how many such beats an unchanged one is, for its elapsed time. */
export const frameInterval = 100
const beatsPerSecond = 1000 / frameInterval

/** Draws a run in place on a terminal, at most ten times a second. */
export class LiveView {
  readonly #stream: Stream
  readonly #clock: Clock
  readonly #paint: Paint
  readonly #region: LiveRegion
  readonly #endResize: (() => void) | undefined
  #run: RunProgress = progressOf([])
  #isDirty = false
  #isShown = false
  #beats = 0

  constructor(stream: Stream, clock: Clock, paint: Paint) {
    this.#stream = stream
    this.#clock = clock
    this.#paint = paint
    this.#region = new LiveRegion(stream)
    this.#endResize = stream.onResize?.(() => {
      if (this.#isShown) this.#draw()
    })
  }

  event(event: RunEvent): void {
    this.#run = progressAfter(this.#run, event)
    this.#isDirty = true
    if (event.kind === 'run-started') {
      this.#isShown = true
      this.#draw()
    }
  }

  /** One beat of `frameInterval`. */
  tick(): void {
    this.#beats++
    if (this.#isShown && (this.#isDirty || this.#beats >= beatsPerSecond)) this.#draw()
  }

  /** Writes something above the region. */
  above(write: () => void): void {
    const wasShown = this.#isShown
    if (wasShown && this.#run.finishedAt !== undefined) this.close()
    else if (wasShown) this.#region.clear()
    write()
    if (wasShown && this.#isShown) this.#draw()
  }

  /** For SIGTSTP: the terminal belongs to the shell until `resume`. */
  suspend(): void {
    if (this.#isShown) this.#region.clear()
  }

  resume(): void {
    if (this.#isShown) this.#draw()
  }

  /** For the end of the process, whatever caused it: the cursor comes back, what is drawn stays. */
  release(): void {
    this.#isShown = false
    this.#region.release()
  }

  /** Draws the last frame, leaves it, and gives the cursor back. With `failed`, the step at work is shown as failed. */
  close(failed = false): void {
    this.#endResize?.()
    if (!this.#isShown) return
    if (failed && this.#run.finishedAt === undefined) {
      this.#run = progressFailed(this.#run, this.#clock.now().toISOString())
    }
    this.#draw()
    this.#isShown = false
    this.#region.release()
  }

  #draw(): void {
    this.#isDirty = false
    this.#beats = 0
    // The last column stays free: some terminals wrap as soon as it is written.
    const columns = Math.max(1, (this.#stream.columns?.() ?? 80) - 1)
    const rows = this.#stream.rows?.() ?? 24
    this.#region.draw(renderLive(this.#run, this.#clock.now(), { columns, rows }, this.#paint))
  }
}
