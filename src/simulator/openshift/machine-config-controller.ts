import * as kube from '../kinds.ts'
import { control, foundIn, made, seconds } from '../machinery/controller.ts'
import { phaseDriver, type Phases } from '../machinery/phases.ts'
import { ownerReference, share } from '../machinery/owned-pods.ts'
import {
  isTrue,
  type Platform,
  platformData,
  stated,
  withConditions,
  worded,
  writeStatus,
} from './platform-context.ts'
import { condition, type Condition, type KubeObject } from '../../lib/kube/object.ts'
import { annotate, isReady, isUpdated, note, renderNote } from './machine-config-daemon.ts'
import data from './platform.json' with { type: 'json' }
import { machineRelease, releaseImages, requiredLabel, roleLabel } from './openshift-objects.ts'
import type { Release } from './openshift-shape.ts'
import { createHash } from 'node:crypto'
import { timestamp } from '../api/object-lifecycle.ts'

/** How long a pool's status lags behind what happens, in ms: a pool that was just unpaused still says what it said before. */
const lag = 5000

type Counts = ReturnType<typeof countsOf>
type State = Exclude<keyof typeof data.pools, 'synced' | 'degraded'>

/** What a look at a pool finds. */
interface PoolView {
  /** The rendered MachineConfig that its nodes are to have. */
  config: string
  nodes: readonly kube.Node[]
  isDone: boolean
  publish: (state: State) => Promise<void>
}

/** What a pool says of its nodes, and has them do (ocp 3.5): a paused one with something to do is neither updated nor updating. */
const phases = (cx: Platform): Phases<kube.Pool, PoolView> => ({
  kind: kube.Pools,
  phases: [
    {
      when: (_, { nodes }) => nodes.some(isNew),
      // A node that is new comes up with what its pool has.
      async write({ status }, { nodes, config: wanted }) {
        const config = status?.configuration?.name ?? wanted
        const notes = { current: config, desired: config, state: 'Done' }
        for (const { metadata } of nodes.filter(isNew)) await annotate(cx, metadata.name, notes)
      },
    },
    { when: (_, { isDone }) => isDone, write: (_, { publish }) => publish('updated') },
    { when: ({ spec }) => spec?.paused === true, write: (_, { publish }) => publish('paused') },
    {
      when: () => true,
      async write(pool, { config, nodes, publish }) {
        await publish('updating')
        for (const { metadata } of candidates(pool, nodes, config))
          await annotate(cx, metadata.name, { desired: config })
      },
    },
  ],
})

/** Keeps the status of pools, and says to nodes of those that are not paused which configuration they are to take, maxUnavailable at a time. */
export function runPools(cx: Platform): Promise<void> {
  const advance = phaseDriver(cx, phases(cx))
  const reconcile = async (): Promise<void> => {
    const pools = await cx.reader.list(kube.Pools)
    const all = await cx.reader.list(kube.Nodes)
    for (const pool of pools) {
      const config = pool.spec?.configuration?.name
      if (config === undefined) continue
      const nodes = all.filter((node) => poolOf(node, pools) === pool)
      const counts = countsOf(nodes, config)
      const isDone = counts.readyMachineCount === nodes.length && counts.unavailableMachineCount === 0
      const publish = (state: State) =>
        writeStatus(cx, kube.Pools, pool, poolStatus(pool, nodes, { counts, state, at: seconds(cx) }))
      await advance(pool, { config, nodes, isDone, publish })
    }
  }
  return control(cx, [{ kind: kube.Pools }, { kind: kube.Nodes }], reconcile, () => lag)
}

const isNew = (node: kube.Node): boolean => note(node, 'current') === undefined

/** Nodes whose turn it is, by name. */
function candidates({ spec = {} }: kube.Pool, nodes: readonly kube.Node[], config: string): kube.Node[] {
  const most = Math.max(1, share(spec.maxUnavailable ?? 1, nodes.length, 'down'))
  const room = most - nodes.filter(isUnavailable).length
  const due = nodes.filter((node) => !isUpdated(node, config) && isIdle(node))
  return due.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)).slice(0, Math.max(0, room))
}

