import type { MeasuredProbe } from './availability.ts'
import { type Going, OutageLog } from './outage-log.ts'
import { type Answered, outcomeOf, type Probe, type ProbeName } from './probes.ts'

/** A probe, and what came of its calls. */
export class MeasuredCalls {
  readonly probe: Probe
  readonly log = new OutageLog()
  calls = 0
  #ended: { at: number; why: string } | undefined

  constructor(probe: Probe) {
    this.probe = probe
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  /** Asks once. Never rejects. */
  async call(): Promise<Answered> {
    this.calls++
    try {
      await this.probe.ask()
      return { is: 'answered' }
    } catch (error) {
      return outcomeOf(error)
    }
  }

  /** It is not asked any more. `at` in ticks. */
  endWith(at: number, why: string): void {
    this.#ended ??= { at, why }
  }

  report(now: number, at: (ticks: number) => string): MeasuredProbe {
    const { name: probe, what } = this.probe
    return {
      probe,
      what,
      calls: this.calls,
      ...this.log.figures(now, at),
      ...(this.#ended && { ended: { at: at(this.#ended.at), why: this.#ended.why } }),
    }
  }
}

/** The API as a whole: it is down from the first call that failed until every probe that was down answers again. */
export class ApiOutages {
  readonly log = new OutageLog()
  readonly #down = new Set<ProbeName>()
  #upAt = 0

  /** `sent` in ticks: when the call that failed was sent. */
  down(probe: ProbeName, sent: number, why: string, going: Going): void {
    // A call that was under way when the API came back is of the outage before.
    if (this.#down.size === 0 || this.log.isDown)
      this.log.down(Math.max(sent, this.#upAt), `${probe}: ${why}`, going)
    this.#down.add(probe)
  }

  up(probe: ProbeName, at: number): void {
    if (!this.#down.delete(probe) || this.#down.size > 0) return
    this.log.up(at)
    this.#upAt = at
  }
}
