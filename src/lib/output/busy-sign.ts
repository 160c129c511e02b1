import type { Ora } from 'ora'

import { duration } from './age.ts'
import { cut } from './display-width.ts'
import { LiveRegion } from './live-region.ts'
import { frameInterval } from './live-view.ts'
import type { Stream } from './stream.ts'

/** Silence of less than this is none. */
const quietBeats = 1000 / frameInterval

/**
 * On a terminal where nothing has been said for a second: what is waited for, and since when. Gone at the first word. It counts beats:
 * the clock is put right at the first answer, which is what it waits for.
 */
export class BusySign {
  readonly #stream: Stream
  readonly #region: LiveRegion
  #spinner: Ora | undefined
  #beats = 0
  #isOver = false

  constructor(stream: Stream) {
    this.#stream = stream
    this.#region = new LiveRegion(stream)
  }

  /** One beat of `frameInterval`. */
  tick(): void {
    this.#beats++
    if (this.#isOver) return
    if (this.#beats === quietBeats) void this.#load()
    if (this.#spinner !== undefined) this.#draw(this.#spinner)
  }

  stop(): void {
    if (!this.#isOver && this.#spinner !== undefined) this.#region.clear()
    this.#isOver = true
  }

  /** Only the frames are ora's: it would hook the streams of the process to draw them itself. */
  async #load(): Promise<void> {
    const { default: ora } = await import('ora')
    this.#spinner = ora({ isEnabled: false, color: false, spinner: 'line' })
  }

  #draw(spinner: Ora): void {
    spinner.text = `asking the cluster, for ${duration(this.#beats * frameInterval)}`
    this.#region.draw([cut(spinner.frame(), (this.#stream.columns?.() ?? 80) - 1, '~')])
  }
}
