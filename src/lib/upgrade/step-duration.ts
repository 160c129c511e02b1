import { hours, minutes, seconds } from '../kube/clock.ts'
import type { RolloutTimes } from '../kubevirt/rollout-times.ts'
import { operatorName } from '../kubevirt/installed-components.ts'
import type { Step } from '../engine/step.ts'

/** A span of time that is not known exactly, in ms. */
export interface Range {
  low: number
  high: number
}

export const nothing: Range = { low: 0, high: 0 }

/** One after the other. What is slow on a cluster is slow in every step, so both ends add up. */
export function inTurn(ranges: readonly Range[]): Range {
  return ranges.reduce((sum, { low, high }) => ({ low: sum.low + low, high: sum.high + high }), nothing)
}

/** Each end on its side to what a person would say: 5 s below a minute, 30 s below five, then whole minutes, then five. */
export function rounded({ low, high }: Range): Range {
  return {
    low: Math.floor(low / grain(low)) * grain(low),
    high: Math.ceil(high / grain(high)) * grain(high),
  }
}

function grain(ms: number): number {
  if (ms < minutes) return 5 * seconds
  if (ms < 5 * minutes) return 30 * seconds
  return ms < 20 * minutes ? minutes : 5 * minutes
}

/** `less than 1 min`, `30 s to 5 min`, `4 to 7 min`, `1 to 3 h`. */
export function rangeWords(range: Range): string {
  const { low, high } = rounded(range)
  if (high < minutes) return 'less than 1 min'
  if (high > 2 * hours) return between(Math.floor(low / hours), Math.ceil(high / hours), 'h')
  const most = Math.ceil(high / minutes)
  if (low < minutes) return low < 15 * seconds ? `up to ${most} min` : `${low / seconds} s to ${most} min`
  return between(Math.floor(low / minutes), most, 'min')
}

/** `less than 1 min`, `about 4 min`, `about 3 h`. */
export function aboutWords(ms: number): string {
  if (ms < minutes) return 'less than 1 min'
  return ms > 2 * hours ? `about ${Math.round(ms / hours)} h` : `about ${Math.round(ms / minutes)} min`
}

function between(from: number, to: number, unit: string): string {
  if (from === 0) return `up to ${to} ${unit}`
  return from === to ? `about ${to} ${unit}` : `${from} to ${to} ${unit}`
}

/** What a range is made from, the best first. */
export type Basis = 'own-rollouts' | 'own-pods' | 'guess'

export interface BasedRange extends Range {
  basis: Basis
}

/** What may be said of several together; `guess` where there is none. */
export function weakest(bases: readonly Basis[]): Basis {
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
const faster = 0.7
const slower = 1.5
/** The next roll beside the last: another version, other images, another load. */
const muchSlower = 2

/** How long one component takes to roll; `pods` is what all components together tell, for one whose own pods tell nothing. */
function rollRange(times: RolloutTimes, pods: Range | undefined): BasedRange {
  if (times.lastMs !== undefined)
    return {
      low: times.lastMs * faster,
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
  return { low: low * faster, high: high * slower + (pulled ? 0 : pull) }
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

/** One request and what the journal needs. */
const write: Range = { low: 0, high: 5 * seconds }
/** The old leader's Lease runs out 15 s after it ended: in four recordings it led 22 to 23 s after the apply. */
const operatorLease: Range = { low: 0, high: 20 * seconds }

/**
 * Steps that take about as long on every cluster, from the recordings in test/transcripts/recorded with room on both sides: for
 * API servers that are nearer or further away, and for the image of the strategy Job:
 * - apply-operator-manifest: 0.8 s (operator-v1.7.0-v1.8.4);
 * - install-strategy, from what set it going to the first operand: 14.4 s (imagetag), 14.9 s (operator), 14.7 s (workloads), 21.0 s (oldop);
 * - virt-controller-leads, after "done": 2.1 s (imagetag), 0.9 s (workloads), 0 s (the others).
 */
const fixed: Readonly<Record<string, Range>> = {
  'hold-workload-updates': write,
  'lift-image-tag': write,
  'set-image-tag': write,
  'put-image-tag-in': write,
  'give-back-workload-updates': write,
  'apply-operator-manifest': { low: 0, high: 20 * seconds },
  'install-strategy': { low: 4 * seconds, high: 40 * seconds },
  'virt-controller-leads': { low: 0, high: 15 * seconds },
}

/** The estimate is what it has to stay settled and 5 s; recorded were 6.4 to 7.5 s from the last pod to Settled, and once 25 s (lab "Seen" 9). */
const settledLater = 25 * seconds
/** An edit of the CR is seen at once, or after 12 and 17 s (workloads-v1.7.0-v1.8.4). */
const settledAgain: Range = { low: 0, high: 25 * seconds }

/** Their end is up to somebody else: the people who commit, or the VMs that migrate. */
const openEnded = new Set(['migrations-in-flight', 'workloads', 'version-committed', 'vms-follow'])

/** How long a step takes, from what the pods tell; undefined where nothing does. */
export function stepRange(
  timed: TimedStep,
  times: ReadonlyMap<string, RolloutTimes>,
): BasedRange | undefined {
  const { base = timed.id, ...rest } = timed
  const step = { ...rest, id: base }
  if (isOpenEnded(step)) return undefined
  const rolled = times.get(step.id)
  if (rolled) return componentRange(step.id, rolled, times)
  if (step.id === 'settled-at-old-version') return wholeRoll(step, times)
  return { ...withoutPods(step), basis: 'guess' }
}

/** A write of kvup's own is short; where its owner has to commit it, there is time for that. */
function isOpenEnded({ id, estimate }: TimedStep): boolean {
  return openEnded.has(id) || (id in fixed && estimate > 60 * seconds)
}

function withoutPods({ id, estimate }: TimedStep): Range {
  if (id === 'settled-again') return settledAgain
  if (id === 'settled') return { low: Math.max(0, estimate - 5 * seconds), high: estimate + settledLater }
  return fixed[id] ?? { low: estimate / 2, high: estimate * 3 }
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
  const rolls = components.map(([name, rolled]) => componentRange(name, rolled, times))
  const settled = withoutPods({ ...step, id: 'settled' })
  const strategy = fixed['install-strategy'] ?? write
  const low = inTurn([strategy, settled]).low
  const basis = weakest(rolls.map((roll) => roll.basis))
  return { low, high: inTurn([strategy, ...rolls, settled]).high, basis }
}
