import type { ClusterServiceVersion, Subscription } from '../kube/kinds/operator-kinds.ts'
import type {
  ContainerState,
  ContainerStatus,
  Deployment,
  Job,
  Pod,
  ReplicaSet,
} from '../kube/kinds/workload-kinds.ts'
import { itemsOf, type Known } from '../kube/known.ts'
import { condition, type KubeObject } from '../kube/object.ts'
import { minutes } from '../kube/clock.ts'
import { since } from '../kube/timestamps.ts'
import type { CsvStatus } from './olm-status.ts'

/** What is told of a failure beside its verdict: a line each, and commands. */
export interface FailureHelp {
  notes: readonly string[]
  help: readonly string[]
}

/** On the Jobs of OLM that unpack bundles, and on the ConfigMaps that they fill. */
export const unpackLabel = 'operatorframework.io/bundle-unpack-ref'

/** What others can write is only printed as part of a command where it is a name. */
export const objectName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/u

/** A bundle that OLM could not unpack, in the condition of that name or in the one of the resolution that it prevents. */
export function isUnpackFailure({ status }: Subscription): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: is, message = '' }) =>
      is === 'True' &&
      (type === 'BundleUnpackFailed' ||
        (type === 'ResolutionFailed' && message.includes('bundle unpacking failed'))),
  )
}

/**
 * OLM unpacks a bundle by a Job in the namespace of the catalog, into a ConfigMap of the same name, and does not begin again while the failed Job is there
 * (ocp 7 #4). `jobs` are those with `unpackLabel` of that namespace; undefined where they were not asked for.
 */
export function unpackHelp(subscription: Subscription, jobs: Known<Job> | undefined): FailureHelp {
  const namespace = subscription.spec?.sourceNamespace ?? ''
  if (!objectName.test(namespace)) return { notes: [], help: [] }
  const failed = (jobs?.known === true ? jobs.items : []).filter(hasFailed)
  const named = failed.filter(({ metadata }) => objectName.test(metadata.name))
  if (named.length === 0) {
    const why = jobs?.known === false ? `: ${jobs.why}` : ''
    return {
      notes: [`which Job in namespace ${namespace} failed is not known${why}`],
      help: [
        `kubectl -n ${namespace} get jobs,configmaps -l ${unpackLabel}     shows the Job that failed, and the ConfigMap of the same name`,
      ],
    }
  }
  return {
    notes: [
      ...failed.slice(0, shownJobs).map(jobText),
      ...(named.length > 1 ? ['which of them is of this bundle: their images show it'] : []),
      'OLM does not retry while its Job exists. Fix the cause first: the bundle image, the registry, or an OLM too old for so large a bundle',
    ],
    help: named
      .slice(0, shownJobs)
      .flatMap((job) => [
        whyItFailed(job, namespace),
        `kubectl -n ${namespace} delete job/${job.metadata.name}     once the cause is mended: OLM unpacks again (untested; the ConfigMap of the same name may have to go as well)`,
      ]),
  }
}

/** The pods of a Job that ran out of its time are deleted, and their logs with them. */
function whyItFailed(job: Job, namespace: string): string {
  const { name } = job.metadata
  return condition(job, 'Failed')?.reason === 'DeadlineExceeded'
    ? `kubectl -n ${namespace} describe job ${name}     its pods are gone, its events tell of them`
    : `kubectl -n ${namespace} logs job/${name} --all-containers --tail=20     says why`
}

const shownJobs = 2

const hasFailed = (job: Job): boolean => condition(job, 'Failed')?.status === 'True'

function jobText(job: Job): string {
  const { reason = 'no reason' } = condition(job, 'Failed') ?? {}
  const [image] = [
    ...(job.spec?.template?.spec?.initContainers ?? []),
    ...(job.spec?.template?.spec?.containers ?? []),
  ].flatMap((container) => (container.name === 'pull' && container.image ? [container.image] : []))
  const of = image === undefined ? '' : `, which unpacks ${image},`
  return `Job ${job.metadata.name} in namespace ${job.metadata.namespace ?? ''}${of} failed (${reason}); its ConfigMap has the same name`
}

/** A CRD that may not be replaced, for objects may be stored in a version that the new one lacks. */
export interface StoredVersionLoss {
  /** Of the CRD. */
  name: string
  /** That would be lost. */
  version: string
}

