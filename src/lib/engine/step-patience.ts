interface Limits {
  /** Poll fallback, ms. */
  every: number
  /** While nothing is wrong, and it only has not come yet, ms. */
  well: number
  /** From when something was seen to be wrong, without a better look in between, ms. */
  wrong: number
}

/** The patience of a step that waits for days where nothing is wrong: a release comes weeks after another one. What is wrong is told sooner, by giving up. */
export class PatienceByHealth {
  readonly every: number
  readonly #limits: Limits
  #began: number | undefined
  #wrongSince: number | undefined

  constructor(limits: Limits) {
    this.every = limits.every
    this.#limits = limits
  }

  /** What a look has shown. `now`: in ticks of the clock, ms. */
  saw(is: 'well' | 'wrong', now: number): void {
    this.#began ??= now
    this.#wrongSince = is === 'well' ? undefined : (this.#wrongSince ?? now)
  }

  get atMost(): number {
    const { well, wrong } = this.#limits
    if (this.#began === undefined || this.#wrongSince === undefined) return well
    return Math.min(well, this.#wrongSince - this.#began + wrong)
  }
}
