import type { RolloutTimes } from '../kubevirt/rollout-times.ts'
import { seconds } from '../kube/clock.ts'
import {
  aboutWords,
  type BasedRange,
  type Basis,
  inTurn,
  nothing,
  type Range,
  rangeWords,
  rounded,
  stepRange,
  type TimedStep,
  weakest,
} from './step-duration.ts'
import type { Entry } from '../engine/journal.ts'

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

/** A step and how long it takes; no range: its end is up to somebody else, and nothing tells when. */
interface RangedStep {
  id: string
  range: BasedRange | undefined
}

/** What earlier runs of kvup have to say about steps. */
interface Told {
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
function asInEarlierRuns(steps: readonly RangedStep[], spans: readonly JournalSpan[]): Told {
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

/** What earlier upgrades by kvup on this cluster took, in ms. */
export interface JournalTimes {
  /** Whole runs that began the change and saw the end of it, the oldest first. */
  whole: readonly number[]
  /** What lay between two changes, or after the last one. */
  spans: readonly JournalSpan[]
}

interface JournalSpan {
  /** Id of the step whose change was made at its beginning. */
  after: string
  /** Id of the step whose change came next; absent: the run was through. */
  before?: string
  ms: number
}

/** The changes that set a new version going. */
const changes = new Set(['apply-operator-manifest', 'set-image-tag'])

/**
 * Reads the times out of a journal. Pure. A run that was interrupted, failed or killed, or that went on with what another one had
 * begun, is left out: what it took says nothing of a whole upgrade.
 */
export function journalTimes(entries: readonly Entry[]): JournalTimes {
  const runs = finishedRuns(entries.filter(({ procedure }) => procedure.startsWith('upgrade to ')))
  return { whole: runs.map(lengthOf), spans: runs.flatMap(spansOf) }
}

function finishedRuns(entries: readonly Entry[]): Entry[][] {
  const runs: Entry[][] = []
  let open: Entry[] | undefined
  for (const entry of entries) {
    if (entry.what === 'started') open = []
    open?.push(entry)
    if (entry.what === 'failed' || entry.what === 'interrupted') open = undefined
    if (entry.what !== 'finished') continue
    if (open !== undefined && isWhole(open)) runs.push(open)
    open = undefined
  }
  return runs
}

/** Every change that it found made was its own: one that a cut-off run made is only written down (as applied) by the next. */
function isWhole(run: readonly Entry[]): boolean {
  const intended = new Set(run.filter(({ what }) => what === 'intends').map(({ step }) => step))
  const applied = run.filter(({ what }) => what === 'applied').map(({ step }) => step)
  return applied.some((step) => changes.has(step)) && applied.every((step) => intended.has(step))
}

function spansOf(run: readonly Entry[]): JournalSpan[] {
  return run.flatMap((entry, index): JournalSpan[] => {
    if (entry.what !== 'applied') return []
    const next = run.slice(index + 1).find(({ what }) => what === 'intends' || what === 'finished')
    if (next === undefined) return []
    const [after, before] = [idOf(entry), idOf(next)]
    return after === before ? [] : [{ after, ...(before !== '' && { before }), ms: between(entry, next) }]
  })
}

/** Without the number of a repetition. */
const idOf = ({ step }: Entry): string => step.replace(/#\d+$/, '')

const between = (from: Entry, to: Entry): number => Math.max(0, Date.parse(to.at) - Date.parse(from.at))

function lengthOf(run: readonly Entry[]): number {
  const [first, last] = [run[0], run.at(-1)]
  return first && last ? between(first, last) : 0
}
