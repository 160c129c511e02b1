import * as kube from '../kinds.ts'
import {
  claim,
  control,
  foundIn,
  made,
  ownedBy,
  recordEvent,
  seconds,
  untilAborted,
} from '../machinery/controller.ts'
import { ownerReference, share } from '../machinery/owned-pods.ts'
import { isTrue, minute, type Platform, withConditions, writeStatus } from './platform-context.ts'
import { condition, type Condition, type KubeObject } from '../../lib/kube/object.ts'
import { machineRelease, releaseImages, requiredLabel, roleLabel, softwareOf } from './openshift-objects.ts'
import { type Release, releaseOf } from './openshift-shape.ts'
import { createHash } from 'node:crypto'
import { timestamp } from '../api/object-lifecycle.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { rebootingNote, setNodeReady } from '../machinery/node-lifecycle.ts'
import { ownKey } from '../own-keys.ts'

/** How long a pool's status lags behind what happens, in ms: a pool that was just unpaused still says what it said before. */
const lag = 5000

/** Keeps the status of pools, and says to nodes of those that are not paused which configuration they are to take, maxUnavailable at a time. */
export function runPools(cx: Platform): Promise<void> {
  const watched = [{ kind: kube.Pools }, { kind: kube.Nodes }]
  const tendAll = async (): Promise<void> => {
    const pools = await cx.reader.list(kube.Pools)
    const nodes = await cx.reader.list(kube.Nodes)
    for (const pool of pools) {
      const own = nodes.filter((node) => poolOf(node, pools) === pool)
      await tend(cx, pool, own)
    }
  }
  return control(cx, watched, tendAll, () => lag)
}

async function tend(cx: Platform, pool: kube.Pool, nodes: readonly kube.Node[]): Promise<void> {
  const config = pool.spec?.configuration?.name
  if (config === undefined) return
  const fresh = nodes.filter(isNew)
  for (const node of fresh) await join(cx, node, pool.status?.configuration?.name ?? config)
  if (fresh.length > 0) return
  await writeStatus(cx, kube.Pools, pool, poolStatus(pool, nodes, seconds(cx)))
  for (const node of candidates(pool, nodes, config))
    await cx.writer.mergePatch(kube.Nodes, node.metadata, {
      metadata: { annotations: { [nodeNote.desired]: config } },
    })
}

const isNew = ({ metadata }: kube.Node): boolean => metadata.annotations?.[nodeNote.current] === undefined

/** A node that is new comes up with what its pool has. */
async function join(cx: Platform, { metadata }: kube.Node, config: string): Promise<void> {
  const annotations = { [nodeNote.current]: config, [nodeNote.desired]: config, [nodeNote.state]: 'Done' }
  await cx.writer.mergePatch(kube.Nodes, metadata, { metadata: { annotations } })
}

/** Nodes whose turn it is, by name; none of a paused pool. */
function candidates({ spec = {} }: kube.Pool, nodes: readonly kube.Node[], config: string): kube.Node[] {
  if (spec.paused === true) return []
  const most = Math.max(1, share(spec.maxUnavailable ?? 1, nodes.length, 'down'))
  const room = most - nodes.filter(isUnavailable).length
  const due = nodes.filter((node) => !isUpdated(node, config) && isIdle(node))
  return due.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)).slice(0, Math.max(0, room))
}

const isIdle = ({ metadata }: kube.Node): boolean => {
  const { annotations = {} } = metadata
  return (
    annotations[nodeNote.state] === 'Done' && annotations[nodeNote.current] === annotations[nodeNote.desired]
  )
}

type Status = NonNullable<kube.Pool['status']>

const note = ({ metadata }: kube.Node, key: string): string | undefined => metadata.annotations?.[key]
const isReady = (node: kube.Node): boolean => condition(node, 'Ready')?.status === 'True'

function isUpdated(node: kube.Node, config: string): boolean {
  const state = note(node, nodeNote.state)
  return (
    note(node, nodeNote.current) === config && note(node, nodeNote.desired) === config && state === 'Done'
  )
}

