import type { RolloutTimes } from '../kubevirt/rollout-times.ts'
import { hours, minutes, seconds } from '../kube/clock.ts'
import type { Entry } from '../engine/journal.ts'
import { operatorName } from '../kubevirt/installed-components.ts'
import type { Step } from '../engine/step.ts'
import { type Range, stepsThatSet, takesOf } from './step-traits.ts'

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

const basisShort: Record<Basis, string> = {
  'own-rollouts': "from this cluster's own rollouts",
  'own-pods': "from this cluster's pods",
  guess: 'a guess',
}

/** `4 to 7 min (from this cluster's pods)` */
export function briefTime({ lowSeconds, highSeconds, basis }: TimeRange): string {
  return `${rangeWords({ low: lowSeconds * seconds, high: highSeconds * seconds })} (${basisShort[basis]})`
}

/** The least that a run gets where nobody says how long it may take. */
const leastTimeout = 60 * minutes

/** ms after which a run ends where no `--timeout` is given: twice what it is likely to take, and 60 minutes at least. */
export function defaultTimeout(range: Pick<TimeRange, 'highSeconds'> | undefined): number {
  const twice = 2 * (range?.highSeconds ?? 0) * seconds
  return Math.max(leastTimeout, Math.ceil(twice / (10 * minutes)) * 10 * minutes)
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
    ...(told.steps.some((step) => rolls(step, times))
      ? ['the upper limit includes the time to pull the new images']
      : []),
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

const stepTime = ({ patience }: TimedStep, step: RangedStep | undefined): StepTime => ({
  ...inSeconds(step?.range ?? nothing),
  atMostSeconds: Math.round(patience.atMost / seconds),
  basis: step?.range?.basis ?? 'guess',
})

/** Its ends rounded, in seconds. */
export function inSeconds(range: Range): { lowSeconds: number; highSeconds: number } {
  const { low, high } = rounded(range)
  return { lowSeconds: low / seconds, highSeconds: high / seconds }
}

const basisWords: Record<Basis, string> = {
  'own-rollouts': "from this cluster's own rollouts",
  'own-pods': "from the start times of this cluster's pods",
  guess: 'a guess: kvup does not know how long pods take to start here',
}

const rolls = ({ id }: RangedStep, times: ReadonlyMap<string, RolloutTimes>): boolean =>
  times.has(id) || id === 'healthy-at-old-version'

/** Of the steps that roll pods: the others are much the same everywhere. */
function basisOf(steps: readonly RangedStep[], times: ReadonlyMap<string, RolloutTimes>): Basis {
  const rolling = steps.filter((step) => rolls(step, times))
  return weakest(rolling.flatMap(({ range }) => range?.basis ?? []))
}

function lastWords({ whole }: JournalTimes): string[] {
  const last = whole.at(-1)
  return last === undefined ? [] : [`the last upgrade with kvup took ${aboutWords(last)}`]
}

function openWords(steps: readonly TimedStep[], ranged: readonly RangedStep[]): string[] {
  const open = steps.filter((_, index) => ranged[index]?.range === undefined).map(({ title }) => title)
  return open.length > 0 ? [`plus, of unknown duration: ${open.join(', ')}`] : []
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
  for (const observed of bySpan(spans.toReversed())) {
    const between = stepsBetween(steps, observed[0])
    if (between.length === 0 || between.some(({ id }) => told.has(id))) continue
    between.forEach(({ id }) => told.add(id))
    parts.push(partOf(between, observed))
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
type EarlierSpans = readonly [JournalSpan, ...(readonly JournalSpan[])]

/** Those between the same changes together. */
function bySpan(spans: readonly JournalSpan[]): EarlierSpans[] {
  const groups = Map.groupBy(spans, ({ after, before }) => `${after} ${before ?? ''}`)
  return [...groups.values()].flatMap(([first, ...rest]): EarlierSpans[] => (first ? [[first, ...rest]] : []))
}

/** None where one of the two changes is not among these steps. */
function stepsBetween(steps: readonly RangedStep[], { after, before }: JournalSpan): readonly RangedStep[] {
  const from = steps.findIndex(({ id }) => id === after)
  const to = before === undefined ? steps.length : steps.findIndex(({ id }) => id === before)
  return from < 0 ? [] : steps.slice(from + 1, Math.max(0, to))
}

function partOf(steps: readonly RangedStep[], observed: EarlierSpans): Part {
  const known = sumOf(steps)
  const took = {
    low: Math.min(...observed.map(({ ms }) => ms)),
    high: Math.max(...observed.map(({ ms }) => ms)),
  }
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
const startsVersion: ReadonlySet<string> = new Set(stepsThatSet('version'))

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

/**
 * Every change that it found made was its own: one that a cut-off run made is only written down (as applied) by the next. The steps of an upgrade path bear
 * their release, and a path over several minors is no measure for one upgrade.
 */
function isWhole(run: readonly Entry[]): boolean {
  const intended = new Set(run.filter(({ what }) => what === 'intends').map(({ step }) => step))
  const applied = run.filter(({ what }) => what === 'applied').map(({ step }) => step)
  return applied.some((step) => startsVersion.has(step)) && applied.every((step) => intended.has(step))
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

export const nothing: Range = { low: 0, high: 0 }

/** One after the other. What is slow on a cluster is slow in every step, so both ends add up. */
export function inTurn(ranges: readonly Range[]): Range {
  return ranges.reduce((sum, { low, high }) => ({ low: sum.low + low, high: sum.high + high }), nothing)
}

/** Each end on its side to what a person would say: 5 s below a minute, 30 s below five, then whole minutes, then five. */
const rounded = ({ low, high }: Range): Range => ({
  low: Math.floor(low / grain(low)) * grain(low),
  high: Math.ceil(high / grain(high)) * grain(high),
})

function grain(ms: number): number {
  if (ms < minutes) return 5 * seconds
  if (ms < 5 * minutes) return 30 * seconds
  return ms < 20 * minutes ? minutes : 5 * minutes
}

/** `less than 1 min`, `30 s to 5 min`, `4 to 7 min`, `1 to 3 h`. */
export function rangeWords(range: Range): string {
  const { low, high } = rounded(range)
  if (high < minutes) return 'less than 1 min'
  if (high > 2 * hours) return betweenText(Math.floor(low / hours), Math.ceil(high / hours), 'h')
  const most = Math.ceil(high / minutes)
  if (low < minutes) return low < 15 * seconds ? `up to ${most} min` : `${low / seconds} s to ${most} min`
  return betweenText(Math.floor(low / minutes), most, 'min')
}

/** `less than 1 min`, `about 4 min`, `about 3 h`. */
function aboutWords(ms: number): string {
  if (ms < minutes) return 'less than 1 min'
  return ms > 2 * hours ? `about ${Math.round(ms / hours)} h` : `about ${Math.round(ms / minutes)} min`
}

function betweenText(from: number, to: number, unit: string): string {
  if (from === 0) return `up to ${to} ${unit}`
  return from === to ? `about ${to} ${unit}` : `${from} to ${to} ${unit}`
}

/** What a range is made from, the best first. */
type Basis = 'own-rollouts' | 'own-pods' | 'guess'

interface BasedRange extends Range {
  basis: Basis
}

/** What may be said of several together; `guess` where there is none. */
function weakest(bases: readonly Basis[]): Basis {
  if (bases.length === 0 || bases.includes('guess')) return 'guess'
  return bases.includes('own-pods') ? 'own-pods' : 'own-rollouts'
}

/** Readiness probes begin after 15 s and ask every 10 or 20 (KV: components/{daemonsets,deployments}.go); images come on top. */
const guessedPod: Range = { low: 15 * seconds, high: 60 * seconds }
/** A guess: a few hundred MB of images, where the pods that are there may have found theirs on the node. */
const pull = 60 * seconds
/** Until the next pod can begin: a DaemonSet's old pod has to end first, a Deployment's new one comes beside it. */
const handOver = { DaemonSet: 10 * seconds, Deployment: 2 * seconds }
/** virt-operator looks every 3 to 5 s (lab "Seen" 9) and needs two looks: for what it sets back, and for the next component. */
const passes = 10 * seconds
/** A new version may start faster than the present one, and slower. */
const podFaster = 0.7
const podSlower = 1.5
/** The next roll beside the last: another version, other images, another load. */
const muchSlower = 2

/** How long one component takes to roll; `pods` is what all components together tell, for one whose own pods tell nothing. */
function rollRange(times: RolloutTimes, pods: Range | undefined): BasedRange {
  if (times.lastMs !== undefined)
    return {
      low: times.lastMs * podFaster,
      high: times.lastMs * muchSlower + passes + handOver[times.kind],
      basis: 'own-rollouts',
    }
  const pod = times.podMs ?? pods
  return pod === undefined
    ? { ...wavesOf(times, guessedPod), basis: 'guess' }
    : { ...wavesOf(times, slowerPod(pod, times.pulled)), basis: 'own-pods' }
}

/** From the fastest pod of any component to the slowest; undefined where none tells anything. */
function podRange(times: Iterable<RolloutTimes>): Range | undefined {
  const known = [...times].flatMap(({ podMs }) => podMs ?? [])
  if (known.length === 0) return undefined
  return {
    low: Math.min(...known.map(({ low }) => low)),
    high: Math.max(...known.map(({ high }) => high)),
  }
}

function slowerPod({ low, high }: Range, pulled: boolean): Range {
  return { low: low * podFaster, high: high * podSlower + (pulled ? 0 : pull) }
}

/** A pod goes as soon as another one serves: as many pods' times in turn as `atOnce` leaves, and for virt-handler the canary's first. */
function wavesOf({ kind, desired, atOnce }: RolloutTimes, pod: Range): Range {
  const canary = kind === 'DaemonSet' ? 1 : 0
  const rest = Math.max(0, Math.max(1, desired) - canary) / atOnce
  return {
    low: (canary + rest) * pod.low,
    high: (canary + Math.ceil(rest)) * (pod.high + handOver[kind]) + passes,
  }
}

/** What is read of a step. */
export type TimedStep = Pick<Step, 'id' | 'title' | 'estimate' | 'patience'> & {
  /** The id without the step of an upgrade path that it ends in. */
  base?: string
}

/** The old leader's Lease runs out 15 s after it ended: in four recordings it led 22 to 23 s after the apply. */
const operatorLease: Range = { low: 0, high: 20 * seconds }

/** The estimate is what it has to stay settled and 5 s; recorded were 6.4 to 7.5 s from the last pod to Healthy, and once 25 s (lab "Seen" 9). */
const settledLater = 25 * seconds

/** How long a step takes, from what the pods tell; undefined where nothing does. */
function stepRange(timed: TimedStep, times: ReadonlyMap<string, RolloutTimes>): BasedRange | undefined {
  const { base = timed.id, ...rest } = timed
  const step = { ...rest, id: base }
  if (isOpenEnded(step)) return undefined
  const rolled = times.get(step.id)
  if (rolled) return componentRange(step.id, rolled, times)
  if (step.id === 'healthy-at-old-version') return wholeRoll(step, times)
  return { ...withoutPods(step), basis: 'guess' }
}

/** A write of kvup's own is short; where its owner has to commit it, there is time for that. */
function isOpenEnded({ id, estimate }: TimedStep): boolean {
  const takes = takesOf(id)
  return takes === 'open-ended' || (takes !== 'estimated' && estimate > 60 * seconds)
}

function withoutPods({ id, estimate }: TimedStep): Range {
  if (id === 'healthy') return { low: Math.max(0, estimate - 5 * seconds), high: estimate + settledLater }
  const takes = takesOf(id)
  return typeof takes === 'object' ? takes : { low: estimate / 2, high: estimate * 3 }
}

/** virt-api waits for the Deployments that come with the target, which no step of the plan knows yet (facts 2.5). */
function componentRange(
  name: string,
  rolled: RolloutTimes,
  times: ReadonlyMap<string, RolloutTimes>,
): BasedRange {
  const pods = podRange(times.values())
  const range = rollRange(rolled, pods)
  if (name === operatorName) return { ...range, ...inTurn([range, operatorLease]) }
  if (name !== 'virt-api') return range
  const before = [...times.values()].filter(({ isNew }) => isNew).map((added) => rollRange(added, pods).high)
  return { ...range, high: before.reduce((sum, high) => sum + high, range.high) }
}

/** The new operator takes the old version over: strategy, every component, and settled (night U2). Not all of them need to roll. */
function wholeRoll(step: TimedStep, times: ReadonlyMap<string, RolloutTimes>): BasedRange {
  const components = [...times].filter(([name, { isNew }]) => name !== operatorName && !isNew)
  const ranges = components.map(([name, rolled]) => componentRange(name, rolled, times))
  const settled = withoutPods({ ...step, id: 'healthy' })
  const strategy = withoutPods({ ...step, id: 'install-strategy' })
  const low = inTurn([strategy, settled]).low
  const basis = weakest(ranges.map((roll) => roll.basis))
  return { low, high: inTurn([strategy, ...ranges, settled]).high, basis }
}
