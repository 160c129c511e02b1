import {
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  type Pod,
  Pods,
  type ReplicaSet,
  ReplicaSets,
} from '../../lib/kube/kinds/workload-kinds.ts'
import {
  control,
  type ControllerContext,
  made,
  mergeStatus,
  ownedBy,
  recordEvent,
  seconds,
  templateHash,
} from './controller.ts'
import {
  asSelector,
  createPod,
  isLiving,
  isOver,
  isReady,
  ownerReference,
  podsOf,
  share,
} from './owned-pods.ts'
import type { Condition, Kind, KubeObject } from '../../lib/kube/object.ts'
import { type Node, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import { toleratesNode } from './scheduler.ts'

const hashLabel = 'pod-template-hash'

/** Reconciles every object of the kind that nobody has deleted. */
const each =
  <T extends KubeObject>(
    cx: ControllerContext,
    kind: Kind<T>,
    sync: (cx: ControllerContext, object: T) => Promise<void>,
  ) =>
  async (): Promise<void> => {
    for (const object of await cx.reader.list(kind))
      if (object.metadata.deletionTimestamp === undefined) await sync(cx, object)
  }

/** A pod of the set's template, told of in an event. */
async function addPod(
  cx: ControllerContext,
  set: DaemonSet | ReplicaSet,
  by: string,
  more: { labels?: Record<string, string>; nodeName?: string } = {},
): Promise<Pod> {
  const template = set.spec?.template ?? {}
  const pod = await createPod(cx, set, { template, prefix: `${set.metadata.name}-`, by, ...more })
  await recordEvent(cx, set, by, ['Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`])
  return pod
}

async function removePod(
  cx: ControllerContext,
  set: KubeObject,
  by: string,
  { metadata }: Pod,
): Promise<void> {
  await cx.writer.delete(Pods, metadata, { uid: metadata.uid })
  await recordEvent(cx, set, by, ['Normal', 'SuccessfulDelete', `Deleted pod: ${metadata.name}`])
}

/** Rolls each Deployment from ReplicaSet to ReplicaSet, as maxSurge and maxUnavailable allow. */
export function runDeployments(cx: ControllerContext): Promise<void> {
  return control(cx, [{ kind: Deployments }, { kind: ReplicaSets }], each(cx, Deployments, roll))
}

async function roll(cx: ControllerContext, deployment: Deployment): Promise<void> {
  const sets = await setsOf(cx, deployment)
  const hash = templateHash(deployment.spec?.template)
  const current =
    sets.find((set) => set.metadata.labels?.[hashLabel] === hash) ?? (await addSet(cx, deployment, hash))
  const old = sets.filter((set) => set !== current)
  await mergeStatus(cx, Deployments, deployment, deploymentStatus(deployment, [current, ...old], seconds(cx)))
  for (const move of nextMoves(deployment, current, old)) await scale(cx, deployment, move)
}

async function setsOf(cx: ControllerContext, { metadata, spec }: Deployment): Promise<ReplicaSet[]> {
  const labels = asSelector(spec?.selector?.matchLabels ?? {})
  const sets = await cx.reader.list(ReplicaSets, { namespace: metadata.namespace, labels })
  return sets.filter((set) => set.metadata.ownerReferences?.some((o) => o.uid === metadata.uid) ?? false)
}

function addSet(cx: ControllerContext, deployment: Deployment, hash: string): Promise<ReplicaSet> {
  const { metadata, spec } = deployment
  const template = spec?.template ?? {}
  const labels = { ...template.metadata?.labels, [hashLabel]: hash }
  const wanted = made(ReplicaSets, {
    metadata: {
      name: `${metadata.name}-${hash}`,
      namespace: metadata.namespace,
      labels,
      ownerReferences: [ownerReference(deployment)],
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: { ...spec?.selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  })
  return cx.writer.create(ReplicaSets, wanted)
}

async function scale(cx: ControllerContext, deployment: Deployment, { set, to }: Move): Promise<void> {
  const from = set.spec?.replicas ?? 0
  await cx.writer.mergePatch(ReplicaSets, set.metadata, { spec: { replicas: to } })
  await recordEvent(cx, deployment, 'deployment-controller', [
    'Normal',
    'ScalingReplicaSet',
    `Scaled ${to > from ? 'up' : 'down'} replica set ${set.metadata.name} from ${from} to ${to}`,
  ])
}

/** The counts of a Deployment as its ReplicaSets have them, the current one first. */
function deploymentStatus(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  now: string,
): Deployment['status'] {
  const count = (key: 'replicas' | 'readyReplicas' | 'availableReplicas') =>
    all.reduce((sum, set) => sum + (set.status?.[key] ?? 0), 0)
  const desired = deployment.spec?.replicas ?? 1
  const available = count('availableReplicas')
  return {
    observedGeneration: deployment.metadata.generation ?? 1,
    replicas: count('replicas'),
    updatedReplicas: all[0]?.status?.replicas ?? 0,
    readyReplicas: count('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, desired - available),
    conditions: conditionsOf(deployment, available >= desired, now),
  }
}

function conditionsOf({ status }: Deployment, available: boolean, now: string): Condition[] {
  const word = available ? 'True' : 'False'
  const before = status?.conditions?.find((c) => c.type === 'Available')
  if (before?.status === word) return status?.conditions ?? []
  return [
    {
      type: 'Available',
      status: word,
      reason: available ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: available
        ? 'Deployment has minimum availability.'
        : 'Deployment does not have minimum availability.',
      lastTransitionTime: now,
    },
  ]
}

/** A ReplicaSet and how many replicas it is to have. */
interface Move {
  set: ReplicaSet
  to: number
}

/** What may be scaled now without more than maxSurge pods too many or maxUnavailable too few: first up, then down. Pure. */
export function nextMoves(deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): Move[] {
  const desired = deployment.spec?.replicas ?? 1
  const { surge, unavailable } = limitsOf(deployment, desired)
  const total = replicas(current) + sum(old, replicas)
  const up = Math.min(desired, replicas(current) + Math.max(0, desired + surge - total))
  if (up > replicas(current)) return [{ set: current, to: up }]
  const excess = Math.max(0, replicas(current) - desired)
  const spare = total - excess - (desired - unavailable) - (replicas(current) - available(current))
  const moves: Move[] = excess > 0 ? [{ set: current, to: desired }] : []
  return [...moves, ...scaleDown(old, spare)]
}

/** Pods that serve nobody go first. */
function scaleDown(old: readonly ReplicaSet[], most: number): Move[] {
  let left = Math.max(0, most)
  const moves: Move[] = []
  for (const set of [...old].sort((a, b) => available(a) - available(b))) {
    const less = Math.min(replicas(set), left)
    if (less > 0) moves.push({ set, to: replicas(set) - less })
    left -= less
  }
  return moves
}

function limitsOf({ spec }: Deployment, desired: number): { surge: number; unavailable: number } {
  const rolling = (spec?.strategy?.['rollingUpdate'] ?? {}) as {
    maxSurge?: number | string
    maxUnavailable?: number | string
  }
  const surge = share(rolling.maxSurge ?? '25%', desired, 'up')
  const unavailable = share(rolling.maxUnavailable ?? '25%', desired, 'down')
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

const replicas = (set: ReplicaSet): number => set.spec?.replicas ?? 0
const available = (set: ReplicaSet): number => Math.min(replicas(set), set.status?.availableReplicas ?? 0)
const sum = (sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number): number =>
  sets.reduce((all, set) => all + of(set), 0)

/** Keeps as many pods of each ReplicaSet as it asks for. */
export function runReplicaSets(cx: ControllerContext): Promise<void> {
  const watched = [{ kind: ReplicaSets }, { kind: Pods, concerns: ownedBy('ReplicaSet') }]
  return control(cx, watched, each(cx, ReplicaSets, syncReplicaSet))
}

async function syncReplicaSet(cx: ControllerContext, set: ReplicaSet): Promise<void> {
  const pods = (await podsOf(cx, set, set.spec?.selector?.matchLabels ?? {})).filter(isLiving)
  const wanted = set.spec?.replicas ?? 1
  for (let i = pods.length; i < wanted; i++) pods.push(await addPod(cx, set, replicaSetController))
  const leaving = [...pods].sort(readyLast).slice(0, Math.max(0, pods.length - wanted))
  for (const pod of leaving) await removePod(cx, set, replicaSetController, pod)
  const staying = pods.filter((pod) => !leaving.includes(pod))
  const ready = staying.filter(isReady).length
  await mergeStatus(cx, ReplicaSets, set, {
    observedGeneration: set.metadata.generation ?? 1,
    replicas: staying.length,
    fullyLabeledReplicas: staying.length,
    readyReplicas: ready,
    availableReplicas: ready,
  })
}

const replicaSetController = 'replicaset-controller'
const readyLast = (a: Pod, b: Pod): number => Number(isReady(a)) - Number(isReady(b))

const daemonSetController = 'daemonset-controller'

/** Keeps one pod of each DaemonSet on every node that it tolerates, and rolls them maxUnavailable at a time. */
export function runDaemonSets(cx: ControllerContext): Promise<void> {
  const watched = [{ kind: DaemonSets }, { kind: Nodes }, { kind: Pods, concerns: ownedBy('DaemonSet') }]
  return control(cx, watched, each(cx, DaemonSets, syncDaemonSet))
}

async function syncDaemonSet(cx: ControllerContext, set: DaemonSet): Promise<void> {
  const nodes = (await cx.reader.list(Nodes)).filter((node) => toleratesNode(set.spec?.template?.spec, node))
  const hash = templateHash(set.spec?.template)
  const pods = (await podsOf(cx, set, set.spec?.selector?.matchLabels ?? {})).filter((pod) => !isOver(pod))
  const served = new Set(pods.map((pod) => pod.spec?.nodeName))
  const fresh: Pod[] = []
  const labels = { [revisionLabel]: hash }
  for (const { metadata } of nodes.filter((node) => !served.has(node.metadata.name)))
    fresh.push(await addPod(cx, set, daemonSetController, { labels, nodeName: metadata.name }))
  const leaving = fresh.length > 0 ? [] : leavingNow(set, nodes, pods, hash)
  await mergeStatus(cx, DaemonSets, set, daemonSetStatus(set, nodes, [...pods, ...fresh], hash))
  for (const pod of leaving) await removePod(cx, set, daemonSetController, pod)
}

/** Old pods that may go now: those that serve nobody first, then as many as maxUnavailable leaves. */
function leavingNow(set: DaemonSet, nodes: readonly Node[], pods: readonly Pod[], hash: string): Pod[] {
  const most = Math.max(1, share(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable, nodes.length, 'up'))
  const staying = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined)
  const unavailable = nodes.length - staying.filter(isReady).length
  const old = staying.filter((pod) => pod.metadata.labels?.[revisionLabel] !== hash)
  const idle = old.filter((pod) => !isReady(pod))
  return [...idle, ...old.filter(isReady).slice(0, Math.max(0, most - unavailable))]
}

/** The counts of a DaemonSet as its pods have them. */
function daemonSetStatus(
  set: DaemonSet,
  nodes: readonly Node[],
  pods: readonly Pod[],
  hash: string,
): DaemonSet['status'] {
  const names = new Set(nodes.map((node) => node.metadata.name))
  const placed = pods.filter((pod) => names.has(pod.spec?.nodeName ?? ''))
  const ready = placed.filter((pod) => pod.metadata.deletionTimestamp === undefined && isReady(pod)).length
  return {
    observedGeneration: set.metadata.generation ?? 1,
    desiredNumberScheduled: nodes.length,
    currentNumberScheduled: placed.length,
    numberMisscheduled: pods.length - placed.length,
    updatedNumberScheduled: placed.filter((pod) => pod.metadata.labels?.[revisionLabel] === hash).length,
    numberReady: ready,
    numberAvailable: ready,
    numberUnavailable: nodes.length - ready,
  }
}

/** Label that tells which template a DaemonSet's pod was made from. */
const revisionLabel = 'controller-revision-hash'