const isIdle = (node: kube.Node): boolean =>
  note(node, 'state') === 'Done' && note(node, 'current') === note(node, 'desired')
const isServing = (node: kube.Node): boolean => isReady(node) && node.spec?.unschedulable !== true
/** True when the node does not serve: under way, silent or cordoned. */
const isUnavailable = (node: kube.Node): boolean => !isIdle(node) || !isServing(node)
const isDegraded = (node: kube.Node): boolean => note(node, 'state') === 'Degraded'

function countsOf(nodes: readonly kube.Node[], config: string) {
  const updated = nodes.filter((node) => isUpdated(node, config))
  return {
    machineCount: nodes.length,
    updatedMachineCount: updated.length,
    readyMachineCount: updated.filter(isServing).length,
    unavailableMachineCount: nodes.filter(isUnavailable).length,
    degradedMachineCount: nodes.filter(isDegraded).length,
  }
}

interface Found {
  counts: Counts
  state: State
  /** RFC 3339. */
  at: string
}

function poolStatus(
  pool: kube.Pool,
  nodes: readonly kube.Node[],
  { counts, state, at }: Found,
): kube.Pool['status'] {
  const { spec = {}, status = {}, metadata } = pool
  const { configuration } = state === 'updated' ? spec : status
  const degraded = nodes.filter(isDegraded)
  const message = degraded
    .map((node) => `Node ${node.metadata.name} is reporting: ${JSON.stringify(note(node, 'reason'))}`)
    .join(', ')
  const words = { config: spec.configuration?.name, count: degraded.length, message }
  const { [degraded.length > 0 ? 'degraded' : 'synced']: ofNodes, [state]: own } = data.pools
  const claims = platformData<Condition[]>([...ofNodes, ...own], words)
  // A year after the pool was made.
  const since = Date.parse(metadata.creationTimestamp ?? '2026-01-01T00:00:00Z')
  const expiry = timestamp(new Date(since + 365 * 24 * 3_600_000))
  const subject = 'CN=kube-apiserver-to-kubelet-signer,OU=openshift'
  return {
    observedGeneration: metadata.generation ?? 1,
    ...(configuration && { configuration }),
    ...counts,
    conditions: withConditions(status.conditions, claims, at),
    certExpirys: [{ bundle: 'KubeAPIServerServingCAData', subject, expiry }],
  }
}

const rank = ({ metadata: { name } }: kube.Pool): number =>
  name === 'master' ? 0 : name === 'worker' ? 2 : 1

/** The pool that a node is managed by: master before a custom pool, a custom pool before worker (ocp 3.5). */
const poolOf = (node: kube.Node, pools: readonly kube.Pool[]): kube.Pool | undefined =>
  pools.filter((pool) => selectsNode(pool, node)).sort((a, b) => rank(a) - rank(b))[0]

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
    const config = foundIn(await cx.reader.get(kube.MachineConfigs, { name }))
    if (config?.metadata.annotations?.[renderNote.release] !== version || !isPoolUpdated(pool)) return false
  }
  return true
}

const isPoolUpdated = ({ metadata, spec, status }: kube.Pool): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.configuration?.name === spec?.configuration?.name &&
  isTrue(status?.conditions, 'Updated')

const operatorName = 'machine-config'