/** True when the node does not serve: under way, silent or cordoned. */
function isUnavailable(node: kube.Node): boolean {
  const settled = note(node, nodeNote.current) === note(node, nodeNote.desired)
  return (
    !settled || note(node, nodeNote.state) !== 'Done' || !isReady(node) || node.spec?.unschedulable === true
  )
}

/** What a pool says of its nodes (ocp 3.5): a paused one with something to do is neither updated nor updating. Pure; `at`: RFC 3339. */
function poolStatus(pool: kube.Pool, nodes: readonly kube.Node[], at: string): Status {
  const { spec = {}, status = {}, metadata } = pool
  const { name: config = '' } = spec.configuration ?? {}
  const counts = countsOf(nodes, config)
  const done = counts.readyMachineCount === nodes.length && counts.unavailableMachineCount === 0
  const { configuration } = done ? spec : status
  const claims = [
    ...degradedClaims(nodes.filter(isDegraded)),
    ...(done ? updatedClaims(config) : pendingClaims(pool, config)),
  ]
  return {
    observedGeneration: metadata.generation ?? 1,
    ...(configuration && { configuration }),
    ...counts,
    conditions: withConditions(status.conditions ?? [], claims, at),
    certExpirys: [certificate(pool)],
  }
}

const isDegraded = (node: kube.Node): boolean => note(node, nodeNote.state) === 'Degraded'

function countsOf(nodes: readonly kube.Node[], config: string) {
  const updated = nodes.filter((node) => isUpdated(node, config))
  return {
    machineCount: nodes.length,
    updatedMachineCount: updated.length,
    readyMachineCount: updated.filter((node) => isReady(node) && node.spec?.unschedulable !== true).length,
    unavailableMachineCount: nodes.filter(isUnavailable).length,
    degradedMachineCount: nodes.filter(isDegraded).length,
  }
}

const updatedClaims = (config: string): Condition[] => [
  claim('Updated', 'True', '', `All nodes are updated with MachineConfig ${config}`),
  claim('Updating', 'False', '', ''),
]

function pendingClaims({ spec }: kube.Pool, config: string): Condition[] {
  const updating =
    spec?.paused === true
      ? claim('Updating', 'False', '', `Pool is paused; will not update to MachineConfig ${config}`)
      : claim('Updating', 'True', '', `All nodes are updating to MachineConfig ${config}`)
  return [claim('Updated', 'False', '', ''), updating]
}

function degradedClaims(nodes: readonly kube.Node[]): Condition[] {
  const message = nodes
    .map((node) => `Node ${node.metadata.name} is reporting: ${JSON.stringify(note(node, nodeNote.reason))}`)
    .join(', ')
  const status = nodes.length > 0 ? 'True' : 'False'
  const reason = nodes.length > 0 ? `${nodes.length} nodes are reporting degraded status on sync` : ''
  return [
    claim('RenderDegraded', 'False', '', ''),
    claim('NodeDegraded', status, reason, message),
    claim('Degraded', status, '', message),
  ]
}

/** A year after the pool was made. */
function certificate({ metadata }: kube.Pool): NonNullable<Status['certExpirys']>[number] {
  const since = Date.parse(metadata.creationTimestamp ?? '2026-01-01T00:00:00Z')
  const expiry = timestamp(new Date(since + 365 * 24 * 3_600_000))
  return {
    bundle: 'KubeAPIServerServingCAData',
    subject: 'CN=kube-apiserver-to-kubelet-signer,OU=openshift',
    expiry,
  }
}

/** The pool that a node is managed by: master before a custom pool, a custom pool before worker (ocp 3.5). */
function poolOf(node: kube.Node, pools: readonly kube.Pool[]): kube.Pool | undefined {
  const mine = pools.filter((pool) => selectsNode(pool, node))
  const named = (name: string): kube.Pool | undefined => mine.find(({ metadata }) => metadata.name === name)
  const custom = mine.find(({ metadata }) => metadata.name !== 'master' && metadata.name !== 'worker')
  return named('master') ?? custom ?? named('worker')
}

