import type { Event, Node } from '../../kube/kinds/core-kinds.ts'
import type { ContainerState, ContainerStatus, Pod } from '../../kube/kinds/workload-kinds.ts'
import type { CauseKind } from './cause.ts'
import { latest, since } from '../../kube/timestamps.ts'
import { isReady } from '../installed-components.ts'

/** What holds up one pod. */
export interface PodTrouble {
  kind: CauseKind
  reason: string
  terminal: boolean
  message: string
  container?: string
  /** The container was started again: there is a log of before. */
  again?: boolean
  image?: string
  since?: string
}

interface Surroundings {
  node: Node | undefined
  /** Warnings on this pod. */
  events: readonly Event[]
  at: Date
}

const imageReasons = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
])
/** Why a kubelet waits for an image. */
export const isImageReason = (reason: string): boolean => imageReasons.has(reason)

const containerReasons = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PreStartHookError',
  'PostStartHookError',
])

/** Why this pod is not ready, or undefined when nothing points at trouble: it may just be starting. */
export function podTrouble(pod: Pod, around: Surroundings): PodTrouble | undefined {
  if (pod.metadata.deletionTimestamp) return stuckTerminating(pod, around)
  if (isReady(pod)) return undefined
  return (
    nodeTrouble(around.node) ??
    containerTrouble(pod, around) ??
    unschedulable(pod) ??
    failed(pod) ??
    told(around.events)
  )
}

function nodeTrouble(node: Node | undefined): PodTrouble | undefined {
  const ready = node?.status?.conditions?.find((c) => c.type === 'Ready')
  if (!ready || ready.status === 'True') return undefined
  return {
    kind: 'node',
    reason: 'NotReady',
    terminal: false,
    message: ready.message ?? '',
    ...from(ready.lastTransitionTime),
  }
}

/** deletionTimestamp is when the grace period ends, so half a minute later something holds the pod. */
function stuckTerminating(pod: Pod, { node, at }: Surroundings): PodTrouble | undefined {
  const over = since(pod.metadata.deletionTimestamp, at)
  if (over === undefined || over < 30_000) return undefined
  const lost = nodeTrouble(node)
  return (
    lost ?? {
      kind: 'terminating',
      reason: 'Terminating',
      terminal: false,
      message: '',
      ...from(pod.metadata.deletionTimestamp),
    }
  )
}

function containerTrouble(pod: Pod, around: Surroundings): PodTrouble | undefined {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  for (const status of statuses) {
    const trouble = waitingTrouble(status, around.events) ?? crashTrouble(status)
    if (trouble)
      return { ...trouble, container: status.name, ...from(latest([notReadySince(pod), trouble.since])) }
  }
  return undefined
}

function waitingTrouble(status: ContainerStatus, events: readonly Event[]): PodTrouble | undefined {
  const reason = status.state?.waiting?.reason ?? ''
  if (isImageReason(reason)) return imageTrouble(status, reason, events)
  if (!containerReasons.has(reason)) return undefined
  return { kind: 'container', reason, terminal: true, message: status.state?.waiting?.message ?? '' }
}

/** The waiting message loses the cause when the kubelet backs off; the event keeps it, and when it began. */
function imageTrouble(status: ContainerStatus, reason: string, events: readonly Event[]): PodTrouble {
  const pulls = events.filter((event) => event.reason === 'Failed' && event.message?.includes('pull'))
  const texts = [status.state?.waiting?.message, ...pulls.map((event) => event.message)]
  return {
    kind: 'image',
    reason,
    terminal: true,
    message: texts.filter(Boolean).join('; '),
    ...(status.image ? { image: status.image } : {}),
    ...from(pulls.map(eventStart).toSorted()[0]),
  }
}

function crashTrouble(status: ContainerStatus): PodTrouble | undefined {
  const restarts = status.restartCount ?? 0
  const backsOff = status.state?.waiting?.reason === 'CrashLoopBackOff'
  // Between two back-offs it runs for a moment: that is no recovery.
  if (!backsOff && (restarts < 2 || status.ready)) return undefined
  return {
    kind: 'crash',
    reason: 'CrashLoopBackOff',
    terminal: true,
    again: true,
    message: `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}${lastEnd(status)}`,
    ...(status.image ? { image: status.image } : {}),
  }
}

function lastEnd({ lastState, state }: ContainerStatus): string {
  const ended = lastState?.terminated ?? state?.terminated
  return ended ? `, ${endOf(ended)}` : ''
}

type Ended = NonNullable<ContainerState['terminated']>

function endOf({ reason = 'Error', exitCode, message }: Ended): string {
  const code = exitCode === undefined ? '' : ` with code ${exitCode}`
  return `ended by ${reason}${code}${message ? `: ${message.trim()}` : ''}`
}

function unschedulable(pod: Pod): PodTrouble | undefined {
  const scheduled = pod.status?.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'False')
  if (!scheduled) return undefined
  return {
    kind: 'unschedulable',
    reason: scheduled.reason ?? 'Unschedulable',
    terminal: false,
    message: scheduled.message ?? '',
    ...from(scheduled.lastTransitionTime ?? pod.metadata.creationTimestamp),
  }
}

/** Of the strategy Job: its pods are not started again. */
function failed({ status = {}, metadata }: Pod): PodTrouble | undefined {
  if (status.phase !== 'Failed') return undefined
  const { reason = 'Error', message = '' } = status
  const begun = { kind: 'crash', reason, terminal: true } as const
  for (const { name, state } of status.containerStatuses ?? []) {
    const ended = state?.terminated
    if (ended) return { ...begun, message: endOf(ended), container: name, ...from(ended.finishedAt) }
  }
  return { ...begun, message, ...from(metadata.creationTimestamp) }
}

/** Volumes that do not mount, sandboxes that do not start, probes that fail: only events tell. */
function told(events: readonly Event[]): PodTrouble | undefined {
  const last = events.toSorted((a, b) => order(eventEnd(a), eventEnd(b))).at(-1)
  if (!last) return undefined
  return {
    kind: 'not-ready',
    reason: last.reason ?? 'Warning',
    terminal: false,
    message: last.message ?? '',
    ...from(eventStart(last)),
  }
}

function notReadySince(pod: Pod): string | undefined {
  const unready = pod.status?.conditions?.find((c) => c.type === 'ContainersReady' && c.status === 'False')
  return unready?.lastTransitionTime ?? pod.status?.startTime ?? pod.metadata.creationTimestamp
}

const eventStart = (event: Event): string =>
  event.firstTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? ''
const eventEnd = (event: Event): string => event.lastTimestamp ?? eventStart(event)
/** RFC 3339 compares as it stands; the first localeCompare of a process loads a language for 9 ms. */
const order = (a: string, b: string): number => Number(a > b) - Number(a < b)
const from = (time: string | undefined): { since?: string } => (time ? { since: time } : {})
