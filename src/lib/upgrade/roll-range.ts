import type { RolloutTimes } from '../facts/rollout-times.ts'
import { seconds } from '../system/units.ts'
import type { Range } from './range.ts'

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
export function rollRange(times: RolloutTimes, pods: Range | undefined): BasedRange {
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
export function podRange(times: Iterable<RolloutTimes>): Range | undefined {
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
