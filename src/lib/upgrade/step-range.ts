import type { RolloutTimes } from '../facts/rollout-times.ts'
import { operatorName } from '../facts/stamps.ts'
import type { Step } from '../procedure/step.ts'
import { seconds } from '../system/units.ts'
import { inTurn, type Range } from './range.ts'
import { type BasedRange, podRange, rollRange, weakest } from './roll-range.ts'

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
