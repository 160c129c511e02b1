import type { DaemonSet, Deployment, Pod } from '../kube/kinds/workload-kinds.ts'
import type { KubeVirt } from '../kube/kinds/kubevirt-kinds.ts'
import { type Condition, condition, type KubeObject, type OwnerReference } from '../kube/object.ts'
import { itemsOf } from '../kube/known.ts'
import type { LastLine } from './diagnosis/pod-trouble.ts'
import type { Snapshot } from './snapshot.ts'
import { earliest, latest, since } from '../kube/timestamps.ts'
import { shorten } from '../kube/text.ts'

/** All that one judgement looks at: a KubeVirt, its operator's Deployment, what was seen around them, and when. */
export interface UpgradeSnapshot {
  readonly snapshot: Snapshot
  readonly kubevirt: KubeVirt
  readonly operator: Deployment | undefined
  readonly at: Date
  /** Of containers that keep ending, where their logs were read. */
  readonly lastLines?: readonly LastLine[]
}

/** A DaemonSet or Deployment of the install strategy. */
export type Workload = { kind: 'DaemonSet'; object: DaemonSet } | { kind: 'Deployment'; object: Deployment }

export function targetId({ kubevirt }: UpgradeSnapshot): string | undefined {
  return kubevirt.status?.targetDeploymentID
}

/** A pod that counts: ended ones (an evicted pod that nobody removed) do not. */
const isAlive = (pod: Pod): boolean => pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded'

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false
}

/**
 * Everything in KubeVirt's namespace that virt-operator rolls, known or not to kvup: what bears its stamps. Once KubeVirt says
 * that it is done, whoever bears them and is not in its own list of what it wrote is none of it.
 */
export const workloads = once((snapshot: UpgradeSnapshot): readonly Workload[] => {
  const all = stampedWorkloads(snapshot)
  return saysDone(snapshot.kubevirt) ? all.filter((workload) => isListed(snapshot, workload)) : all
})

/** Those that bear virt-operator's stamps, while KubeVirt, done, does not list them as its own. */
export function unlistedWorkloads(snapshot: UpgradeSnapshot): readonly Workload[] {
  if (!saysDone(snapshot.kubevirt)) return []
  return stampedWorkloads(snapshot).filter((workload) => !isListed(snapshot, workload))
}

const stampedWorkloads = ({ snapshot }: UpgradeSnapshot): readonly Workload[] => [
  ...itemsOf(snapshot.daemonsets)
    .filter((object) => isOperand(object))
    .map((object) => ({ kind: 'DaemonSet', object }) as const),
  ...itemsOf(snapshot.deployments)
    .filter((object) => isOperand(object))
    .map((object) => ({ kind: 'Deployment', object }) as const),
]

/** By `status.generations` of the KubeVirt; where that names no DaemonSet and no Deployment the stamps are believed. */
function isListed({ kubevirt }: UpgradeSnapshot, { kind, object: { metadata } }: Workload): boolean {
  const listed = (kubevirt.status?.generations ?? []).filter(({ resource }) => rolled.has(resource))
  if (listed.length === 0) return true
  return listed.some(
    ({ resource, name, namespace }) =>
      resource === resourceOf[kind] &&
      name === metadata.name &&
      (!namespace || namespace === metadata.namespace),
  )
}

const resourceOf = { DaemonSet: 'daemonsets', Deployment: 'deployments' } as const
const rolled: ReadonlySet<string> = new Set(Object.values(resourceOf))

/** Pods of components that live, going ones included. */
export const infraPods = once((snapshot: UpgradeSnapshot): readonly Pod[] =>
  workloads(snapshot).flatMap((workload) => podsOf(snapshot, workload)),
)

export const operatorPods = once(({ operator, ...snapshot }: UpgradeSnapshot): readonly Pod[] =>
  operator ? podsOf(snapshot, { kind: 'Deployment', object: operator }) : [],
)

/** Of the Job that dumps the install strategy. */
export function strategyPods({ snapshot }: UpgradeSnapshot): readonly Pod[] {
  return itemsOf(snapshot.pods).filter(
    (pod) => componentLabel(pod) === strategyPodLabel && controllerOf(pod)?.kind === 'Job',
  )
}

