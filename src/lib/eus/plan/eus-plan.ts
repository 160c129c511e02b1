import type { Finding } from '../../checks/check-definition.ts'
import type { AdminGate } from '../../openshift/platform-status.ts'
import type { Topology } from '../../openshift/eus-window.ts'

import { itemsOf } from '../../kube/known.ts'
import { poolOf } from '../../openshift/machine-config-pools.ts'
import { platformsOfKubernetes } from '../../releases/platform-releases.ts'
import { hours, minutes } from '../../kube/clock.ts'
import type { Range } from '../../upgrade/step-traits.ts'
import { inSeconds, inTurn, rangeWords } from '../../upgrade/upgrade-duration.ts'
import { ownUpdates } from '../../openshift/update-progress.ts'
import type { EusSnapshot } from './eus-snapshot.ts'

/** From where a control-plane-only update goes to where, and all that decides on the way. Plain JSON; made by `makeEusPlan`. */
export interface EusPlan {
  flavour: 'ocp' | 'okd'
  topology: Topology['is']
  /** The platform's release now, `4.18.21`. In the middle of a window that of the hop that was reached. */
  from: string
  /** The platform's minor at the end, `4.20`. */
  to: string
  /**
   * `control-plane-only`: pools stay behind, paused, until the end. `rolling`: the pools follow hop by hop, for there is none that may be
   * paused or nothing that tolerates it (night E10, ocp 3.7).
   */
  mode: 'control-plane-only' | 'rolling'
  /** The minor that the paused pools run, `4.18`: where the window began. */
  began: string
  /** Of the ClusterVersion. Absent: the channel that is set serves every hop that is known. */
  channel?: ChannelChange
  /** The oldest first. In the middle of a window also the hop that is under way; none where the target is reached. */
  hops: readonly EusHop[]
  /** Every pool but master that has machines. None on a plain way. */
  pools: readonly PoolToPause[]
  /** What would replace nodes while they are away (night E7). */
  healthChecks: readonly HealthCheckRef[]
  operator?: OperatorNow
  hyperconverged?: ObjectRef
  kubevirt?: ObjectRef
  /** Workload update methods that are given back at the end; kept from the HyperConverged, never from the KubeVirt (ocp 1.6). */
  methods: readonly string[]
  /** They could not be read: `methods` is empty and says nothing. */
  methodsUnknown?: true
  /** Of a single node, once in each hop; none elsewhere, or where they could not be read. */
  outages?: readonly VmOutage[]
  /** RFC 3339: unpause before. Only where paused pools miss certificates, before 4.14 (ocp 3.6). */
  unpauseBefore?: string
  /** A range, and what it was worked out from. */
  time: { lowSeconds: number; highSeconds: number; basis: 'own-updates' | 'guess'; says: string }
  findings: readonly Finding[]
  /** Sentences for people: what it means for the cluster. */
  notes: readonly string[]
  /** Those of them that are not so of every EUS upgrade. */
  remarks?: readonly string[]
  /** What KubeVirt does with the VMs at the end, in a sentence. */
  forecast?: string
  /** What could not be read, and what is not known because of it. */
  unknown: readonly string[]
}

/** A VM of a single node, which nothing can take while the node reboots. */
export interface VmOutage {
  /** `namespace/name` */
  vm: string
  /** Once the node is back: `is-lost`: nothing makes it again; `stays-down`: its runStrategy does not start it. */
  afterwards: 'comes-back' | 'stays-down' | 'is-lost'
  /** `containerDisk root`: volumes whose content ends with its pod. */
  loses?: readonly string[]
}

export interface ChannelChange {
  /** Absent: none is set. */
  from?: string
  to: string
}

/** One minor of the platform, and the operator behind it. */
export interface EusHop {
  /** `4.19` */
  minor: string
  platform: PlatformStop
  /** In order; the last one is where the operator has to be before the next hop. */
  operators: readonly OperatorStop[]
  /** What has to be so before each of the two steps (night E1), in words. */
  gate: { platform: readonly string[]; operator: readonly string[] }
  /** Open ones that block this hop. */
  adminGates: readonly AdminGate[]
  removedApis: readonly RemovedApi[]
  /** No VM on an old virt-launcher before this hop's platform step (ocp 6.3). */
  outdatedMustBeZero: boolean
  /** In seconds. */
  time: { lowSeconds: number; highSeconds: number }
}

/** A release of the platform. Without a version it is chosen when the hop is there, by the rule in `chosenBecause`. */
export interface PlatformStop {
  version?: string
  /** With its digest, as availableUpdates gives it. */
  image?: string
  /** To be set before; absent: the one that is set serves it. */
  channel?: string
  /** Nothing says whether a release of the next minor is reached from it, and pools would stay behind meanwhile (ocp 5.1). */
  unproven?: true
  chosenBecause: string
  done: boolean
}

/** A release of the operator. Without a version it is what OLM resolves then. */
export interface OperatorStop {
  version?: string
  csv?: string
  /** Of the Subscription, to be set before (OKD: one for each minor). */
  channel?: string
  chosenBecause: string
  done: boolean
}