function selectsNode({ spec }: kube.Pool, { metadata }: kube.Node): boolean {
  const wanted = Object.entries(spec?.nodeSelector?.matchLabels ?? {})
  return wanted.length > 0 && wanted.every(([key, value]) => metadata.labels?.[key] === value)
}

/** Pools that an update of the cluster waits for (ocp 3.5). */
const isRequired = ({ metadata }: kube.Pool): boolean => metadata.labels?.[requiredLabel] !== undefined

/** True when every machine of those pools is of that release. */
export async function areMastersAt(cx: Platform, { version }: Release): Promise<boolean> {
  for (const pool of (await cx.reader.list(kube.Pools)).filter(isRequired)) {
    const name = pool.spec?.configuration?.name ?? ''
    const found = await cx.reader.get(kube.MachineConfigs, { name })
    const notes = found.is === 'object' ? found.object.metadata.annotations : undefined
    if (notes?.[renderNote.release] !== version || !isPoolUpdated(pool)) return false
  }
  return true
}

const isPoolUpdated = ({ metadata, spec, status }: kube.Pool): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.configuration?.name === spec?.configuration?.name &&
  isTrue(status?.conditions, 'Updated')

const operatorName = 'machine-config'
const unwell = 'RequiredPoolsFailed'

/** What the operator of machines says of pools (ocp 3.5): degraded ones, and masters that are paused while an update needs them. */
export function runMachineConfigStatus(cx: Platform): Promise<void> {
  const watched = [{ kind: kube.Pools }, { kind: kube.ClusterOperators, where: { name: operatorName } }]
  return control(cx, watched, async () => {
    const found = await cx.reader.get(kube.ClusterOperators, { name: operatorName })
    if (found.is !== 'object' || !found.object.status) return
    const operator = found.object
    const { status = {} } = operator
    const pools = await cx.reader.list(kube.Pools)
    const claims = [...operatorDegradedClaims(pools, operator), ...upgradeableClaims(cx, pools)]
    const conditions = withConditions(status.conditions ?? [], claims, seconds(cx))
    await writeStatus(cx, kube.ClusterOperators, operator, { ...status, conditions })
  })
}

/** Others may have their own reasons for Degraded. */
function operatorDegradedClaims(pools: readonly kube.Pool[], operator: kube.ClusterOperator): Condition[] {
  const why = failure(pools, isTrue(operator.status?.conditions, 'Progressing'))
  if (why !== undefined)
    return [claim('Degraded', 'True', unwell, `error during syncRequiredMachineConfigPools: ${why}`)]
  return condition(operator, 'Degraded')?.reason === unwell
    ? [claim('Degraded', 'False', 'AsExpected', '')]
    : []
}

function failure(pools: readonly kube.Pool[], updating: boolean): string | undefined {
  const degraded = pools.find(({ status }) => isTrue(status?.conditions, 'Degraded'))
  if (degraded) {
    const { machineCount, readyMachineCount, updatedMachineCount, unavailableMachineCount } =
      degraded.status ?? {}
    const counts = `total: ${machineCount}, ready ${readyMachineCount}, updated: ${updatedMachineCount}, unavailable: ${unavailableMachineCount}`
    return `MachineConfigPool ${degraded.metadata.name} is not ready, retrying. Status: (pool degraded: true ${counts})`
  }
  const paused = pools.find((pool) => isRequired(pool) && pool.spec?.paused === true)
  if (!paused || !updating) return undefined
  const which = paused.metadata.name
  return isTrue(paused.status?.conditions, 'Updated')
    ? `the required MachineConfigPool ${which} was paused with no pending updates; no further syncing will occur until it is unpaused`
    : `required MachineConfigPool ${which} is paused and cannot sync until it is unpaused`
}

function upgradeableClaims({ faults }: Platform, pools: readonly kube.Pool[]): Condition[] {
  if (faults.on.notUpgradeable?.some(({ operator }) => operator === operatorName) === true) return []
  const message =
    'One or more machine config pools are degraded, please see `oc get mcp` for further details and resolve before upgrading'
  return pools.some(({ status }) => isTrue(status?.conditions, 'Degraded'))
    ? [claim('Upgradeable', 'False', 'DegradedPool', message)]
    : [claim('Upgradeable', 'True', 'AsExpected', '')]
}