const losses =
  /risk of data loss updating "(?<name>[a-z0-9][-a-z0-9.]{0,251})": new CRD removes version (?<version>v[a-z0-9]{1,30}) that is listed as a stored version/u

/** In OLM's words; undefined where a failure is another one. */
export function storedVersionLoss(message: string): StoredVersionLoss | undefined {
  const { name, version } = losses.exec(message)?.groups ?? {}
  return name === undefined || version === undefined ? undefined : { name, version }
}

/**
 * `status.storedVersions` is a history: it names a version also when no object is stored in it any more. So every object is written once, in the version that is
 * stored now, and then the CRD may forget the others. Of a CRD that was not seen it is not known which version that is.
 */
export function forgetVersions(name: string, stored: string | undefined): readonly string[] {
  const shows = `kubectl get crd ${name} -o jsonpath='{.status.storedVersions} {.spec.versions[?(@.storage==true)].name}'     shows which versions it remembers, and the one that is stored now`
  const writes = `kubectl get ${name} -A -o json | kubectl replace -f -     writes every object once, in the version that is stored now; nothing to do where there is none`
  const after = stored ?? 'VERSION-STORED-NOW'
  return [
    shows,
    writes,
    `then set status.storedVersions of the CRD to ${after}: an object that was not written anew can never be read again. Save all of them to a file first`,
  ]
}

/** The objects that run in a namespace, where something in it is not as it should be. */
export interface RunningObjects {
  deployments: Known<Deployment>
  replicaSets: Known<ReplicaSet>
  pods: Known<Pod>
}

/** The Deployments of a CSV. */
const deploymentsOf = ({ spec }: ClusterServiceVersion): readonly string[] =>
  (spec?.install?.spec?.deployments ?? []).flatMap(({ name }) => (name === undefined ? [] : [name]))

/** OLM replaces pods within this time; a CSV that takes longer is asked for what runs. */
const startsWithin = 2 * minutes

/** A CSV that is worth asking what runs: it has failed once, or does not get ready. */
export function isSlow(csv: ClusterServiceVersion, status: CsvStatus, at: Date): boolean {
  if (status.state === 'succeeded' || status.state === 'leaving' || status.state === 'held') return false
  return failedInstalls(csv) > 0 || (since(status.unsettledSince, at) ?? 0) >= startsWithin
}

/** What became of it since it was Succeeded for the last time; its conditions are a history of the last 20. */
function sinceSucceeded({ status = {} }: ClusterServiceVersion) {
  const { conditions = [], phase } = status
  if (phase === 'Succeeded') return []
  return conditions.slice(conditions.findLastIndex((one) => one.phase === 'Succeeded') + 1)
}

/**
 * How often its five minutes to install were over since it was Succeeded. OLM begins again each time, so that its phase alternates for ever between Failed,
 * Pending and Installing.
 */
export const failedInstalls = (csv: ClusterServiceVersion): number =>
  sinceSucceeded(csv).filter(({ reason }) => reason === 'InstallCheckFailed').length

/**
 * Why it was Failed for the last time since it was Succeeded, in OLM's words. OLM leaves a CSV Failed for a second at most, and begins again: who looks at its phase alone
 * sees one that gets on.
 */
export function lastFailure(csv: ClusterServiceVersion): string | undefined {
  const failed = sinceSucceeded(csv).findLast((one) => one.phase === 'Failed')
  return failed && `${failed.reason ?? 'Failed'}: ${failed.message ?? 'no message'}`
}

/** Why the Deployments of a CSV are not ready, down to the pod. Nothing where all are. */
export function deploymentsHelp(
  csv: ClusterServiceVersion,
  running: RunningObjects | undefined,
): FailureHelp {
  if (running === undefined) return { notes: [], help: [] }
  if (!running.deployments.known)
    return { notes: [`whether its Deployments run is not checked: ${running.deployments.why}`], help: [] }
  const lacking = deploymentsOf(csv).filter((name) => objectName.test(name) && !runs(running, name))
  const told = lacking.slice(0, shownDeployments).map((name) => deploymentHelp(name, running))
  const more = lacking.length - told.length
  return {
    notes: [
      ...told.flatMap(({ notes }) => notes),
      ...(more > 0 ? [`and ${more} more that are not ready`] : []),
    ],
    help: told.flatMap(({ help }) => help),
  }
}

const shownDeployments = 3

