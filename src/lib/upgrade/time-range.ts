import type { RolloutTimes } from '../facts/rollout-times.ts'
import { seconds } from '../system/units.ts'
import { asInEarlierRuns, type RangedStep } from './earlier-spans.ts'
import type { JournalTimes } from './journal-times.ts'
import { aboutWords, nothing, type Range, rangeWords, rounded } from './range.ts'
import { type Basis, weakest } from './roll-range.ts'
import { stepRange, type TimedStep } from './step-range.ts'

/** From when to when an upgrade is likely to be through. */
export interface TimeRange {
  lowSeconds: number
  highSeconds: number
  basis: Basis
  /** The range for people, what it is made from, and what it leaves out. */
  says: string
  steps: ReadonlyMap<string, StepTime>
}

interface StepTime {
  lowSeconds: number
  highSeconds: number
  /** The run gives up then. */
  atMostSeconds: number
  basis: Basis
}

/**
 * How long the steps that are still to be gone will take: pure, from `rolloutTimes` and `journalTimes` of this cluster. Its ends
 * are rounded, and it is as wide as what is not known. A step that waits for people or VMs counts as nothing, which `says` tells.
 */
export function timeRange(
  steps: readonly TimedStep[],
  components: ReadonlyMap<string, RolloutTimes>,
  history: JournalTimes,
): TimeRange {
  const times = withSteps(steps, components)
  const expected = steps.map((step) => ({ id: step.id, range: stepRange(step, times) }))
  const told = asInEarlierRuns(expected, history.spans)
  const basis = told.counts ? 'own-rollouts' : basisOf(told.steps, times)
  const says = [
    `${rangeWords(told.total)}, ${basisWords[basis]}`,
    ...pullWords(told.steps, times),
    ...lastWords(history),
    ...openWords(steps, told.steps),
  ]
  return {
    ...inSeconds(told.total),
    basis,
    says: says.join('; '),
    steps: new Map(steps.map((step, index) => [step.id, stepTime(step, told.steps[index])])),
  }
}

/** The times of a component are known by the ids of all steps that roll it. */
function withSteps(
  steps: readonly TimedStep[],
  components: ReadonlyMap<string, RolloutTimes>,
): ReadonlyMap<string, RolloutTimes> {
  const named = steps.flatMap(({ id, base = id }) => {
    const times = components.get(base)
    return base === id || times === undefined ? [] : [[id, times] as const]
  })
  return new Map([...components, ...named])
}

function stepTime({ patience }: TimedStep, step: RangedStep | undefined): StepTime {
  return {
    ...inSeconds(step?.range ?? nothing),
    atMostSeconds: Math.round(patience.atMost / seconds),
    basis: step?.range?.basis ?? 'guess',
  }
}

function inSeconds(range: Range): { lowSeconds: number; highSeconds: number } {
  const { low, high } = rounded(range)
  return { lowSeconds: low / seconds, highSeconds: high / seconds }
}

const basisWords: Record<Basis, string> = {
  'own-rollouts': 'from what roll-outs took on this cluster before',
  'own-pods': "from how long this cluster's pods took to start",
  guess: "a guess: nothing tells how long this cluster's pods take to start",
}

const rolls = ({ id }: RangedStep, times: ReadonlyMap<string, RolloutTimes>): boolean =>
  times.has(id) || id === 'settled-at-old-version'

/** Of the steps that roll pods: the others are much the same everywhere. */
function basisOf(steps: readonly RangedStep[], times: ReadonlyMap<string, RolloutTimes>): Basis {
  const rolling = steps.filter((step) => rolls(step, times))
  return weakest(rolling.flatMap(({ range }) => range?.basis ?? []))
}

function pullWords(steps: readonly RangedStep[], times: ReadonlyMap<string, RolloutTimes>): string[] {
  return steps.some((step) => rolls(step, times))
    ? ['the upper end leaves time to pull the new images, which the first roll to a version takes']
    : []
}

function lastWords({ whole }: JournalTimes): string[] {
  const last = whole.at(-1)
  return last === undefined ? [] : [`the last upgrade with kvup took ${aboutWords(last)}`]
}

function openWords(steps: readonly TimedStep[], ranged: readonly RangedStep[]): string[] {
  const open = steps.filter((_, index) => ranged[index]?.range === undefined).map(({ title }) => title)
  return open.length > 0 ? [`not counted, for nothing tells how long: ${open.join(', ')}`] : []
}
