import type { Pod } from '../cluster/kinds/pods.ts'
import { earliest } from './elapsed.ts'
import { isReady } from './scene.ts'

/** One pod from its creation to serving. Both in ms since the epoch; the API server tells whole seconds. */
export interface PodStart {
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
export function podStarts(pods: readonly Pod[]): readonly PodStart[] {
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
export function madeTogether(starts: readonly PodStart[], desired: number): readonly PodStart[] | undefined {
  const most = inGoes(starts).reduce((a, b) => (b.length > a.length ? b : a), [])
  return most.length > 0 && most.length >= desired * 0.8 && !isMostlyIdle(most) ? most : undefined
}

/** First pod created to last pod ready, in ms. */
export function lengthOf(starts: readonly PodStart[]): number {
  return Math.max(...starts.map(({ ready }) => ready)) - Math.min(...starts.map(({ created }) => created))
}

/**
 * The most pods that were on their way at one time: all of them when they were installed, a few when they were rolled. One that
 * began and served in the same second was on its way for that second: rather no roll than one that took no time.
 */
export function mostAtOnce(starts: readonly PodStart[]): number {
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
