import type { ReadContext, Step, StepState } from '../../engine/step.ts'
import { hours, minutes, seconds } from '../../kube/clock.ts'
import { overrideNamed, poolPaused } from '../settings/eus-settings.ts'
import { poolAppeared, restoreField, takeField, type Taking } from '../settings/setting-steps.ts'
import { keepPool, keptBaseline, keptPool } from '../baseline.ts'
import {
  behind,
  pausable,
  type PausablePool,
  pausablePools,
  poolBefore,
  poolFollows,
  type PoolNow,
  readPool,
  untilUpdated,
} from './platform-rollout.ts'
import { type EusWindow, keyOf } from '../window.ts'
import { Nodes } from '../../kube/kinds/core-kinds.ts'
import type { Meanwhile } from '../../vms/pause-updates.ts'
import { type Reader, orUnserved } from '../../kube/cluster.ts'
import { isAccepted, readPlatform, type Stop } from './cluster-version-status.ts'
import { readOwner } from '../../vms/strategy/settings-owner.ts'
import type { Owner } from '../../vms/update-methods.ts'
import {
  type KubeVirt,
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { condition } from '../../kube/object.ts'
import { clusterEvictionOf, vmName } from '../../vms/vm.ts'
import { launcherResources, sharingOf } from '../../vms/forecast/launcher-placement.ts'
import { type Place, type Places, readPlaces } from '../../vms/forecast/cluster-room.ts'
import { effectiveEviction } from '../../vms/workload-updater.ts'

/** How long a pool may roll before it is paused. */
const untilQuiet = { every: 15 * seconds, atMost: 24 * hours }

/**
 * One that was not there at the beginning is asked about first. Whichever it is, it has to be through with what it was told before it is paused (night E5): at the look it was,
 * and since then somebody may have given it more. One that is ours already is paused again at once.
 */
export function pausePool(
  window: Pick<EusWindow, 'name' | 'request'>,
  pool: PausablePool,
  taking: Omit<Taking, 'id' | 'title'>,
): Step {
  const field = poolPaused(pool)
  const take = takeField(field, {
    id: `pause-${pool.name}`,
    title: `pause pool ${pool.name}`,
    ...taking,
  })
  return {
    ...take,
    patience: untilQuiet,
    async check(cx): Promise<StepState> {
      const state = await take.check(cx)
      if (state.is !== 'todo' || overrideNamed(await cx.journal.overrides(), field.override)) return state
      if (!(await isKnown(window, pool, cx))) return poolAppeared(pool.name, window.request.command)
      return untilUpdated(await readPool(cx.reader, pool.name)) ?? state
    },
  }
}

async function isKnown(
  { name, request }: Pick<EusWindow, 'name' | 'request'>,
  pool: PausablePool,
  { journal }: ReadContext,
): Promise<boolean> {
  if (request.accepted.includes('pool-appeared')) return true
  const began = await keptBaseline(journal, name)
  return began === undefined || began.pools.includes(pool.name)
}

interface Unpausing extends Draining {
  pool: PausablePool
  /** Of the procedure. */
  name: string
  /** The line that goes on, with one more risk. */
  command: string
  /** What to do where somebody else unpaused it. Default: ask. */
  meanwhile?: Meanwhile
}

/**
 * One pool back to work: room for its largest node and no VM that blocks its drain, then unpaused, then waited for until it has rolled. The next pool
 * comes after it (night E5).
 */
export function unpausePool(unpausing: Unpausing): readonly Step[] {
  const { pool } = unpausing
  const isOurs = async ({ journal }: ReadContext) =>
    overrideNamed(await journal.overrides(), `pool-paused/${pool.name}`) !== undefined
  return [roomForPool(unpausing, isOurs), unpause(unpausing), rolledPool(unpausing)]
}

function unpause({ pool, name, meanwhile = 'ask' }: Unpausing): Step {
  const give = restoreField(poolPaused(pool), {
    id: `unpause-${pool.name}`,
    title: `unpause pool ${pool.name}`,
    meanwhile,
    dependsOn: [`pause-${pool.name}`],
  })
  return {
    ...give,
    risk: {
      undo: 'pausing it again leaves the other nodes at the old release',
      safeToLeave: 'always: it continues by itself',
    },
    async apply(cx) {
      await keepPool(cx.journal, name, pool.name, poolBefore(await readPool(cx.reader, pool.name)))
      return give.apply?.(cx)
    },
  }
}

type Rolling = Pick<Unpausing, 'pool' | 'name'> & Partial<Pick<Unpausing, 'accepted' | 'command'>>

/** A new Updating transition where something waited for it, then Updated, and the kubelets those of the control plane (ocp 3.5). */
export function rolledPool(
  { pool, name, accepted = [], command = 'kvup eus run' }: Rolling,
  { id, dependsOn }: Pick<Step, 'id' | 'dependsOn'> = {
    id: `rolled-${pool.name}`,
    dependsOn: [`unpause-${pool.name}`],
  },
): Step {
  return {
    id,
    title: `update the nodes of pool ${pool.name}`,
    patience: { every: 15 * seconds, atMost: 24 * 24 * hours },
    estimate: pool.rollsFor,
    watches: [...poolFollows, { kind: Nodes, where: {} }],
    ...(dependsOn && { dependsOn }),
    goesOn: true,
    risk: { undo: 'none', safeToLeave: 'always: it continues by itself' },
    async check({ reader, journal }: ReadContext): Promise<StepState> {
      const now = await readPool(reader, pool.name)
      const { poolStatus, nodes, kubernetes } = now
      const before = await keptPool(journal, name, pool.name)
      if (poolStatus.paused)
        return whilePausedByOthers(now, { isOurs: before !== undefined, accepted, command })
      const waiting = untilUpdated(now)
      if (waiting) return waiting
      if (before?.pending && poolBefore(now).updating === before.updating)
        return { is: 'waiting', on: `pool ${pool.name} to begin` }
      const old = behind(nodes, kubernetes)
      return old.length === 0
        ? { is: 'done', note: `${poolStatus.updated} of ${poolStatus.machines} nodes at ${kubernetes}` }
        : { is: 'waiting', on: `the kubelets of ${old.slice(0, 10).join(', ')} to be those of ${kubernetes}` }
    },
  }
}

/**
 * Who kept a pool paused all along is left to it. One that kvup has unpaused, and that was paused again before it was through, has nodes behind: the window is not over for
 * them, unless that is accepted by name.
 */
function whilePausedByOthers(
  { poolStatus, nodes, kubernetes }: PoolNow,
  { isOurs, accepted, command }: Required<Pick<Rolling, 'accepted' | 'command'>> & { isOurs: boolean },
): StepState {
  const { name, state, updated, machines } = poolStatus
  const isThrough = state === 'updated' && behind(nodes, kubernetes).length === 0
  if (!isOurs || isThrough || accepted.includes('pool-paused-already'))
    return { is: 'done', note: 'paused by someone else: not changed' }
  return {
    is: 'blocked',
    reason: 'pool-paused-already',
    by: `someone paused pool ${name} again after kvup unpaused it, with ${updated} of ${machines} nodes updated: the other nodes remain at the older release`,
    remedy: [
      `oc patch machineconfigpool ${name} --type=merge -p '{"spec":{"paused":false}}'     its nodes drain and reboot; then the same command again`,
      `oc get machineconfigpool ${name} -o yaml --show-managed-fields     shows who wrote it`,
      `${command} --accept pool-paused-already     leaves it paused, and continues without it`,
    ],
  }
}

/**
 * On a plain way the drains begin by themselves once the platform is asked for: so room, and the VMs that block them, are judged before it (night E5). A
 * single node is not drained.
 */
export async function roomsBefore(
  { plan, kubevirt, request }: EusWindow,
  stop: Stop,
  reader: Reader,
): Promise<readonly Step[]> {
  if (plan.topology === 'single-node') return []
  const { accepted } = request
  const isNext = async (cx: { reader: Reader }) =>
    !isAccepted((await readPlatform(cx.reader)).platformStatus, stop)
  return (await rollingPools(plan.topology, reader)).map((pool) =>
    roomForPool({ pool, kubevirt, accepted }, isNext),
  )
}

/** Where there are no others the master pool carries the VMs. */
async function rollingPools(
  topology: EusWindow['plan']['topology'],
  reader: Reader,
): Promise<readonly PausablePool[]> {
  if (topology !== 'compact') return pausablePools(reader)
  return [pausable((await readPool(reader, undefined)).pool)]
}

/** The other pools follow the control plane on a plain way, and are through before the operator and the next release. */
export async function poolsBehind({ name }: EusWindow, stop: Stop, reader: Reader): Promise<readonly Step[]> {
  return (await pausablePools(reader)).map((pool) => {
    const id = stop.version === undefined ? `rolled-${pool.name}` : `rolled-${pool.name}-${stop.version}`
    return rolledPool({ pool, name }, { id, dependsOn: [`request-${keyOf(stop)}`] })
  })
}

/** A pool whose nodes are about to be drained. */
interface Draining {
  pool: { name: string }
  kubevirt: Owner
  /** Ids of the risks that were accepted. */
  accepted: readonly string[]
}

/** Begins the note of what cannot go on and was accepted all the same. */
export const standsStill = 'accepted: its drains stand still at'

/** Right before the nodes of a pool are drained (night E5); `isNext` says whether they are about to be. */
function roomForPool(
  { pool, kubevirt, accepted }: Draining,
  isNext: (cx: ReadContext) => Promise<boolean>,
): Step {
  return {
    id: `room-${pool.name}`,
    title: `check the room for the VMs of pool ${pool.name}`,
    patience: { every: 15 * seconds, atMost: minutes },
    estimate: 5 * seconds,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx: ReadContext): Promise<StepState> {
      if (!(await isNext(cx))) return { is: 'done' }
      const { nodes } = await readPool(cx.reader, pool.name)
      const names = new Set(nodes.map(({ metadata }) => metadata.name))
      const { blocking, tooSmall } = await drainRoom(cx.reader, await readOwner(cx.reader, kubevirt), names)
      if (blocking.length > 0 && !accepted.includes('vms-block-drains')) return blockedBy(blocking, pool.name)
      if (tooSmall && !accepted.includes('no-room')) return noRoom(tooSmall)
      const standsAt = [
        ...(blocking.length > 0 ? [`the nodes of ${blocking.slice(0, 10).join(', ')}`] : []),
        ...(tooSmall ? [`node ${tooSmall.node}`] : []),
      ]
      return standsAt.length === 0
        ? { is: 'done' }
        : {
            is: 'done',
            note: `${standsStill} ${standsAt.join(' and ')} until VMs there stop`,
          }
    },
  }
}

