import type { Finding } from '../../checks/check-definition.ts'
import type { AdminGate } from '../../openshift/platform-status.ts'
import type { Topology } from '../../openshift/eus-window.ts'

/** From where a control-plane-only update goes to where, and all that decides on the way. Plain JSON; made by `makeEusPlan`. */
export interface EusPlan {
  flavour: 'ocp' | 'okd'
  topology: Topology['is']
  /** The platform's release now, `4.18.21`. In the middle of a window that of the hop that was reached. */
  from: string
  /** The platform's minor at the end, `4.20`. */
  to: string
  /**
   * `control-plane-only`: pools stay behind, paused, until the end. `plain`: the pools follow hop by hop, for there is none that may be
   * paused or nothing that tolerates it (night E10, ocp 3.7).
   */
  way: 'control-plane-only' | 'plain'
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
  time: PlanTime
  findings: readonly Finding[]
  /** Sentences for people: what it means for the cluster. */
  notes: readonly string[]
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

/** A range, and what it was worked out from. */
interface PlanTime {
  lowSeconds: number
  highSeconds: number
  basis: 'own-updates' | 'guess'
  /** In a sentence for people. */
  says: string
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
  gate: HopGate
  /** Open ones that block this hop. */
  adminGates: readonly AdminGate[]
  /** APIs that this hop takes away and that were asked for lately. */
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

/** What has to be so before each of the two steps (night E1), in words. */
interface HopGate {
  platform: readonly string[]
  operator: readonly string[]
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
  borrowed?: true
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