/** The living pods of one DaemonSet or Deployment, by who controls them and never by a label. */
export function podsOf({ snapshot }: Pick<UpgradeSnapshot, 'snapshot'>, workload: Workload): readonly Pod[] {
  const { pods, replicaSets } = snapshot
  const known = owned.get(workload.object)
  if (known?.pods === pods && known.replicaSets === replicaSets) return known.found
  const isOwned =
    workload.kind === 'DaemonSet'
      ? (pod: Pod) => isControlledBy(pod, workload.kind, workload.object)
      : ofDeployment(workload, snapshot)
  const found = itemsOf(pods).filter((pod) => isAlive(pod) && isOwned(pod))
  owned.set(workload.object, { pods, replicaSets, found })
  return found
}

/** Asked for many times in one look, and each time the same. */
const owned = new WeakMap<object, Pick<Snapshot, 'pods' | 'replicaSets'> & { found: readonly Pod[] }>()

/** Where no ReplicaSet was seen, the owner is told by its name, which is the Deployment's and the pod's template hash. */
function ofDeployment({ object }: Workload, { replicaSets }: Snapshot): (pod: Pod) => boolean {
  const observed = itemsOf(replicaSets)
  const sets = observed.filter((set) => isControlledBy(set, 'Deployment', object))
  const own = new Set(sets.map(({ metadata }) => metadata.uid))
  return (pod) => {
    const owner = controllerOf(pod)
    if (owner?.kind !== 'ReplicaSet') return false
    if (observed.length > 0) return own.has(owner.uid)
    return owner.name === `${object.metadata.name}-${pod.metadata.labels?.['pod-template-hash']}`
  }
}

const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller)

/** A saved object may lack its uid. */
function isControlledBy(object: KubeObject, kind: Workload['kind'], { metadata }: KubeObject): boolean {
  const owner = controllerOf(object)
  if (owner?.kind !== kind) return false
  return metadata.uid === undefined ? owner.name === metadata.name : owner.uid === metadata.uid
}

/** Stays (is not going away) and was made for the target. */
export function isUpdated(pod: Pod, target: string | undefined): boolean {
  return target !== undefined && identifierOf(pod) === target && !pod.metadata.deletionTimestamp
}

const prefix = 'kubevirt.io/install-strategy'

export const operatorName = 'virt-operator'
/** How the Job that dumps the install strategy is called to a person. */
export const strategyComponent = 'install strategy'
const strategyPodLabel = 'virt-operator-strategy-dumper'

/** The deployment ID that an object, a pod template or a pod was made for (facts 2.6). */
export function identifierOf(object: Stamped): string | undefined {
  return object.metadata?.annotations?.[`${prefix}-identifier`]
}

/** The KubeVirt version that it was made for. */
export function stampedVersion(object: Stamped): string | undefined {
  return object.metadata?.annotations?.[`${prefix}-version`]
}

/** The value of the label `kubevirt.io`: the component's name. */
export function componentLabel(object: Stamped): string | undefined {
  return object.metadata?.labels?.['kubevirt.io']
}

/** Made by virt-operator: a component, or a pod of one (facts 2.6; `kubevirt-operator` is a very old value). */
export function isOperand(object: KubeObject): boolean {
  if (isOperator(object)) return false
  const by = object.metadata.labels?.['app.kubernetes.io/managed-by']
  return by === 'virt-operator' || by === 'kubevirt-operator' || identifierOf(object) !== undefined
}

/** The virt-operator Deployment, or a pod of it. */
export function isOperator(object: KubeObject): boolean {
  return object.metadata.name === operatorName || componentLabel(object) === operatorName
}

/** The selector of the pods that may be KubeVirt's: those without the label `kubevirt.io` as well, the pods of VMs not. */
export const podsOutsideVms = 'kubevirt.io!=virt-launcher,kubevirt.io!=hotplug-disk'

interface Stamped {
  metadata?: Pick<KubeObject['metadata'], 'labels' | 'annotations'> | undefined
}