/** Makes one MachineConfig of each pool's sources and release, and has the pool ask for it; a paused one too (ocp 3.5). */
export function runRender(cx: Platform): Promise<void> {
  const { namespace } = releaseImages
  const watched = [
    { kind: kube.Pools },
    { kind: kube.MachineConfigs, concerns: isSource },
    { kind: kube.ConfigMaps, where: { namespace } },
  ]
  return control(cx, watched, async () => {
    const release = await machineRelease(cx)
    if (!release) return
    const sources = (await cx.reader.list(kube.MachineConfigs)).filter(isSource)
    for (const pool of await cx.reader.list(kube.Pools)) await render(cx, pool, { release, sources })
  })
}

const isSource = ({ metadata }: KubeObject): boolean => metadata.annotations?.[renderNote.by] === undefined

async function render(
  cx: Platform,
  pool: kube.Pool,
  { release, sources }: { release: Release; sources: readonly kube.MachineConfig[] },
): Promise<void> {
  const own = sources.filter((source) => selectsSource(pool, source))
  const content = digest([release.version, own.map(({ spec }) => spec)])
  const name = `rendered-${pool.metadata.name}-${content}`
  if (pool.spec?.configuration?.name === name) return
  const found = await cx.reader.get(kube.MachineConfigs, { name })
  if (found.is === 'absent')
    await cx.writer.create(kube.MachineConfigs, rendered(pool, name, { release, content }))
  const source = own.map(({ metadata }) => ({
    apiVersion: kube.MachineConfigs.apiVersion,
    kind: kube.MachineConfigs.kind,
    name: metadata.name,
  }))
  await cx.writer.mergePatch(kube.Pools, pool.metadata, { spec: { configuration: { name, source } } })
}

const digest = (of: unknown): string => createHash('md5').update(JSON.stringify(of)).digest('hex')

/** Only what pools here select by: the role, equal or one of several. */
function selectsSource({ spec }: kube.Pool, { metadata }: kube.MachineConfig): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.machineConfigSelector ?? {}
  const role = metadata.labels?.[roleLabel]
  if (role === undefined) return false
  const wanted = matchLabels[roleLabel]
  const among = matchExpressions.find(({ key }) => key === roleLabel)
  return wanted === undefined ? (among?.values ?? []).includes(role) : wanted === role
}

function rendered(
  pool: kube.Pool,
  name: string,
  { release, content }: { release: Release; content: string },
): kube.MachineConfig {
  return made(kube.MachineConfigs, {
    metadata: {
      name,
      annotations: {
        [renderNote.by]: release.version,
        [renderNote.release]: release.version,
        [renderNote.content]: content,
      },
      ownerReferences: [ownerReference(pool)],
    },
    spec: { osImageURL: release.image, config: { ignition: { version: '3.4.0' } } },
  })
}

const prefix = 'machineconfiguration.openshift.io'

/** What is said of a node's configuration on the node itself (ocp 3.5). */
const nodeNote = {
  current: `${prefix}/currentConfig`,
  desired: `${prefix}/desiredConfig`,
  /** `Done`, `Working`, `Rebooting`, `Degraded`. */
  state: `${prefix}/state`,
  reason: `${prefix}/reason`,
  desiredDrain: `${prefix}/desiredDrain`,
  lastDrain: `${prefix}/lastAppliedDrain`,
} as const

/** On a rendered MachineConfig. */
const renderNote = {
  by: `${prefix}/generated-by-controller-version`,
  release: `${prefix}/release-image-version`,
  /** Two with the same differ in name only: no machine has to restart for it. */
  content: ownKey('content'),
} as const

/** How long a node is left alone after the API refused something, in ms. */
const retry = 5000

