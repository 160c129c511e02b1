import * as kube from '../kinds.ts'
import {
  claim,
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
import { type Condition, condition, type Kind, type KubeObject } from '../../lib/kube/object.ts'
import { toleratesNode } from './scheduler.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Faults, MachineryFaults } from './machinery-faults.ts'
import { timestamp } from '../api/object-lifecycle.ts'

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
  set: kube.DaemonSet | kube.ReplicaSet,
  by: string,
  more: { labels?: Record<string, string>; nodeName?: string } = {},
): Promise<kube.Pod> {
  const template = set.spec?.template ?? {}
  const pod = await createPod(cx, set, { template, prefix: `${set.metadata.name}-`, by, ...more })
  await recordEvent(cx, set, by, ['Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`])
  return pod
}

async function removePod(cx: ControllerContext, set: KubeObject, by: string, { metadata }: kube.Pod) {
  await cx.writer.delete(kube.Pods, metadata, { uid: metadata.uid })
  await recordEvent(cx, set, by, ['Normal', 'SuccessfulDelete', `Deleted pod: ${metadata.name}`])
}

/** Rolls each Deployment from ReplicaSet to ReplicaSet, as maxSurge and maxUnavailable allow. */
export const runDeployments = (cx: ControllerContext): Promise<void> =>
  control(cx, [{ kind: kube.Deployments }, { kind: kube.ReplicaSets }], each(cx, kube.Deployments, roll))

async function roll(cx: ControllerContext, deployment: kube.Deployment): Promise<void> {
  const sets = await setsOf(cx, deployment)
  const hash = templateHash(deployment.spec?.template)
  const current =
    sets.find((set) => set.metadata.labels?.[hashLabel] === hash) ?? (await addSet(cx, deployment, hash))
  const old = sets.filter((set) => set !== current)
  await mergeStatus(
    cx,
    kube.Deployments,
    deployment,
    deploymentStatus(deployment, [current, ...old], seconds(cx)),
  )
  for (const move of nextMoves(deployment, current, old)) await scale(cx, deployment, move)
}

async function setsOf(cx: ControllerContext, { metadata, spec }: kube.Deployment) {
  const labels = asSelector(spec?.selector?.matchLabels ?? {})
  const sets = await cx.reader.list(kube.ReplicaSets, { namespace: metadata.namespace, labels })
  return sets.filter((set) => set.metadata.ownerReferences?.some((o) => o.uid === metadata.uid) ?? false)
}

function addSet(cx: ControllerContext, deployment: kube.Deployment, hash: string): Promise<kube.ReplicaSet> {
  const { metadata, spec } = deployment
  const template = spec?.template ?? {}
  const labels = { ...template.metadata?.labels, [hashLabel]: hash }
  const wanted = made(kube.ReplicaSets, {
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
  return cx.writer.create(kube.ReplicaSets, wanted)
}

async function scale(cx: ControllerContext, deployment: kube.Deployment, { set, to }: Move): Promise<void> {
  const from = set.spec?.replicas ?? 0
  await cx.writer.mergePatch(kube.ReplicaSets, set.metadata, { spec: { replicas: to } })
  await recordEvent(cx, deployment, 'deployment-controller', [
    'Normal',
    'ScalingReplicaSet',
    `Scaled ${to > from ? 'up' : 'down'} replica set ${set.metadata.name} from ${from} to ${to}`,
  ])
}

/** The counts of a Deployment as its ReplicaSets have them, the current one first. */
function deploymentStatus(deployment: kube.Deployment, all: readonly kube.ReplicaSet[], now: string) {
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

function conditionsOf({ status }: kube.Deployment, available: boolean, now: string): Condition[] {
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
  set: kube.ReplicaSet
  to: number
}

/** What may be scaled now without more than maxSurge pods too many or maxUnavailable too few: first up, then down. Pure. */
export function nextMoves(
  deployment: kube.Deployment,
  current: kube.ReplicaSet,
  old: readonly kube.ReplicaSet[],
): Move[] {
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
function scaleDown(old: readonly kube.ReplicaSet[], most: number): Move[] {
  let left = Math.max(0, most)
  const moves: Move[] = []
  for (const set of [...old].sort((a, b) => available(a) - available(b))) {
    const less = Math.min(replicas(set), left)
    if (less > 0) moves.push({ set, to: replicas(set) - less })
    left -= less
  }
  return moves
}

function limitsOf({ spec }: kube.Deployment, desired: number): { surge: number; unavailable: number } {
  const rolling = (spec?.strategy?.['rollingUpdate'] ?? {}) as {
    maxSurge?: number | string
    maxUnavailable?: number | string
  }
  const surge = share(rolling.maxSurge ?? '25%', desired, 'up')
  const unavailable = share(rolling.maxUnavailable ?? '25%', desired, 'down')
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

const replicas = (set: kube.ReplicaSet): number => set.spec?.replicas ?? 0
const available = (set: kube.ReplicaSet): number =>
  Math.min(replicas(set), set.status?.availableReplicas ?? 0)
const sum = (sets: readonly kube.ReplicaSet[], of: (set: kube.ReplicaSet) => number): number =>
  sets.reduce((all, set) => all + of(set), 0)

/** Keeps as many pods of each ReplicaSet as it asks for. */
export function runReplicaSets(cx: ControllerContext): Promise<void> {
  const watched = [{ kind: kube.ReplicaSets }, { kind: kube.Pods, concerns: ownedBy('ReplicaSet') }]
  return control(cx, watched, each(cx, kube.ReplicaSets, syncReplicaSet))
}

async function syncReplicaSet(cx: ControllerContext, set: kube.ReplicaSet): Promise<void> {
  const pods = (await podsOf(cx, set, set.spec?.selector?.matchLabels ?? {})).filter(isLiving)
  const wanted = set.spec?.replicas ?? 1
  for (let i = pods.length; i < wanted; i++) pods.push(await addPod(cx, set, replicaSetController))
  const leaving = [...pods].sort(readyLast).slice(0, Math.max(0, pods.length - wanted))
  for (const pod of leaving) await removePod(cx, set, replicaSetController, pod)
  const staying = pods.filter((pod) => !leaving.includes(pod))
  const ready = staying.filter(isReady).length
  await mergeStatus(cx, kube.ReplicaSets, set, {
    observedGeneration: set.metadata.generation ?? 1,
    replicas: staying.length,
    fullyLabeledReplicas: staying.length,
    readyReplicas: ready,
    availableReplicas: ready,
  })
}

const replicaSetController = 'replicaset-controller'
const readyLast = (a: kube.Pod, b: kube.Pod): number => Number(isReady(a)) - Number(isReady(b))

const daemonSetController = 'daemonset-controller'

/** Keeps one pod of each DaemonSet on every node that it tolerates, and rolls them maxUnavailable at a time. */
export function runDaemonSets(cx: ControllerContext): Promise<void> {
  const watched = [
    { kind: kube.DaemonSets },
    { kind: kube.Nodes },
    { kind: kube.Pods, concerns: ownedBy('DaemonSet') },
  ]
  return control(cx, watched, each(cx, kube.DaemonSets, syncDaemonSet))
}

async function syncDaemonSet(cx: ControllerContext, set: kube.DaemonSet): Promise<void> {
  const nodes = (await cx.reader.list(kube.Nodes)).filter((node) =>
    toleratesNode(set.spec?.template?.spec, node),
  )
  const hash = templateHash(set.spec?.template)
  const pods = (await podsOf(cx, set, set.spec?.selector?.matchLabels ?? {})).filter((pod) => !isOver(pod))
  const served = new Set(pods.map((pod) => pod.spec?.nodeName))
  const fresh: kube.Pod[] = []
  const labels = { [revisionLabel]: hash }
  for (const { metadata } of nodes.filter((node) => !served.has(node.metadata.name)))
    fresh.push(await addPod(cx, set, daemonSetController, { labels, nodeName: metadata.name }))
  const leaving = fresh.length > 0 ? [] : leavingNow(set, nodes, pods, hash)
  await mergeStatus(cx, kube.DaemonSets, set, daemonSetStatus(set, nodes, [...pods, ...fresh], hash))
  for (const pod of leaving) await removePod(cx, set, daemonSetController, pod)
}

/** Old pods that may go now: those that serve nobody first, then as many as maxUnavailable leaves. */
function leavingNow(
  set: kube.DaemonSet,
  nodes: readonly kube.Node[],
  pods: readonly kube.Pod[],
  hash: string,
): kube.Pod[] {
  const most = Math.max(1, share(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable, nodes.length, 'up'))
  const staying = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined)
  const unavailable = nodes.length - staying.filter(isReady).length
  const old = staying.filter((pod) => pod.metadata.labels?.[revisionLabel] !== hash)
  const idle = old.filter((pod) => !isReady(pod))
  return [...idle, ...old.filter(isReady).slice(0, Math.max(0, most - unavailable))]
}

/** The counts of a DaemonSet as its pods have them. */
function daemonSetStatus(
  set: kube.DaemonSet,
  nodes: readonly kube.Node[],
  pods: readonly kube.Pod[],
  hash: string,
): kube.DaemonSet['status'] {
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

const jobController = 'job-controller'

/** Runs one pod for each Job and writes down how it ended. */
export const runJobs = (cx: ControllerContext): Promise<void> =>
  control(cx, [{ kind: kube.Jobs }, { kind: kube.Pods, concerns: ownedBy('Job') }], async () => {
    const again: number[] = []
    for (const job of await cx.reader.list(kube.Jobs)) again.push(...(await advance(cx, job)))
    return again.length > 0 ? Math.min(...again) : undefined
  })

/** In how many ms to look again. */
async function advance(cx: ControllerContext, job: kube.Job): Promise<number[]> {
  if (job.metadata.deletionTimestamp !== undefined) return []
  if (isThrough(job)) return await clear(cx, job)
  const labels = { 'batch.kubernetes.io/job-name': job.metadata.name }
  const pods = await podsOf(cx, job, labels)
  const failed = pods.filter((pod) => pod.status?.phase === 'Failed')
  if (pods.some((pod) => pod.status?.phase === 'Succeeded')) await complete(cx, job)
  else if (failed.length > (job.spec?.backoffLimit ?? 6)) await giveUp(cx, job, failed.length)
  else if (failed.length === pods.length) return await next(cx, job, { labels, failed })
  return []
}

const isThrough = (job: kube.Job): boolean =>
  job.status?.completionTime !== undefined || condition(job, 'Failed')?.status === 'True'

/** A Job that is over goes when its time to live has passed, where it has one. */
async function clear(cx: ControllerContext, job: kube.Job): Promise<number[]> {
  const { ttlSecondsAfterFinished: ttl } = job.spec ?? {}
  const ended = job.status?.completionTime ?? condition(job, 'Failed')?.lastTransitionTime
  if (ttl === undefined || ended === undefined) return []
  const left = Date.parse(ended) + ttl * 1000 - cx.clock.now().getTime()
  if (left > 0) return [left]
  await cx.writer.delete(kube.Jobs, job.metadata)
  return []
}

/** The next pod, after a pause that doubles with each one that failed. */
async function next(
  cx: ControllerContext,
  job: kube.Job,
  { labels, failed }: { labels: Record<string, string>; failed: readonly kube.Pod[] },
): Promise<number[]> {
  const ends = failed.map((pod) =>
    Date.parse(pod.status?.containerStatuses?.[0]?.state?.terminated?.finishedAt ?? ''),
  )
  const due =
    failed.length === 0 ? 0 : Math.max(...ends) + Math.min(10_000 * 2 ** (failed.length - 1), 360_000)
  const wait = due - cx.clock.now().getTime()
  if (wait > 0) return [wait]
  await start(cx, job, { labels, failed: failed.length })
  return []
}

async function giveUp(cx: ControllerContext, job: kube.Job, failed: number): Promise<void> {
  const at = seconds(cx)
  const why = { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
  const ended = { type: 'Failed', status: 'True', ...why, lastTransitionTime: at, lastProbeTime: at } as const
  await cx.writer.mergePatch(
    kube.Jobs,
    job.metadata,
    { status: { active: 0, failed, conditions: [ended] } },
    'status',
  )
  await recordEvent(cx, job, jobController, ['Warning', why.reason, why.message])
}

async function start(
  cx: ControllerContext,
  job: kube.Job,
  { labels, failed }: { labels: Record<string, string>; failed: number },
): Promise<void> {
  const pod = await createPod(cx, job, {
    template: job.spec?.template ?? {},
    prefix: `${job.metadata.name}-`,
    labels: { ...labels, 'job-name': job.metadata.name },
    by: jobController,
  })
  const startTime = job.status?.startTime ?? seconds(cx)
  const status = { active: 1, startTime, ...(failed > 0 && { failed }) }
  await cx.writer.mergePatch(kube.Jobs, job.metadata, { status }, 'status')
  await recordEvent(cx, job, jobController, [
    'Normal',
    'SuccessfulCreate',
    `Created pod: ${pod.metadata.name}`,
  ])
}

async function complete(cx: ControllerContext, job: kube.Job): Promise<void> {
  const at = seconds(cx)
  const reached = {
    status: 'True',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
    lastTransitionTime: at,
    lastProbeTime: at,
  } as const
  const conditions = [
    { type: 'SuccessCriteriaMet', ...reached },
    { type: 'Complete', ...reached },
  ]
  const status = { active: 0, succeeded: 1, completionTime: at, conditions }
  await cx.writer.mergePatch(kube.Jobs, job.metadata, { status }, 'status')
  await recordEvent(cx, job, jobController, ['Normal', 'Completed', 'Job completed'])
}

interface Service extends KubeObject {
  spec?: { selector?: Record<string, string> }
}

const Services: Kind<Service> = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }

/** Keeps one slice per Service that has a selector, with the pods that it selects. */
export function runEndpointSlices(cx: ControllerContext): Promise<void> {
  const watched = [{ kind: Services }, { kind: kube.Pods, concerns: isInfrastructure }]
  return control(cx, watched, async () => {
    for (const service of await cx.reader.list(Services)) await keep(cx, service)
  })
}

/** Launcher pods come by the hundred and serve nobody. */
function isInfrastructure({ metadata }: KubeObject): boolean {
  const component = metadata.labels?.['kubevirt.io']
  return component !== undefined && component !== 'virt-launcher'
}

async function keep(cx: ControllerContext, { metadata, spec }: Service): Promise<void> {
  const { name, namespace } = metadata
  const labels = Object.entries(spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`)
  if (labels.length === 0) return
  const pods = await cx.reader.list(kube.Pods, { namespace, labels: labels.join() })
  const endpoints = pods.filter(({ status }) => status?.phase === 'Running').map(endpointOf)
  const found = await cx.reader.get(kube.EndpointSlices, { name, namespace })
  if (found.is === 'object' && isDeepStrictEqual(found.object.endpoints ?? [], endpoints)) return
  const slice: kube.EndpointSlice = made(kube.EndpointSlices, {
    metadata: {
      name,
      namespace,
      labels: { 'kubernetes.io/service-name': name },
    },
    addressType: 'IPv4',
    endpoints,
  })
  if (found.is === 'object') await cx.writer.mergePatch(kube.EndpointSlices, metadata, { endpoints })
  else await cx.writer.create(kube.EndpointSlices, slice)
}

function endpointOf(pod: kube.Pod): NonNullable<kube.EndpointSlice['endpoints']>[number] {
  const { name, uid } = pod.metadata
  return {
    addresses: [pod.status?.podIP ?? '10.0.0.1'],
    conditions: { ready: condition(pod, 'Ready')?.status === 'True' },
    targetRef: { kind: 'Pod', name, ...(uid !== undefined && { uid }) },
  }
}

/** The aggregator's word on each APIService with a Service: available while an endpoint of that is ready, and its certificate has not ended. */
export const runApiServices = (cx: ControllerContext, faults: Faults<MachineryFaults>): Promise<void> =>
  control(cx, [{ kind: kube.ApiServices }, { kind: kube.EndpointSlices }, faults], async () => {
    const services = (await cx.reader.list(kube.ApiServices)).filter(({ spec }) => spec?.service)
    if (services.length === 0) return
    const slices = await cx.reader.list(kube.EndpointSlices)
    for (const service of services) await judge(cx, service, { slices, expired: faults.on.expired ?? [] })
  })

interface Behind {
  slices: readonly kube.EndpointSlice[]
  expired: readonly string[]
}

async function judge(cx: ControllerContext, service: kube.ApiService, behind: Behind): Promise<void> {
  const now = availability(service, behind, cx.clock.now())
  const before = condition(service, now.type)
  if (before?.status === now.status && before.reason === now.reason) return
  const time = seconds(cx)
  const conditions = [{ ...now, lastTransitionTime: time }]
  await cx.writer.mergePatch(kube.ApiServices, service.metadata, { status: { conditions } }, 'status')
}

function availability({ spec }: kube.ApiService, { slices, expired }: Behind, at: Date): Condition {
  const { namespace, name = '' } = spec?.service ?? {}
  const ready = slices.some(
    ({ metadata, endpoints }) =>
      metadata.namespace === namespace &&
      metadata.labels?.['kubernetes.io/service-name'] === name &&
      endpoints?.some(({ conditions }) => conditions?.ready !== false),
  )
  if (ready && expired.includes(name)) return certificateEnded(spec, at)
  return ready
    ? { type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' }
    : claim(
        'Available',
        'False',
        'MissingEndpoints',
        `endpoints for service/${name} in "${namespace}" have no addresses with port name "https"`,
      )
}

/** In the words of kube-aggregator, which verifies the answer to its discovery call against the CA bundle. */
function certificateEnded(spec: kube.ApiService['spec'], at: Date): Condition {
  const url = `https://10.96.77.12:443/apis/${spec?.group}/${spec?.version}`
  const now = timestamp(at)
  const ended = timestamp(new Date(at.getTime() - 3_600_000))
  return claim(
    'Available',
    'False',
    'FailedDiscoveryCheck',
    `failing or missing response from ${url}: Get "${url}": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time ${now} is after ${ended}`,
  )
}