/** Such a drain never ends: to accept it is not offered. */
function blockedBy(vms: readonly string[], pool: string): StepState {
  const [refuse, hold] = vms.length === 1 ? ['1 VM refuses', 'holds'] : [`${vms.length} VMs refuse`, 'hold']
  return {
    is: 'blocked',
    reason: 'vms-block-drains',
    by: `${refuse} to be evicted, and ${hold} the drains of pool ${pool} up: ${vms.slice(0, 10).join(', ')}`,
    remedy: [
      'kvup workloads unblock --all     lets them be evicted, once they are restarted',
      'kvup workloads restart     restarts those that need it',
    ],
  }
}

/** Such a drain never ends: to accept it is not offered. */
function noRoom({ node, asks, free }: NonNullable<DrainRoom['tooSmall']>): StepState {
  return {
    is: 'blocked',
    reason: 'no-room',
    by: `the VMs on node ${node} ask for ${inGib(asks)}, and the other nodes have ${inGib(free)} left`,
    remedy: [
      'kvup workloads forecast     shows where VMs can go',
      `make room for the VMs of node ${node}: stop VMs, or add a node; then run this again`,
    ],
  }
}

const gib = 1024 ** 3

const inGib = (bytes: number): string => `${(bytes / gib).toFixed(1)} GiB of memory`

