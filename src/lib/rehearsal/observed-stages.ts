import type { RunEvent, StepSummary } from '../engine/step.ts'
import type { RehearsedStage } from './rehearsal.ts'

/** Listens to the events of a run, and tells when each of its stages began and ended. */
export class ObservedStages {
  readonly #steps = new Map<string, StepSummary>()
  readonly #stages: { name: string; hop?: string; from: number; to?: number }[] = []
  readonly #onBegin: () => void
  #began: number | undefined

  /** `onBegin` is called once, when the run begins. */
  constructor(onBegin: () => void = () => undefined) {
    this.#onBegin = onBegin
  }

  /** ms since the epoch; undefined where no run began. */
  get began(): number | undefined {
    return this.#began
  }

  hear(event: RunEvent): void {
    const at = Date.parse(event.at)
    if (event.kind === 'run-started' && this.#began === undefined) {
      this.#began = at
      this.#onBegin()
    }
    if (event.kind === 'run-started' || event.kind === 'steps-known')
      for (const step of event.steps) this.#steps.set(step.id, step)
    if (event.kind === 'step-started') this.#start(event.step, at)
    if (event.kind === 'step-done') this.#end(event.step, { at, began: at - event.tookMs })
  }

  /** In seconds from the beginning of the run, in the order in which they began. */
  stages(): RehearsedStage[] {
    const seconds = (ms: number) => Math.round((ms - (this.#began ?? ms)) / 1000)
    return this.#stages.map(({ name, hop, from, to }) => ({
      name,
      ...(hop !== undefined && { hop }),
      begins: seconds(from),
      ...(to !== undefined && { takes: seconds(to) - seconds(from) }),
    }))
  }

  #start(step: StepSummary, at: number): void {
    const { name, hop } = this.#stageOf(step)
    const last = this.#stages.at(-1)
    if (last?.name === name && last.hop === hop) delete last.to
    else this.#stages.push({ name, ...(hop !== undefined && { hop }), from: at })
  }

  /** A step that was done before its turn came never started. */
  #end(step: StepSummary, { at, began }: { at: number; began: number }): void {
    const { name, hop } = this.#stageOf(step)
    const last = this.#stages.at(-1)
    if (last?.name === name && last.hop === hop) last.to = at
    else this.#stages.push({ name, ...(hop !== undefined && { hop }), from: began, to: at })
  }

  /** The stage that a step belongs to. */
  nameOf(step: StepSummary): string {
    return this.#stageOf(step).name
  }

  #stageOf(step: StepSummary): { name: string; hop: string | undefined } {
    const { part, title, hop } = this.#steps.get(step.id) ?? step
    return { name: part ?? title, hop }
  }
}