/** The machine-config-daemon of every node: takes each to the configuration that it is told. Rejects with a bug of the simulator. */
export async function runNodeUpdates(cx: Platform): Promise<void> {
  const underway = new Map<string, Promise<void>>()
  const bug = new AbortController()
  const own = { ...cx, signal: AbortSignal.any([cx.signal, bug.signal]) }
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.watch(kube.Nodes, {}, own.signal)) {
      if (change.type !== 'added' && change.type !== 'modified') continue
      const { name } = change.object.metadata
      if (!isTold(change.object) || underway.has(name)) continue
      const work = untilDone(own, name).catch((error: unknown) => bug.abort(error))
      underway.set(
        name,
        work.finally(() => underway.delete(name)),
      )
    }
  })
}

function isTold({ metadata }: kube.Node): boolean {
  const { annotations = {} } = metadata
  const current = annotations[nodeNote.current]
  return current !== undefined && annotations[nodeNote.desired] !== current
}

async function untilDone(cx: Platform, name: string): Promise<void> {
  await untilAborted(cx.signal, async () => {
    for (;;) {
      const found = await cx.reader.get(kube.Nodes, { name })
      if (found.is !== 'object' || !isTold(found.object)) return
      await tried(cx, name)
    }
  })
}

async function tried(cx: Platform, name: string): Promise<void> {
  try {
    await updateNode(cx, name)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await cx.clock.sleep(retry, cx.signal)
  }
}

/** In ms: writing the new system, a reboot, and a look at a node that does not come back. */
const takes = { writing: 1.5 * minute, reboot: 3 * minute, snapshot: 10_000 }

/**
 * Takes a node to the configuration that it is to have: cordon, drain, write, reboot, come back with the release's kubelet, uncordon
 * (ocp 3.5). Begun again where it was broken off, it ends the same. Throws ApiError when the node is gone.
 */
async function updateNode(cx: Platform, name: string): Promise<void> {
  const node = await read(cx, name)
  if (!node) return
  const { [nodeNote.current]: current = '', [nodeNote.desired]: config = '' } =
    node.metadata.annotations ?? {}
  if (config === current) return
  if ((await contentOf(cx, current)) !== (await contentOf(cx, config))) await restart(cx, node, config)
  await annotate(cx, name, {
    [nodeNote.current]: config,
    [nodeNote.state]: 'Done',
    [nodeNote.reason]: null,
    [nodeNote.desiredDrain]: `uncordon-${config}`,
    [nodeNote.lastDrain]: `uncordon-${config}`,
  })
  await cx.writer.mergePatch(kube.Nodes, { name }, { spec: { unschedulable: null } })
}

async function read({ reader }: Platform, name: string): Promise<kube.Node | undefined> {
  return foundIn(await reader.get(kube.Nodes, { name }))
}

type Notes = Record<string, string | null>

async function annotate({ writer }: Platform, name: string, annotations: Notes): Promise<void> {
  await writer.mergePatch(kube.Nodes, { name }, { metadata: { annotations } })
}

async function notesOf({ reader }: Platform, name: string): Promise<Record<string, string>> {
  const found = await reader.get(kube.MachineConfigs, { name })
  return (found.is === 'object' ? found.object.metadata.annotations : undefined) ?? {}
}

async function contentOf(cx: Platform, config: string): Promise<string | undefined> {
  return (await notesOf(cx, config))[renderNote.content]
}

async function restart(cx: Platform, node: kube.Node, config: string): Promise<void> {
  const { name } = node.metadata
  await cx.writer.mergePatch(kube.Nodes, { name }, { spec: { unschedulable: true } })
  await annotate(cx, name, { [nodeNote.state]: 'Working', [nodeNote.desiredDrain]: `drain-${config}` })
  // Where nothing could go anywhere nothing is drained (ocp 3.5).
  if (cx.shape.topology !== 'SingleReplica') await drain(cx, name, () => reportDrain(cx, name))
  await annotate(cx, name, {
    [nodeNote.state]: 'Working',
    [nodeNote.reason]: null,
    [nodeNote.lastDrain]: `drain-${config}`,
  })
  await cx.clock.sleep(takes.writing, cx.signal)
  await reboot(cx, name, config)
}

