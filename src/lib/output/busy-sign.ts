import type { Ora } from 'ora'

import type { Clock } from '../system/clock.ts'
import { duration } from './age.ts'
import { cut } from './display-width.ts'
import { LiveRegion } from './live-region.ts'
import { frameInterval } from './live-view.ts'
import type { Stream } from './stream.ts'

/** Silence of less than this is none. */
const quietBeats = 1000 / frameInterval

/** On a terminal where nothing has been said for a second: what is waited for, and since when. Gone at the first word. */
export class BusySign {
  readonly #stream: Stream
  readonly #clock: Clock
  readonly #region: LiveRegion
  readonly #began: number
  #spinner: Ora | undefined
  #beats = 0
  #isOver = false

  constructor(stream: Stream, clock: Clock) {
    this.#stream = stream
    this.#clock = clock
    this.#region = new LiveRegion(stream)
    this.#began = clock.now().getTime()
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
    spinner.text = `asking the cluster, for ${duration(this.#clock.now().getTime() - this.#began)}`
    this.#region.draw([cut(spinner.frame(), (this.#stream.columns?.() ?? 80) - 1, '~')])
  }
}
