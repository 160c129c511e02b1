import type { DaemonSet, Deployment, Pod } from '../kube/kinds/workload-kinds.ts'
import type { KubeVirt } from '../kube/kinds/kubevirt-kinds.ts'
import { type Version, versionOf } from '../releases/release-versions.ts'
import { theInstallation } from './installation.ts'
import {
  isReady,
  operatorName,
  operatorPods,
  podsOf,
  type UpgradeSnapshot,
  type Workload,
  workloads,
} from './installed-components.ts'
import type { Snapshot } from './snapshot.ts'
import { earliest } from '../kube/timestamps.ts'

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
  const observed: UpgradeSnapshot = {
    snapshot,
    kubevirt,
    operator: deployment,
    at: new Date(snapshot.takenAt),
    lastLines: [],
  }
  const times = workloads(observed).map((workload): Named => [
    workload.object.metadata.name,
    timesOf(workload, podStarts(podsOf(observed, workload))),
  ])
  const pulled = times.some(([, component]) => component.pulled)
  const all = [...newcomers(kubevirt, target, pulled), ...times]
  if (deployment === undefined) return new Map(all)
  const operator = timesOf({ kind: 'Deployment', object: deployment }, podStarts(operatorPods(observed)))
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

/** One pod from its creation to serving. Both in ms since the epoch; the API server tells whole seconds. */
interface PodStart {
  created: number
  ready: number
}

/** A time in the API is cut to its second. */
const tick = 1000

const revisionLabels = ['controller-revision-hash', 'pod-template-hash'] as const

/**
 * How the pods of the revision that most of them are of came up, the first created first. Left out are those that do not serve
 * now, and those with a container that was restarted: when they first served is not told any more.
 */
function podStarts(pods: readonly Pod[]): readonly PodStart[] {
  return ofMainRevision(pods)
    .flatMap((pod) => startOf(pod) ?? [])
    .toSorted((a, b) => a.created - b.created || a.ready - b.ready)
}

function ofMainRevision(pods: readonly Pod[]): readonly Pod[] {
  const revisions = Map.groupBy(pods, ({ metadata }) =>
    revisionLabels.map((label) => metadata.labels?.[label]).find(Boolean),
  )
  return [...revisions.values()].reduce((most, some) => (some.length > most.length ? some : most), [])
}

function startOf(pod: Pod): PodStart | undefined {
  const { conditions = [], containerStatuses = [] } = pod.status ?? {}
  if (!isReady(pod) || containerStatuses.some(({ restartCount = 0 }) => restartCount > 0)) return undefined
  // A node that was away for a moment takes Ready away and gives it back, and leaves ContainersReady as it was.
  const served = earliest(
    conditions
      .filter(({ type, status }) => status === 'True' && (type === 'Ready' || type === 'ContainersReady'))
      .map(({ lastTransitionTime }) => lastTransitionTime),
  )
  const [created, ready] = [Date.parse(pod.metadata.creationTimestamp ?? ''), Date.parse(served ?? '')]
  return ready >= created ? { created, ready } : undefined
}

/** virt-handler gets 330 s to end (KV: components/daemonsets.go): longer than that nobody waits between two pods of one roll. */
const longestGap = 360_000

/**
 * The pods that were made in one go, when that is most of what is wanted: an installation or a roll, which also pulled their
 * images. Nodes that joined later and pods that were replaced one by one (a drain, a reboot) are not of it.
 */
function madeTogether(starts: readonly PodStart[], desired: number): readonly PodStart[] | undefined {
  const most = inGoes(starts).reduce((a, b) => (b.length > a.length ? b : a), [])
  return most.length > 0 && most.length >= desired * 0.8 && !isMostlyIdle(most) ? most : undefined
}

/** First pod created to last pod ready, in ms. */
function lengthOf(starts: readonly PodStart[]): number {
  return Math.max(...starts.map(({ ready }) => ready)) - Math.min(...starts.map(({ created }) => created))
}

/**
 * The most pods that were on their way at one time: all of them when they were installed, a few when they were rolled. One that
 * began and served in the same second was on its way for that second: rather no roll than one that took no time.
 */
function mostAtOnce(starts: readonly PodStart[]): number {
  const servedAt = ({ created, ready }: PodStart) => Math.max(ready, created + tick)
  return Math.max(
    0,
    ...starts.map(
      ({ created }) => starts.filter((s) => s.created <= created && servedAt(s) > created).length,
    ),
  )
}

function inGoes(starts: readonly PodStart[]): PodStart[][] {
  const goes: PodStart[][] = []
  let served = Number.NEGATIVE_INFINITY
  for (const start of starts) {
    if (start.created - served > longestGap) goes.push([])
    goes.at(-1)?.push(start)
    served = Math.max(served, start.ready)
  }
  return goes
}

/** While nodes are rebooted one after the other, pods follow each other too, but mostly none is on its way. */
function isMostlyIdle(starts: readonly PodStart[]): boolean {
  let idle = 0
  let served = starts[0]?.created ?? 0
  for (const { created, ready } of starts) {
    idle += Math.max(0, created - served - tick)
    served = Math.max(served, ready)
  }
  return idle * 2 > lengthOf(starts)
}
