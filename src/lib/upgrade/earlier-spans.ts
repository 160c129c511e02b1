import { seconds } from '../system/units.ts'
import type { JournalSpan } from './journal-times.ts'
import { inTurn, nothing, type Range } from './range.ts'
import type { BasedRange } from './roll-range.ts'

/** A step and how long it takes; no range: its end is up to somebody else, and nothing tells when. */
export interface RangedStep {
  id: string
  range: BasedRange | undefined
}

/** What earlier runs of kvup have to say about steps. */
export interface Told {
  /** Steps that were waited for then have a range now. */
  steps: readonly RangedStep[]
  /** Of all steps together. */
  total: Range
  /** Something was told of the roll. */
  counts: boolean
}

/** Another version, more nodes, another load: what took so long once takes between these times as long again. */
const faster = 0.6
const slower = 1.6
/** Below this it was not waited for. */
const noWait = 5 * seconds

/**
 * The sum over the steps between two changes is narrowed to what was seen in earlier runs, or widened to it where the cluster did
 * not do as expected; how it is spread over them the journal does not tell. Of spans that overlap the latest counts.
 */
export function asInEarlierRuns(steps: readonly RangedStep[], spans: readonly JournalSpan[]): Told {
  const told = new Set<string>()
  const parts: Part[] = []
  for (const seen of bySpan(spans.toReversed())) {
    const between = stepsBetween(steps, seen[0])
    if (between.length === 0 || between.some(({ id }) => told.has(id))) continue
    between.forEach(({ id }) => told.add(id))
    parts.push(partOf(between, seen))
  }
  const untold = steps.filter(({ id }) => !told.has(id))
  const after = new Map(parts.flatMap((part) => part.steps.map((step) => [step.id, step] as const)))
  return {
    steps: steps.map((step) => after.get(step.id) ?? step),
    total: inTurn([sumOf(untold), ...parts.map(({ total }) => total)]),
    counts: parts.some(({ counts }) => counts),
  }
}

type Part = Told
type Seen = readonly [JournalSpan, ...(readonly JournalSpan[])]

/** Those between the same changes together. */
function bySpan(spans: readonly JournalSpan[]): Seen[] {
  const groups = Map.groupBy(spans, ({ after, before }) => `${after} ${before ?? ''}`)
  return [...groups.values()].flatMap(([first, ...rest]): Seen[] => (first ? [[first, ...rest]] : []))
}

/** None where one of the two changes is not among these steps. */
function stepsBetween(steps: readonly RangedStep[], { after, before }: JournalSpan): readonly RangedStep[] {
  const from = steps.findIndex(({ id }) => id === after)
  const to = before === undefined ? steps.length : steps.findIndex(({ id }) => id === before)
  return from < 0 ? [] : steps.slice(from + 1, Math.max(0, to))
}

function partOf(steps: readonly RangedStep[], seen: Seen): Part {
  const known = sumOf(steps)
  const took = { low: Math.min(...seen.map(({ ms }) => ms)), high: Math.max(...seen.map(({ ms }) => ms)) }
  if (steps.every(({ range }) => range !== undefined))
    return { steps, total: likely(known, took), counts: known.high > known.low }
  const beyond = took.high - known.high
  if (beyond <= noWait) return { steps, total: known, counts: false }
  const waited = steps.map((step) => waitedFor(step, beyond * slower))
  return { steps: waited, total: sumOf(waited), counts: false }
}

/** What the other steps do not account for was waited for in this one. */
function waitedFor({ id, range }: RangedStep, high: number): RangedStep {
  return { id, range: range ?? { low: 0, high, basis: 'own-rollouts' } }
}

function likely(expected: Range, took: Range): Range {
  const again = { low: took.low * faster, high: took.high * slower }
  const isAsExpected = took.low >= expected.low && took.high <= expected.high
  return isAsExpected
    ? { low: Math.max(expected.low, again.low), high: Math.min(expected.high, again.high) }
    : { low: Math.min(expected.low, again.low), high: Math.max(expected.high, again.high) }
}

const sumOf = (steps: readonly RangedStep[]): Range => inTurn(steps.map(({ range }) => range ?? nothing))
