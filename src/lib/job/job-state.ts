import { exitCode, retriedCodes } from '../kube/errors.ts'
import type { ContainerState, CronJob, Job, Pod } from '../kube/kinds/workload-kinds.ts'
import { condition, type KubeObject } from '../kube/object.ts'

type JobVerdict = 'waiting' | 'running' | 'node-lost' | 'retrying' | 'complete' | 'failed' | 'scheduled'

/** One pod of a Job, as a person asks for it. */
export interface JobPod {
  name: string
  node?: string
  phase: string
  /** RFC 3339. */
  started?: string
  /** Of kvup in it, once it has ended. */
  exitCode?: number
  /** Why it does not run, or was ended: in the words of the cluster. */
  why?: string
}

/** How far a Job of kvup is. */
export interface JobState {
  is: JobVerdict
  /** Why it does not go on, or how it ended; absent where all is well. */
  why?: string
  pods: readonly JobPod[]
}

/** Of these objects those that this one made, the newest first. */
export const ownedBy = <T extends KubeObject>(
  { metadata: { uid } }: KubeObject,
  objects: readonly T[],
): T[] =>
  objects
    .filter(({ metadata }) => (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid))
    .toSorted((a, b) =>
      (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''),
    )

/** Pure. Pods are those that the Job controls; the newest stands first. */
export function assessJob(job: Job, pods: readonly Pod[]): JobState {
  const own = ownedBy(job, pods)
  const told = own.map(podOf)
  const failed = condition(job, 'Failed')
  if (failed?.status === 'True')
    return { is: 'failed', why: whyFailed(failed.reason, failed.message, told), pods: told }
  if (condition(job, 'Complete')?.status === 'True') return { is: 'complete', pods: told }
  const [pod] = own
  const [newest] = told
  if (pod === undefined || newest === undefined)
    return { is: 'waiting', why: 'it has no pod yet', pods: told }
  const lost = nodeLost(pod)
  if (lost !== undefined) return { is: 'node-lost', why: lost, pods: told }
  if (newest.phase === 'Running') return { is: 'running', pods: told }
  if (newest.phase === 'Failed') return { is: 'retrying', why: whyRetried(newest), pods: told }
  return { is: 'waiting', ...(newest.why !== undefined && { why: newest.why }), pods: told }
}

/** Of a CronJob: the state of its newest Job where one runs, or when it begins. */
export function assessCronJob({ spec, status }: CronJob): JobState {
  const when = `it begins at ${spec?.schedule ?? '?'}${spec?.timeZone === undefined ? '' : ` ${spec.timeZone}`}`
  const last = status?.lastScheduleTime === undefined ? '' : `, last at ${status.lastScheduleTime}`
  return { is: 'scheduled', why: spec?.suspend === true ? 'it is suspended' : `${when}${last}`, pods: [] }
}

function podOf(pod: Pod): JobPod {
  const { spec, status, metadata } = pod
  const ended = endOf(pod)
  const why = whyOf(pod)
  return {
    name: metadata.name,
    ...(spec?.nodeName !== undefined && { node: spec.nodeName }),
    phase: status?.phase ?? 'Unknown',
    ...(status?.startTime !== undefined && { started: status.startTime }),
    ...(ended?.exitCode !== undefined && { exitCode: ended.exitCode }),
    ...(why !== undefined && { why }),
  }
}

/** Of the container that failed, or of the line. */
function endOf({ status }: Pod): ContainerState['terminated'] {
  const ends = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap(
    ({ state }) => state?.terminated ?? [],
  )
  return ends.find((end) => end.exitCode !== 0) ?? ends.at(-1)
}

const sentence = ({ reason, message }: { reason?: string; message?: string }): string | undefined =>
  [reason, message].filter((part) => part !== undefined && part !== '').join(': ') || undefined

/** The first that says something. */
function whyOf(pod: Pod): string | undefined {
  const disrupted = condition(pod, 'DisruptionTarget')
  if (disrupted?.status === 'True') return sentence(disrupted) ?? 'it was disrupted'
  return nodeLost(pod) ?? whyNotPlaced(pod) ?? whyNotStarted(pod) ?? whyEnded(pod)
}

function whyNotPlaced(pod: Pod): string | undefined {
  const placed = condition(pod, 'PodScheduled')
  return placed?.status === 'False' ? (placed.message ?? placed.reason) : undefined
}

const beginning = new Set(['PodInitializing', 'ContainerCreating'])

function whyNotStarted({ status }: Pod): string | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const waiting = all
    .flatMap(({ state }) => state?.waiting ?? [])
    .find(({ reason = '' }) => !beginning.has(reason))
  return waiting && sentence(waiting)
}

/** `Error` says no more than the exit code. */
function whyEnded(pod: Pod): string | undefined {
  if (pod.status?.phase !== 'Failed') return undefined
  const reason = endOf(pod)?.reason
  return pod.status.message ?? (reason === 'Error' ? undefined : reason)
}

/**
 * A pod that is not ready though its container runs: kvup has no readiness probe, so that only the node controller makes it so, when the node no longer answers. Kubernetes deletes the pod
 * five minutes later, and the Job makes another one.
 */
function nodeLost(pod: Pod): string | undefined {
  const { status, spec } = pod
  const lost = (since = '') =>
    `node ${spec?.nodeName ?? 'of the pod'} no longer answers${since}; when Kubernetes deletes the pod, another one continues`
  if (status?.phase === 'Unknown' || status?.reason === 'NodeLost') return lost()
  const ready = condition(pod, 'Ready')
  if (ready === undefined || ready.status === 'True' || !runs(pod)) return undefined
  if (ready.reason === 'ContainersNotReady') return undefined
  return lost(ready.lastTransitionTime === undefined ? '' : ` since ${ready.lastTransitionTime}`)
}

const runs = ({ status }: Pod): boolean =>
  status?.phase === 'Running' &&
  (status.containerStatuses ?? []).some(({ state }) => state?.running !== undefined)

const names = new Map<number, string>(Object.entries(exitCode).map(([name, code]) => [code, name]))

/** `exit 4 (timedOut)`. */
export function exitText(code: number): string {
  const name = names.get(code)
  return name === undefined ? `exit ${code}` : `exit ${code} (${name})`
}

function whyRetried({ name, exitCode: code, why }: JobPod): string {
  const end = code === undefined ? (why ?? 'ended') : `ended with ${exitText(code)}`
  return `pod ${name} ${end}; another one continues`
}

function whyFailed(
  reason: string | undefined,
  message: string | undefined,
  [newest]: readonly JobPod[],
): string {
  const code = newest?.exitCode
  if (newest === undefined || code === undefined || code === 0)
    return message ?? reason ?? 'no reason is told'
  const end = `pod ${newest.name} ended with ${exitText(code)}`
  if (retriedCodes.includes(code))
    return `${end}; the Job has used up its retries (${reason ?? 'no reason is told'})`
  return `${end}, which no other pod would mend`
}
