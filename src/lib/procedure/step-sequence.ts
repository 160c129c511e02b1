import type { Entry } from './journal.ts'
import { type OneRun, summaryOf } from './one-run.ts'
import type { RunOutcome, StopReason } from './run-context.ts'
import { SettlingStep } from './settle-step.ts'
import type { Step } from './step.ts'

/** Takes the steps of a run one after the other, asking after each which are known now. */
export class StepSequence {
  readonly #run: OneRun
  readonly #done = new Set<string>()
  readonly #changed: string[] = []
  #steps: readonly Step[] = []
  #unfinished: readonly Entry[] = []
  #last: Step | undefined
  #current: Step | undefined

  constructor(run: OneRun) {
    this.#run = run
  }

  /** The one that is under way. */
  get current(): Step | undefined {
    return this.#current
  }

  async run(): Promise<RunOutcome> {
    await this.#begin()
    for (;;) {
      const step = this.#steps.find(({ id }) => !this.#done.has(id))
      if (step === undefined) return this.#finish()
      const because = this.#isPastLimit() ? 'until' : await this.#settle(step)
      if (because !== undefined) return this.#stop(step, because)
      this.#done.add(step.id)
      this.#last = step
      await this.#lookForSteps()
    }
  }

  async #begin(): Promise<void> {
    const { procedure } = this.#run
    this.#steps = await this.#run.patiently(() => procedure.steps(this.#run.live))
    const entries = await this.#run.patiently(() => this.#run.journal.entries())
    this.#unfinished = withoutAnEnd(entries.filter((entry) => entry.procedure === procedure.name))
    await this.#run.patiently(async () => procedure.begin?.(this.#run.writing))
    const { length } = this.#steps
    const { leads } = procedure
    const text = `${leads === undefined ? '' : `${leads}, `}${length} ${length === 1 ? 'step' : 'steps'}`
    await this.#run.patiently(() => this.#run.record('started', '', text))
    this.#run.emit({ kind: 'run-started', procedure: procedure.name, steps: this.#steps.map(summaryOf) })
  }

  async #settle(step: Step): Promise<StopReason | undefined> {
    this.#current = step
    this.#run.enter(step)
    const began = this.#run.ticks
    const index = this.#steps.indexOf(step)
    this.#run.emit({ kind: 'step-started', step: summaryOf(step), index, total: this.#steps.length })
    const settled = await new SettlingStep(step, this.#run, this.#steps).settle()
    if (settled.is === 'stopped') return settled.because
    if (settled.changed) this.#changed.push(step.id)
    else await this.#completeHistory(step)
    const { changed, note } = settled
    const tookMs = this.#run.ticks - began
    const noted = note === undefined ? {} : { note }
    this.#run.emit({ kind: 'step-done', step: summaryOf(step), changed, ...noted, tookMs })
    return undefined
  }

  /** A run that was killed between its change and writing it down left an intent: what it meant is done. */
  async #completeHistory({ id }: Step): Promise<void> {
    await this.#complete(this.#unfinished.filter((entry) => isOf(entry, id)))
  }

  /** Where the step of an intent is not among the steps any more, its change made it superfluous. */
  async #completeRest(): Promise<void> {
    const known = this.#steps.map(({ id }) => id)
    await this.#complete(this.#unfinished.filter((entry) => !known.some((id) => isOf(entry, id))))
  }

  async #complete(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries)
      await this.#run.patiently(() =>
        this.#run.record('applied', entry.step, `${entry.text} (found done after a run that was cut off)`),
      )
  }

  async #lookForSteps(): Promise<void> {
    const steps = await this.#run.patiently(() => this.#run.procedure.steps(this.#run.live))
    const isSame = textOf(steps) === textOf(this.#steps)
    this.#steps = steps
    if (!isSame) this.#run.emit({ kind: 'steps-known', steps: steps.map(summaryOf) })
  }

  #isPastLimit(): boolean {
    return this.#last !== undefined && this.#last.id === this.#run.cx.limits.until
  }

  async #finish(): Promise<RunOutcome> {
    const { procedure, began } = this.#run
    await this.#completeRest()
    const changed = this.#changed
    const text = changed.length > 0 ? `changed: ${changed.join(', ')}` : 'nothing had to be changed'
    await this.#run.patiently(() => this.#run.record('finished', '', text))
    const tookMs = this.#run.ticks - began
    this.#run.emit({ kind: 'run-finished', procedure: procedure.name, tookMs })
    return { is: 'finished', changed, tookMs }
  }

  async #stop(step: Step, because: StopReason): Promise<RunOutcome> {
    await this.#run.patiently(() => this.#run.record('interrupted', step.id, `${stoppedBefore}: ${because}`))
    const safe = this.#last && { safeToLeave: this.#last.risk.safeToLeave }
    const tookMs = this.#run.ticks - this.#run.began
    return { is: 'stopped-before', step: summaryOf(step), because, changed: this.#changed, ...safe, tookMs }
  }
}

/** How the entry of a run begins that was told where to stop, or had no time for the next step. */
export const stoppedBefore = 'stopped before it'

const textOf = (steps: readonly Step[]): string => JSON.stringify(steps.map(summaryOf))

const isOf = ({ step }: Entry, id: string): boolean => step === id || step.startsWith(`${id}#`)

/** Intents that neither came to their end nor failed. */
function withoutAnEnd(entries: readonly Entry[]): readonly Entry[] {
  const open = new Map<string, Entry>()
  for (const entry of entries)
    if (entry.what === 'intends') open.set(entry.step, entry)
    else if (entry.what === 'applied' || entry.what === 'failed') open.delete(entry.step)
  return [...open.values()]
}