export interface RemovedApi {
  /** As an APIRequestCount is named: `flowschemas.v1beta3.flowcontrol.apiserver.k8s.io`. */
  name: string
  /** The Kubernetes that lacks it: `1.32`. */
  removedIn: string
  /** Requests in the last 24 hours. */
  requests: number
}

export interface PoolToPause {
  name: string
  /** Where the object carries one: a pool that was made anew is another. */
  uid?: string
  machines: number
  /** Of the pool's `spec.maxUnavailable`; 1 where it is not set. */
  maxUnavailable: number | string
  /** By somebody else: not ours to give back (night E5). */
  paused: boolean
  /** Paused by kvup, in a window that is open. */
  pausedByKvup?: true
}

export interface HealthCheckRef {
  kind: 'MachineHealthCheck' | 'NodeHealthCheck'
  namespace?: string
  name: string
  paused: boolean
}

export interface OperatorNow {
  /** `kubevirt-hyperconverged`, on OKD `community-kubevirt-hyperconverged`. */
  package: string
  subscription: { namespace: string; name: string; uid: string }
  channel?: string
  approval: 'Automatic' | 'Manual'
  /** That of `status.versions` of the HyperConverged. */
  version?: string
  csv?: string
  /** CSVs that are known to lead on, from the installed one to the end of the way or as far as it is known: no other is approved (night E4). */
  path?: readonly string[]
}

export interface ObjectRef {
  /** `hyperconvergeds`, `kubevirts`. */
  resource: string
  namespace: string
  name: string
  uid: string
}

/** An update of a platform that nothing is known of (ocp 4.2: an hour is the usual guess). */
const guess: Range = { low: 45 * minutes, high: 2 * hours }
/** Most are through in 15 minutes (seed 003). */
export const operatorHop: Range = { low: 5 * minutes, high: 30 * minutes }
/** Drain, reboot and coming back, without VMs that take longer to leave. */
const nodeRoll: Range = { low: 6 * minutes, high: 20 * minutes }
/** How long one hop of the platform takes, from what its last update took and the median of all: one that stood still for days says nothing of the next. And what it is made from. */
export function platformHop({ snapshot }: EusSnapshot): Range & { basis: 'own-updates' | 'guess' } {
  const [cv] = itemsOf(snapshot.platform.clusterVersion)
  const { history = [] } = cv?.status ?? {}
  const own = ownUpdates(history)
  if (own === undefined) return { ...guess, basis: 'guess' }
  const { last, median } = own
  return { low: Math.min(last, median) * 0.75, high: Math.max(last, median) * 1.5, basis: 'own-updates' }
}

/** Of a hop that is under way: what its operator says is done is taken off. */
export function platformLeft(snapshot: EusSnapshot): Range {
  const { low, high } = platformHop(snapshot)
  const left = 1 - (snapshot.platformStatus.percent ?? 0) / 100
  return { low: low * left, high: high * left }
}

/** Once the platform is where it goes, machines whose kubelets have followed are done. */
export function poolsLeft(snapshot: EusSnapshot, pools: readonly PoolToPause[]): Range {
  const { nodes, pools: all } = snapshot.snapshot.platform
  const there = itemsOf(nodes).filter(({ status }) =>
    platformsOfKubernetes(status?.nodeInfo?.kubeletVersion).includes(snapshot.here),
  )
  const watched = (name: string) =>
    there.filter((node) => poolOf(node, itemsOf(all))?.metadata.name === name).length
  return poolRolls(
    pools.map((pool) => ({ ...pool, machines: Math.max(0, pool.machines - watched(pool.name)) })),
  )
}

type Rolling = Pick<PoolToPause, 'machines' | 'maxUnavailable'>

/** One pool after the other, so many machines of each at a time. */
export const poolRolls = (pools: readonly Rolling[]): Range => inTurn(pools.map(poolRoll))

function poolRoll({ machines, maxUnavailable }: Rolling): Range {
  const atATime = Math.max(1, atOnce(maxUnavailable, machines))
  const rounds = Math.ceil(machines / atATime)
  return { low: nodeRoll.low * rounds, high: nodeRoll.high * rounds }
}

/** A share is rounded down, as the machine config controller does it. */
function atOnce(maxUnavailable: number | string, machines: number): number {
  const text = String(maxUnavailable)
  return text.endsWith('%') ? Math.floor((machines * Number.parseFloat(text)) / 100) : Number(text) || 1
}

/** Of the whole window, with what it is made from. */
export function wholeTime(
  hops: readonly Range[],
  pools: Range,
  basis: 'own-updates' | 'guess',
): EusPlan['time'] {
  const whole = inTurn([...hops, pools])
  const made =
    basis === 'own-updates' ? "this platform's own updates" : 'a guess: this platform has no earlier update'
  return {
    ...inSeconds(whole),
    basis,
    says: `${rangeWords(whole)} of work, ${made}, plus time for approvals, VM migrations and blocked drains`,
  }
}