/** What the operator of machines says of pools (ocp 3.5): degraded ones, and masters that are paused while an update needs them. */
export function runMachineConfigStatus(cx: Platform): Promise<void> {
  const watched = [{ kind: kube.Pools }, { kind: kube.ClusterOperators, where: { name: operatorName } }]
  return control(cx, watched, async () => {
    const operator = foundIn(await cx.reader.get(kube.ClusterOperators, { name: operatorName }))
    if (!operator?.status) return
    const pools = await cx.reader.list(kube.Pools)
    const isRefusing = cx.faults.on.notUpgradeable?.some((fault) => fault.operator === operatorName) === true
    const isBroken = pools.some(isPoolDegraded)
    const claims = [
      ...failedClaims(pools, operator),
      ...(isRefusing ? [] : [stated(isBroken ? 'degradedPool' : 'upgradeable')]),
    ]
    const conditions = withConditions(operator.status.conditions, claims, seconds(cx))
    await writeStatus(cx, kube.ClusterOperators, operator, { ...operator.status, conditions })
  })
}

const isPoolDegraded = ({ status }: kube.Pool): boolean => isTrue(status?.conditions, 'Degraded')

/** Others may have their own reasons for Degraded. */
function failedClaims(pools: readonly kube.Pool[], operator: kube.ClusterOperator): Condition[] {
  const why = failure(pools, isTrue(operator.status?.conditions, 'Progressing'))
  const failed = stated('poolsFailed', { why })
  if (why !== undefined) return [failed]
  return condition(operator, 'Degraded')?.reason === failed.reason ? [stated('notDegraded')] : []
}

function failure(pools: readonly kube.Pool[], isUpdating: boolean): string | undefined {
  const degraded = pools.find(isPoolDegraded)
  if (degraded) {
    const { conditions: _, configuration: _config, certExpirys: _expiry, ...counts } = degraded.status ?? {}
    return worded('poolNotReady', { name: degraded.metadata.name, ...counts })
  }
  const paused = pools.find((pool) => isRequired(pool) && pool.spec?.paused === true)
  if (!paused || !isUpdating) return undefined
  const isEarly = isTrue(paused.status?.conditions, 'Updated')
  return worded(isEarly ? 'poolPausedEarly' : 'poolPausedLate', { name: paused.metadata.name })
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
    for (const pool of await cx.reader.list(kube.Pools))
      await render(
        cx,
        pool,
        release,
        sources.filter((source) => selectsSource(pool, source)),
      )
  })
}

const isSource = ({ metadata }: KubeObject): boolean => metadata.annotations?.[renderNote.by] === undefined

async function render(
  cx: Platform,
  pool: kube.Pool,
  { version, image }: Release,
  sources: readonly kube.MachineConfig[],
): Promise<void> {
  const named = JSON.stringify([version, sources.map(({ spec }) => spec)])
  const content = createHash('md5').update(named).digest('hex')
  const name = `rendered-${pool.metadata.name}-${content}`
  if (pool.spec?.configuration?.name === name) return
  if ((await cx.reader.get(kube.MachineConfigs, { name })).is === 'absent') {
    const annotations = {
      [renderNote.by]: version,
      [renderNote.release]: version,
      [renderNote.content]: content,
    }
    const metadata = { name, annotations, ownerReferences: [ownerReference(pool)] }
    const spec = { osImageURL: image, config: { ignition: { version: '3.4.0' } } }
    await cx.writer.create(kube.MachineConfigs, made(kube.MachineConfigs, { metadata, spec }))
  }
  const { apiVersion, kind } = kube.MachineConfigs
  const source = sources.map(({ metadata }) => ({ apiVersion, kind, name: metadata.name }))
  await cx.writer.mergePatch(kube.Pools, pool.metadata, { spec: { configuration: { name, source } } })
}

/** Only what pools here select by: the role, equal or one of several. */
function selectsSource({ spec }: kube.Pool, { metadata }: kube.MachineConfig): boolean {
  const { matchLabels, matchExpressions = [] } = spec?.machineConfigSelector ?? {}
  const wanted = matchLabels?.[roleLabel]
  const among = matchExpressions.find(({ key }) => key === roleLabel)?.values ?? []
  const role = metadata.labels?.[roleLabel]
  return role !== undefined && (wanted === undefined ? among : [wanted]).includes(role)
}