/** What a pool's drains will meet, node after node (night E5). */
interface DrainRoom {
  /** `namespace/name` of VMs that refuse to be evicted: each holds its node's drain up for ever. */
  blocking: readonly string[]
  /** The node whose VMs ask for the most memory, where the other nodes together have less. */
  tooSmall?: { node: string; asks: number; free: number }
}

/** Only the drains of one node at a time are judged, by memory: where each VM goes is for the forecast. Throws ApiError. */
async function drainRoom(reader: Reader, kubevirt: KubeVirt, nodes: ReadonlySet<string>): Promise<DrainRoom> {
  const load = await loadOf(reader, kubevirt, nodes)
  const [largest] = [...load.memory].toSorted(([, a], [, b]) => b - a)
  if (largest === undefined) return { blocking: load.blocking }
  const [node, asks] = largest
  const free = await freeNextTo(await readPlaces(reader), node)
  if (free === undefined || asks <= free) return { blocking: load.blocking }
  return { blocking: load.blocking, tooSmall: { node, asks, free } }
}

interface Load {
  blocking: readonly string[]
  /** Of what moves, in bytes by node. */
  memory: ReadonlyMap<string, number>
}

async function loadOf(reader: Reader, kubevirt: KubeVirt, nodes: ReadonlySet<string>): Promise<Load> {
  const sharing = sharingOf(kubevirt)
  const clusterEviction = clusterEvictionOf(kubevirt)
  const blocking: string[] = []
  const memory = new Map<string, number>()
  for await (const vmi of running(reader)) {
    const node = vmi.status?.nodeName ?? ''
    if (!nodes.has(node)) continue
    const strategy = effectiveEviction(vmi, { clusterEviction })
    if (strategy === 'LiveMigrate' && condition(vmi, 'LiveMigratable')?.status === 'False')
      blocking.push(vmName(vmi))
    else memory.set(node, (memory.get(node) ?? 0) + (launcherResources(vmi, sharing)['memory'] ?? 0))
  }
  return { blocking, memory }
}

async function* running(reader: Reader): AsyncGenerator<VirtualMachineInstance> {
  for await (const { items } of orUnserved(reader.pages(VirtualMachineInstances)))
    yield* items.filter(({ status }) => status?.phase === 'Running')
}

/** Undefined where the room on a node is not known. */
async function freeNextTo(places: Places, node: string): Promise<number | undefined> {
  const others = places.nodes.filter((place) => place.metadata.name !== node && takesVms(place))
  const free = await Promise.all(others.map((place) => places.freeOn(place)))
  if (free.includes(undefined)) return undefined
  return free.reduce((sum, one) => sum + Math.max(0, one?.['memory'] ?? 0), 0)
}

function takesVms({ metadata, spec, status }: Place): boolean {
  const isReady = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  return isReady && spec?.unschedulable !== true && metadata.labels?.['kubevirt.io/schedulable'] === 'true'
}
