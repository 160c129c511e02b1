import type { ContainerState, ContainerStatus, Pod } from '../cluster/kinds/pods.ts'
import { isImageReason } from '../facts/pod-trouble.ts'

/** What a pod says of its pull. */
export type PullLook =
  | { is: 'pulled' }
  /** It is tried again, with pauses: whether that can help the words have to tell. */
  | { is: 'failing'; reason: string; message: string }
  /** It ended, or never began, for a reason that says nothing about the image. */
  | { is: 'ended'; why: string; message: string }
  | { is: 'waiting' }

/**
 * Only the pull counts: a container that cannot be created or started had its image. Kubelets pull before they create
 * (kubernetes pkg/kubelet/kuberuntime startContainer).
 */
export function lookOfPull(pod: Pod): PullLook {
  const { status = {} } = pod
  const container = status.containerStatuses?.[0]
  if (container && isPast(container)) return { is: 'pulled' }
  return status.phase === 'Failed' || status.phase === 'Succeeded' ? endOf(status) : waitOf(container?.state)
}

function waitOf(state: ContainerState | undefined): PullLook {
  const { reason = '', message = '' } = state?.waiting ?? {}
  return isImageReason(reason) ? { is: 'failing', reason, message } : { is: 'waiting' }
}

function isPast({ state = {}, imageID }: ContainerStatus): boolean {
  const { running, terminated, waiting } = state
  if (running || imageID) return true
  if (terminated) return terminated.reason !== 'ContainerStatusUnknown'
  return created.has(waiting?.reason ?? '')
}

const created: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PostStartHookError',
  'CrashLoopBackOff',
])

function endOf({ reason = 'Failed', message = '' }: NonNullable<Pod['status']>): PullLook {
  const why = reason === 'DeadlineExceeded' ? 'it was not there in time' : `its pod ended: ${reason}`
  return { is: 'ended', why, message }
}