/** When something last moved among the components, their pods, the operator, the Job and the CR's conditions. RFC 3339. */
export const lastChange = once((observed: UpgradeSnapshot): string | undefined => {
  const { snapshot, kubevirt, operator } = observed
  const pods = [...infraPods(observed), ...operatorPods(observed), ...strategyPods(observed)]
  return latest([
    ...pods.map(podChange),
    ...itemsOf(snapshot.replicaSets)
      .filter(isKubeVirts(observed))
      .map((set) => set.metadata.creationTimestamp),
    ...itemsOf(snapshot.jobs).flatMap((job) => [job.metadata.creationTimestamp, job.status?.completionTime]),
    ...workloads(observed).map(({ object }) => written(object)),
    operator && written(operator),
    ...(kubevirt.status?.conditions ?? []).map((c) => c.lastTransitionTime),
    ...specTimes(kubevirt),
  ])
})

/** Asked for many times of one look, or of an object in many looks, and each time the same. */
function once<T extends object, Answer>(work: (of: T) => Answer): (of: T) => Answer {
  const known = new WeakMap<T, { is: Answer }>()
  return (of) => {
    const found = known.get(of) ?? { is: work(of) }
    known.set(of, found)
    return found.is
  }
}

/** Others' Deployments may lie in the same namespace. */
function isKubeVirts(snapshot: UpgradeSnapshot): (set: KubeObject) => boolean {
  const { operator } = snapshot
  const uids = new Set([
    ...workloads(snapshot).map(({ object }) => object.metadata.uid),
    ...(operator ? [operator.metadata.uid] : []),
  ])
  return ({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uids.has(uid)) ?? false
}

const podChange = once(({ metadata, status }: Pod) =>
  latest([metadata.creationTimestamp, ...(status?.conditions ?? []).map((c) => c.lastTransitionTime)]),
)

/** managedFields tell the last write of each manager, status included. */
const written = once(({ metadata }: KubeObject) =>
  latest([metadata.creationTimestamp, ...(metadata.managedFields ?? []).map((field) => field.time)]),
)

/** Of the CR only the spec: its status is rewritten while workloads are counted. */
function specTimes({ metadata }: KubeObject): (string | undefined)[] {
  return (metadata.managedFields ?? [])
    .filter((field) => field.subresource === undefined && field.manager !== 'virt-operator')
    .map((field) => field.time)
}

/** How long DeploymentFailed may last before it counts: it is retried, and was seen to heal (facts 1.5, lab 2). */
const failurePatience = 60_000

export interface JudgedCondition {
  type: string
  status: string
  reason?: string
  message?: string
  /** RFC 3339; also moves when only the message changes (facts 1.5). */
  since?: string
  /** `expected`: looks bad, and is how an update looks (all three True). `transient`: bad, but not for long yet. */
  judged: 'good' | 'expected' | 'transient' | 'bad'
}

const wanted: Readonly<Record<string, 'True' | 'False'>> = {
  Available: 'True',
  Progressing: 'False',
  Degraded: 'False',
  Created: 'True',
}

/** The CR's conditions with their meaning (facts 1.5): what they say literally is not what they mean. */
export function judgedConditions(kubevirt: KubeVirt, at: Date): JudgedCondition[] {
  return (kubevirt.status?.conditions ?? []).map((found) => judged(found, kubevirt, at))
}

const judged = (found: Condition, kubevirt: KubeVirt, at: Date): JudgedCondition => ({
  type: found.type,
  status: found.status,
  ...(found.reason && { reason: found.reason }),
  ...(found.message && { message: shorten(found.message) }),
  ...(found.lastTransitionTime && { since: found.lastTransitionTime }),
  judged: judge(found, kubevirt, at),
})

/** The first condition that is not as it is when all is well, in words; undefined when all are. */
export function unmetCondition(kubevirt: KubeVirt): string | undefined {
  for (const [type, status] of Object.entries(wanted)) {
    const found = condition(kubevirt, type)
    if (found?.status !== status)
      return found ? `${type}=${found.status} (${found.reason ?? 'no reason'})` : `${type} is not set`
  }
  const synchronized = condition(kubevirt, 'Synchronized')
  return synchronized?.status === 'False'
    ? `Synchronized=False (${synchronized.reason ?? 'no reason'})`
    : undefined
}

/** DeploymentFailed, since when and with which text; undefined when it is not there. */
export function deploymentFailure(kubevirt: KubeVirt): { message: string; since?: string } | undefined {
  const failed = (kubevirt.status?.conditions ?? []).filter((c) => c.reason === 'DeploymentFailed')
  if (failed.length === 0) return undefined
  const from = earliest(failed.map((c) => c.lastTransitionTime))
  return { message: failed[0]?.message ?? '', ...(from === undefined ? {} : { since: from }) }
}

/** It lasts longer than a retry explains. */
export function failurePersists(kubevirt: KubeVirt, at: Date): boolean {
  const failure = deploymentFailure(kubevirt)
  return failure !== undefined && (since(failure.since, at) ?? 0) >= failurePatience
}

function judge(found: Condition, kubevirt: KubeVirt, at: Date): JudgedCondition['judged'] {
  const good = found.type === 'Synchronized' ? found.status === 'True' : found.status === wanted[found.type]
  if (found.reason === 'DeploymentFailed') return failurePersists(kubevirt, at) ? 'bad' : 'transient'
  if (good || wanted[found.type] === undefined) return 'good'
  return found.reason?.endsWith('InProgress') ? 'expected' : 'bad'
}

/** One thing that keeps it from being Healthy. */
export interface Gap {
  /**
   * `under-way`: a new state was asked for and is not reached. `short`: all is of the target, but too little is ready.
   * `said`: only the CR's conditions do not say so yet.
   */
  is: 'under-way' | 'short' | 'said'
  /** What is waited for. */
  what: string
}

export const underWay = (what: string): Gap => ({ is: 'under-way', what })

/**
 * What the KubeVirt resource itself lacks for being done, by KubeVirt's own definition: its conditions, its generation seen,
 * target equals observed (facts 1.5, the upstream tests' definition of done). Empty: KubeVirt says that it is done.
 */
export const wordGaps = (kubevirt: KubeVirt): readonly Gap[] => [
  ...(kubevirt.metadata.deletionTimestamp ? [underWay(beingDeleted)] : []),
  ...targetGap(kubevirt),
  ...generationGap(kubevirt),
  ...conditionGap(kubevirt),
]

/** KubeVirt says that it is done with what its resource asks for. */
export const saysDone = (kubevirt: KubeVirt): boolean => wordGaps(kubevirt).length === 0

/**
 * virt-operator acts on an edit of the resource and on nothing else: its target is reached, and only its generation or its conditions
 * do not say so yet. Each edit looks so for some seconds, with Available=False (lab 3, 16), and so does a failure that it tries again (lab 2); one that lasts is none.
 */
export function actsOnEdit(kubevirt: KubeVirt, at: Date): boolean {
  const { metadata } = kubevirt
  if (metadata.deletionTimestamp || targetGap(kubevirt).length > 0) return false
  return !failurePersists(kubevirt, at) && !saysDone(kubevirt)
}

/** The sentence of a gap that comes before all others. */
export const beingDeleted = 'KubeVirt to be deleted'

function targetGap({ status = {} }: KubeVirt): readonly Gap[] {
  if (!status.targetDeploymentID) return [underWay('virt-operator to process the KubeVirt resource')]
  const same =
    status.targetDeploymentID === status.observedDeploymentID &&
    status.targetKubeVirtVersion === status.observedKubeVirtVersion &&
    status.targetKubeVirtRegistry === status.observedKubeVirtRegistry
  return same ? [] : [underWay(`virt-operator to finish ${status.targetKubeVirtVersion}`)]
}

function generationGap({ metadata, status }: KubeVirt): readonly Gap[] {
  const { generation } = metadata
  const { observedGeneration } = status ?? {}
  if (generation === observedGeneration) return []
  return [
    underWay(
      `virt-operator to observe the change (generation ${generation}, observed ${observedGeneration ?? 'none'})`,
    ),
  ]
}

function conditionGap(kubevirt: KubeVirt): readonly Gap[] {
  const unmet = unmetCondition(kubevirt)
  return unmet === undefined ? [] : [{ is: 'said', what: `virt-operator to report success: ${unmet}` }]
}
