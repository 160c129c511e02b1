import type { RunEvent, StepSummary } from '../engine/step.ts'
import type { RehearsedStage } from './rehearsal.ts'

interface ObservedStage extends Pick<RehearsedStage, 'name' | 'hop'> {
  first: string
  /** ms since the epoch. */
  from: number
  to?: number
}

/** Listens to the events of a run, and tells when each of its stages began and ended. */
export class ObservedStages {
  readonly #steps = new Map<string, StepSummary>()
  readonly #stages: ObservedStage[] = []
  readonly #onBegin: () => void
  #began: number | undefined

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
    if (event.kind === 'run-started' || event.kind === 'steps-known') this.#know(event.steps)
    if (event.kind === 'step-started') delete this.#stageFor(event.step, at).to
    // A step that was done before its turn came never started.
    if (event.kind === 'step-done') this.#stageFor(event.step, at - event.tookMs).to = at
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

  /** The gate of a minor is gone through while that minor is one line, and called as the whole of it: it is part of what comes then. */
  #know(steps: readonly StepSummary[]): void {
    for (const step of steps) this.#steps.set(step.id, step)
    const last = this.#stages.at(-1)
    const first = last && this.#steps.get(last.first)
    if (last && first) last.name = this.#stageOf(first).name
  }

  #stageFor(step: StepSummary, from: number): ObservedStage {
    const named = this.#stageOf(step)
    const last = this.#stages.at(-1)
    if (last?.name === named.name && last.hop === named.hop) return last
    const stage = { ...named, first: step.id, from }
    this.#stages.push(stage)
    return stage
  }

  nameOf(step: StepSummary): string {
    return this.#stageOf(step).name
  }

  #stageOf(step: StepSummary): Pick<RehearsedStage, 'name' | 'hop'> {
    const { part, title, hop } = this.#steps.get(step.id) ?? step
    const name = part ?? title
    if (hop === undefined) return { name }
    // The last minor of a path, where it is all that is left, does not bear its name.
    return { name: name.includes(hop) ? name : `${hop}: ${name}`, hop }
  }
}