async function reportDrain(cx: Platform, name: string): Promise<void> {
  const reason = `failed to drain node: ${name} after 1 hour. Please see machine-config-controller logs for more information`
  await annotate(cx, name, { [nodeNote.state]: 'Degraded', [nodeNote.reason]: reason })
}

async function reboot(cx: Platform, name: string, config: string): Promise<void> {
  await annotate(cx, name, { [nodeNote.state]: 'Rebooting', [rebootingNote]: '' })
  const node = await read(cx, name)
  if (!node) return
  const message = `Node will reboot into config ${config}`
  await recordEvent(cx, node, 'machineconfigdaemon', ['Normal', 'Reboot', message])
  await setNodeReady(cx, node, false)
  await endLaunchers(cx, name)
  await cx.clock.sleep(cx.faults.on.rebootTime ?? takes.reboot, cx.signal)
  while (cx.faults.on.lostNodes?.includes(name) === true) await cx.clock.sleep(takes.snapshot, cx.signal)
  await comeBack(cx, name, config)
}

/** A guest does not outlive its node; other pods are started again by its kubelet. */
async function endLaunchers({ reader, writer }: Platform, name: string): Promise<void> {
  const launchers = await reader.list(kube.Pods, {
    fields: `spec.nodeName=${name}`,
    labels: 'kubevirt.io=virt-launcher',
  })
  for (const { metadata } of launchers)
    await writer.mergePatch(kube.Pods, metadata, { status: { phase: 'Failed' } }, 'status')
}

async function comeBack(cx: Platform, name: string, config: string): Promise<void> {
  const version = (await notesOf(cx, config))[renderNote.release] ?? ''
  const kubernetes = releaseOf(cx.shape.graph, version)?.kubernetes
  if (kubernetes !== undefined) {
    const nodeInfo = softwareOf(cx.shape, { version, kubernetes })
    await cx.writer.mergePatch(kube.Nodes, { name }, { status: { nodeInfo } }, 'status')
  }
  await annotate(cx, name, { [rebootingNote]: null })
  const node = await read(cx, name)
  if (node) await setNodeReady(cx, node, true)
}

/** An attempt is given up after a minute and a half; the next comes after one, or five once it has gone on for ten; ocp 3.5. */
const pace = {
  attempt: 1.5 * minute,
  betweenEvictions: 5000,
  next: minute,
  nextLate: 5 * minute,
  late: 10 * minute,
  reported: 60 * minute,
}

/** Evicts what runs on a node, as often as it is refused. `failing` is told once it has gone on for an hour, and it goes on. */
async function drain(cx: Platform, node: string, failing: () => Promise<void>): Promise<void> {
  const start = cx.clock.now().getTime()
  while (!(await attempt(cx, node))) {
    const passed = cx.clock.now().getTime() - start
    if (passed >= pace.reported) await failing()
    await cx.clock.sleep(passed >= pace.late ? pace.nextLate : pace.next, cx.signal)
  }
}

/** False when somebody is left. */
async function attempt(cx: Platform, node: string): Promise<boolean> {
  const until = cx.clock.now().getTime() + pace.attempt
  while (cx.clock.now().getTime() < until) {
    const pods = await podsToGo(cx, node)
    const kept = cx.faults.on.undrainableNodes?.includes(node) === true
    if (pods.length === 0 && !kept) return true
    for (const pod of pods) if (pod.metadata.deletionTimestamp === undefined) await evict(cx, pod)
    await cx.clock.sleep(pace.betweenEvictions, cx.signal)
  }
  return false
}

async function podsToGo({ reader }: Platform, node: string): Promise<kube.Pod[]> {
  const pods = await reader.list(kube.Pods, { fields: `spec.nodeName=${node}` })
  return pods.filter((pod) => !ownedBy('DaemonSet')(pod))
}

/** A refusal (429: a disruption budget, or a VM that has to move first) is no failure: it is asked again. */
async function evict(cx: Platform, { metadata }: kube.Pod): Promise<void> {
  const { name, namespace } = metadata
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
  try {
    await cx.writer.subresource(kube.Pods, { name, namespace }, { name: 'eviction', method: 'POST', body })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}
