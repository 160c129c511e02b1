import type { DaemonSet, Deployment } from '../cluster/kinds/apps.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import { type Version, versionOf } from '../releases/version.ts'
import { theInstallation } from './installation.ts'
import { lengthOf, madeTogether, mostAtOnce, type PodStart, podStarts } from './pod-starts.ts'
import { operatorPods, podsOf, type Scene, type Workload, workloads } from './scene.ts'
import type { Snapshot } from './snapshot.ts'
import { operatorName } from './stamps.ts'

/** What the pods of one component tell about how long it takes to roll. Times in ms. */
export interface RolloutTimes {
  kind: 'DaemonSet' | 'Deployment'
  desired: number
  /** How many pods may be on their way at one time. */
  atOnce: number
  /** Creation to Ready of its pods: the shortest, and what nine of ten do not pass. Absent where no start is told any more. */
  podMs?: { low: number; high: number }
  /** Their images were pulled when they started: they were made in one go, not one by one later. */
  pulled: boolean
  /** First pod created to last pod ready, where its pods came by a roll. */
  lastMs?: number
  /** It is not there yet and comes with the target, unless its gate is switched off. */
  isNew?: true
}

type Named = readonly [name: string, times: RolloutTimes]

/** Deployments that come by themselves with v1.9, two pods each, before virt-api's turn (lab "Seen" 6). */
const newWithV19 = ['virt-exportproxy', 'virt-template-apiserver', 'virt-template-controller'] as const

/**
 * Of virt-operator and every component, by name, and of those that come with the target. Pure; throws what `theInstallation`
 * throws. virt-handler rolls one pod first and then 10 % at a time (facts 2.8), Deployments by their strategy, 25 % more and 25 %
 * less where none is set.
 */
export function rolloutTimes(snapshot: Snapshot, target?: Version): ReadonlyMap<string, RolloutTimes> {
  const { kubevirt, deployment } = theInstallation(snapshot)
  const scene: Scene = {
    snapshot,
    kubevirt,
    operator: deployment,
    at: new Date(snapshot.takenAt),
    lastLines: [],
  }
  const times = workloads(scene).map((workload): Named => [
    workload.object.metadata.name,
    timesOf(workload, podStarts(podsOf(scene, workload))),
  ])
  const pulled = times.some(([, component]) => component.pulled)
  const all = [...newcomers(kubevirt, target, pulled), ...times]
  if (deployment === undefined) return new Map(all)
  const operator = timesOf({ kind: 'Deployment', object: deployment }, podStarts(operatorPods(scene)))
  return new Map([[operatorName, operator], ...all])
}

function newcomers({ status }: KubeVirt, target: Version | undefined, pulled: boolean): Named[] {
  const from = versionOf(status?.observedKubeVirtVersion)
  if (target === undefined || !isV19(target) || (from !== undefined && isV19(from))) return []
  return newWithV19.map((name) => [name, { kind: 'Deployment', desired: 2, atOnce: 2, pulled, isNew: true }])
}

const isV19 = ({ major, minor }: Version): boolean => major > 1 || minor >= 9

function timesOf(workload: Workload, starts: readonly PodStart[]): RolloutTimes {
  const shape =
    workload.kind === 'DaemonSet' ? daemonSetShape(workload.object) : deploymentShape(workload.object)
  const together = madeTogether(starts, shape.desired)
  const podMs = startTimes(together ?? starts)
  // More at one time than a roll allows: that was the installation, and says nothing of how long they take in turn.
  const rolled = together !== undefined && mostAtOnce(together) <= shape.atOnce
  return {
    kind: workload.kind,
    ...shape,
    ...(podMs && { podMs }),
    pulled: together !== undefined,
    ...(rolled && { lastMs: lengthOf(together) }),
  }
}

function startTimes(starts: readonly PodStart[]): RolloutTimes['podMs'] {
  const took = starts.map(({ created, ready }) => ready - created).toSorted((a, b) => a - b)
  const [low] = took
  const high = took[Math.ceil(took.length * 0.9) - 1]
  return low === undefined || high === undefined ? undefined : { low, high }
}

type Shape = Pick<RolloutTimes, 'desired' | 'atOnce'>

function daemonSetShape({ status }: DaemonSet): Shape {
  const desired = status?.desiredNumberScheduled ?? 0
  return { desired, atOnce: Math.max(1, Math.ceil(desired / 10)) }
}

function deploymentShape({ spec }: Deployment): Shape {
  const desired = spec?.replicas ?? 1
  const rolling = spec?.strategy?.['rollingUpdate'] as Partial<Record<string, number | string>> | undefined
  const surge = Math.ceil(share(rolling?.['maxSurge'], desired))
  const unavailable = Math.floor(share(rolling?.['maxUnavailable'], desired))
  return { desired, atOnce: Math.max(1, surge + unavailable) }
}

/** A number of pods, or a percentage of them. */
function share(value: number | string = '25%', desired: number): number {
  return typeof value === 'number' ? value : (Number.parseFloat(value) * desired) / 100
}
