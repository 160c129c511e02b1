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
  ownedBy,
  recordEvent,
  sameStatus,
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
import type { Condition } from '../../lib/kube/object.ts'
import { type Node, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import { toleratesNode } from './scheduler.ts'

const hashLabel = 'pod-template-hash'

/** Rolls each Deployment from ReplicaSet to ReplicaSet, as maxSurge and maxUnavailable allow. */
export function runDeployments(cx: ControllerContext): Promise<void> {
  return control(cx, [{ kind: Deployments }, { kind: ReplicaSets }], async () => {
    for (const deployment of await cx.reader.list(Deployments)) await roll(cx, deployment)
    return undefined
  })
}

async function roll(cx: ControllerContext, deployment: Deployment): Promise<void> {
  if (deployment.metadata.deletionTimestamp !== undefined) return
  const sets = await setsOf(cx, deployment)
  const hash = templateHash(deployment.spec?.template)
  const current =
    sets.find((set) => set.metadata.labels?.[hashLabel] === hash) ?? (await addSet(cx, deployment, hash))
  const old = sets.filter((set) => set !== current)
  await reportDeployment(cx, deployment, current, old)
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
  return cx.writer.create(ReplicaSets, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${metadata.name}-${hash}`,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels,
      ownerReferences: [ownerReference(deployment)],
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: { ...spec?.selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  })
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

/** Writes the counts of a Deployment as its ReplicaSets have them. */
async function reportDeployment(
  cx: ControllerContext,
  deployment: Deployment,
  current: ReplicaSet,
  old: readonly ReplicaSet[],
): Promise<void> {
  const all = [current, ...old]
  const count = (key: 'replicas' | 'readyReplicas' | 'availableReplicas') =>
    all.reduce((sum, set) => sum + (set.status?.[key] ?? 0), 0)
  const desired = deployment.spec?.replicas ?? 1
  const available = count('availableReplicas')
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 1,
    replicas: count('replicas'),
    updatedReplicas: current.status?.replicas ?? 0,
    readyReplicas: count('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, desired - available),
  }
  const conditions = conditionsOf(deployment, available >= desired, seconds(cx))
  const status = { ...counts, conditions }
  if (!sameStatus(deployment.status, status))
    await cx.writer.mergePatch(Deployments, deployment.metadata, { status }, 'status')
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
  return control(cx, [{ kind: ReplicaSets }, { kind: Pods, concerns: ownedBy('ReplicaSet') }], async () => {
    for (const set of await cx.reader.list(ReplicaSets)) await syncReplicaSet(cx, set)
    return undefined
  })
}

async function syncReplicaSet(cx: ControllerContext, set: ReplicaSet): Promise<void> {
  if (set.metadata.deletionTimestamp !== undefined) return
  const pods = (await podsOf(cx, set, set.spec?.selector?.matchLabels ?? {})).filter(isLiving)
  const wanted = set.spec?.replicas ?? 1
  for (let i = pods.length; i < wanted; i++) pods.push(await addReplica(cx, set))
  const leaving = [...pods].sort(readyLast).slice(0, Math.max(0, pods.length - wanted))
  for (const pod of leaving) await removeReplica(cx, set, pod)
  await report(
    cx,
    set,
    pods.filter((pod) => !leaving.includes(pod)),
  )
}

async function addReplica(cx: ControllerContext, set: ReplicaSet): Promise<Pod> {
  const pod = await createPod(cx, set, {
    template: set.spec?.template ?? {},
    prefix: `${set.metadata.name}-`,
    by: replicaSetController,
  })
  await recordEvent(cx, set, replicaSetController, [
    'Normal',
    'SuccessfulCreate',
    `Created pod: ${pod.metadata.name}`,
  ])
  return pod
}

async function removeReplica(cx: ControllerContext, set: ReplicaSet, { metadata }: Pod): Promise<void> {
  await cx.writer.delete(Pods, metadata, { uid: metadata.uid })
  await recordEvent(cx, set, replicaSetController, [
    'Normal',
    'SuccessfulDelete',
    `Deleted pod: ${metadata.name}`,
  ])
}

async function report(cx: ControllerContext, set: ReplicaSet, pods: readonly Pod[]): Promise<void> {
  const ready = pods.filter(isReady).length
  const status = {
    observedGeneration: set.metadata.generation ?? 1,
    replicas: pods.length,
    fullyLabeledReplicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
  }
  if (!sameStatus(set.status, status))
    await cx.writer.mergePatch(ReplicaSets, set.metadata, { status }, 'status')
}

const replicaSetController = 'replicaset-controller'
const readyLast = (a: Pod, b: Pod): number => Number(isReady(a)) - Number(isReady(b))

const daemonSetController = 'daemonset-controller'

/** Keeps one pod of each DaemonSet on every node that it tolerates, and rolls them maxUnavailable at a time. */
export function runDaemonSets(cx: ControllerContext): Promise<void> {
  const watched = [{ kind: DaemonSets }, { kind: Nodes }, { kind: Pods, concerns: ownedBy('DaemonSet') }]
  return control(cx, watched, async () => {
    for (const set of await cx.reader.list(DaemonSets)) await syncDaemonSet(cx, set)
    return undefined
  })
}

async function syncDaemonSet(cx: ControllerContext, set: DaemonSet): Promise<void> {
  if (set.metadata.deletionTimestamp !== undefined) return
  const nodes = (await cx.reader.list(Nodes)).filter((node) => toleratesNode(set.spec?.template?.spec, node))
  const hash = templateHash(set.spec?.template)
  const pods = (await podsOf(cx, set, set.spec?.selector?.matchLabels ?? {})).filter((pod) => !isOver(pod))
  const served = new Set(pods.map((pod) => pod.spec?.nodeName))
  const fresh: Pod[] = []
  for (const node of nodes) {
    if (!served.has(node.metadata.name)) fresh.push(await addDaemonPod(cx, set, node, hash))
  }
  const leaving = fresh.length > 0 ? [] : leavingNow(set, nodes, pods, hash)
  await reportDaemonSet(cx, set, { nodes, pods: [...pods, ...fresh], hash })
  for (const pod of leaving) await removeDaemonPod(cx, set, pod)
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

async function addDaemonPod(cx: ControllerContext, set: DaemonSet, node: Node, hash: string): Promise<Pod> {
  const pod = await createPod(cx, set, {
    template: set.spec?.template ?? {},
    prefix: `${set.metadata.name}-`,
    labels: { [revisionLabel]: hash },
    nodeName: node.metadata.name,
    by: daemonSetController,
  })
  await recordEvent(cx, set, daemonSetController, [
    'Normal',
    'SuccessfulCreate',
    `Created pod: ${pod.metadata.name}`,
  ])
  return pod
}

async function removeDaemonPod(cx: ControllerContext, set: DaemonSet, { metadata }: Pod): Promise<void> {
  await cx.writer.delete(Pods, metadata, { uid: metadata.uid })
  await recordEvent(cx, set, daemonSetController, [
    'Normal',
    'SuccessfulDelete',
    `Deleted pod: ${metadata.name}`,
  ])
}

interface DaemonSetPods {
  nodes: readonly Node[]
  pods: readonly Pod[]
  hash: string
}

/** Writes the counts of a DaemonSet as its pods have them. */
async function reportDaemonSet(cx: ControllerContext, set: DaemonSet, state: DaemonSetPods): Promise<void> {
  const { nodes, pods, hash } = state
  const names = new Set(nodes.map((node) => node.metadata.name))
  const placed = pods.filter((pod) => names.has(pod.spec?.nodeName ?? ''))
  const ready = placed.filter((pod) => pod.metadata.deletionTimestamp === undefined && isReady(pod)).length
  const status = {
    observedGeneration: set.metadata.generation ?? 1,
    desiredNumberScheduled: nodes.length,
    currentNumberScheduled: placed.length,
    numberMisscheduled: pods.length - placed.length,
    updatedNumberScheduled: placed.filter((pod) => pod.metadata.labels?.[revisionLabel] === hash).length,
    numberReady: ready,
    numberAvailable: ready,
    numberUnavailable: nodes.length - ready,
  }
  if (!sameStatus(set.status, status))
    await cx.writer.mergePatch(DaemonSets, set.metadata, { status }, 'status')
}

/** Label that tells which template a DaemonSet's pod was made from. */
const revisionLabel = 'controller-revision-hash'