const deploymentNamed = ({ deployments }: RunningObjects, name: string): Deployment | undefined =>
  itemsOf(deployments).find(({ metadata }) => metadata.name === name)

/** Whether this Deployment has all the pods that it asks for; of Deployments that are not known none has. */
export function runs(running: RunningObjects, name: string): boolean {
  const found = deploymentNamed(running, name)
  return found !== undefined && (found.status?.readyReplicas ?? 0) >= (found.spec?.replicas ?? 1)
}

/** Of one Deployment that is not ready: the worst pod of it, and what that says. */
export function deploymentHelp(name: string, running: RunningObjects): FailureHelp {
  const found = deploymentNamed(running, name)
  if (found === undefined) return { notes: [`there is no Deployment ${name}`], help: [] }
  const { replicas = 1 } = found.spec ?? {}
  const { readyReplicas = 0 } = found.status ?? {}
  const counts = `Deployment ${name}: ${readyReplicas} of ${replicas} ready`
  const namespace = found.metadata.namespace ?? ''
  const pods = podsOf(found, running)
  if (!pods.known) return { notes: [`${counts}; its pods are not checked: ${pods.why}`], help: [] }
  const worst = pods.items.map((pod) => ({ pod, why: troubleOf(pod) })).find(({ why }) => why !== undefined)
  if (worst?.why === undefined)
    return {
      notes: [pods.items.length === 0 ? `${counts}, and it has no pod` : counts],
      help: [`kubectl -n ${namespace} describe deployment ${name}`],
    }
  const { container, says, hasRun } = worst.why
  const pod = worst.pod.metadata.name
  if (![pod, container].every((one) => objectName.test(one)))
    return { notes: [`${counts}; ${says}`], help: [] }
  return {
    notes: [`${counts}; pod ${pod}: ${says}`],
    help: [
      hasRun
        ? `kubectl -n ${namespace} logs ${pod} -c ${container} --previous --tail=20     says why it ended`
        : `kubectl -n ${namespace} describe pod ${pod}`,
    ],
  }
}

/** By who controls them: anybody can copy a label. */
function podsOf(deployment: Deployment, { replicaSets, pods }: RunningObjects): Known<Pod> {
  if (!replicaSets.known) return replicaSets
  if (!pods.known) return pods
  const sets = new Set(
    replicaSets.items.filter((set) => isControlledBy(set, deployment)).map(({ metadata }) => metadata.uid),
  )
  const isOfIt = (pod: Pod) =>
    pod.metadata.ownerReferences?.some(({ controller, uid }) => controller === true && sets.has(uid)) ?? false
  return { known: true, items: pods.items.filter(isOfIt) }
}

const isControlledBy = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  metadata.ownerReferences?.some(
    ({ controller, uid }) =>
      controller === true && owner.metadata.uid !== undefined && uid === owner.metadata.uid,
  ) ?? false

interface PodTrouble {
  container: string
  says: string
  /** It ran and ended, so that there is a log of it. */
  hasRun: boolean
}

/** Of a pod that does not get ready; undefined where no container says why. */
function troubleOf({ status = {} }: Pod): PodTrouble | undefined {
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return containers.map(containerTrouble).find((trouble) => trouble !== undefined)
}

function containerTrouble(container: ContainerStatus): PodTrouble | undefined {
  const { name, state = {}, lastState } = container
  const ended = [state.terminated, lastState?.terminated].find((one) => (one?.exitCode ?? 0) !== 0)
  const waits = state.waiting?.reason !== undefined && !usual.has(state.waiting.reason)
  if (!waits && (ended === undefined || state.running !== undefined)) return undefined
  return {
    container: name,
    says: `container ${name}: ${wordsOf(container, ended).join(', ')}`,
    hasRun: ended !== undefined,
  }
}

function wordsOf(
  { state, restartCount = 0 }: ContainerStatus,
  ended: ContainerState['terminated'],
): readonly string[] {
  const { reason, message } = state?.waiting ?? {}
  const last = (ended?.message ?? message ?? '').trim().split('\n').at(-1)
  return [
    reason,
    restartCount > 0 && `restarted ${restartCount} times`,
    ended && `it ended with code ${ended.exitCode} (${ended.reason ?? 'no reason'})`,
    last,
  ].filter((word) => typeof word === 'string' && word !== '') as string[]
}

/** On its way. */
const usual: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing'])
