import type {
  ApiService,
  CustomResourceDefinition,
  Role,
  WebhookConfiguration,
} from '../cluster/kinds/extension.ts'
import type { ResourceQuota } from '../cluster/kinds/resource-quotas.ts'
import type { SilentLease } from './health/lease-watch.ts'
import type { ImageProbe } from './image-probe.ts'
import type { InstanceTally } from './instance-tally.ts'
import type { Known } from './known.ts'
import type { Named } from './named.ts'
import type { Snapshot } from './snapshot.ts'

/** A snapshot with everything that the checks judge by. Every part is known or not, and says why not. */
export interface Evidence extends Snapshot {
  /** CRDs of groups that end in kubevirt.io. */
  crds: Known<CustomResourceDefinition>
  /** APIServices of groups that end in kubevirt.io. */
  apiServices: Known<ApiService>
  /** Validating and mutating webhook configurations that call into KubeVirt's namespace. */
  webhooks: Known<WebhookConfiguration>
  /** Services of KubeVirt's namespace, with how many ready endpoints each has. */
  endpoints: Known<{ service: string; ready: number }>
  /** One item. */
  instances: Known<InstanceTally>
  /** One item. */
  machines: Known<MachineTally>
  /** ResourceQuotas of namespaces with VMIs. */
  quotas: Known<ResourceQuota>
  /** Snapshots, restores, clones, exports, backups and DataVolumes that are not finished (night C5). */
  dataJobs: Known<{ kind: string; name: string; phase: string }>
  /** Deschedulers, MachineHealthChecks and the like (night C4). */
  others: Known<{ kind: string; name: string; what: string }>
  /** ClusterRoles and Roles of the operator's ServiceAccount. */
  operatorRoles: Known<Role>
  /** What we may do of what the plan needs; one item per question that was asked. */
  rights: Known<{ what: string; allowed: boolean; optional: boolean }>
  /** One item: the uid of kube-system, which tells clusters apart. */
  clusterUid: Known<string>
  /** Leases of KubeVirt's leaders that did not change while they were watched; absent where nothing can be watched: of a saved cluster. */
  silentLeases?: Known<SilentLease>
  /** Settings that kvup has borrowed and not given back; absent where the journal was not looked at. */
  borrowed?: Known<{ id: string; by: string }>
  /** Which images of the target can be pulled, by pool of nodes (night C6); absent where it was not asked for. */
  probes?: Known<ImageProbe>
}

export type { ResourceQuota }

export interface MachineTally {
  total: number
  restartRequired: Named
}

/** The name of a part, for a check's needs. */
export type EvidencePart = Exclude<keyof Evidence, 'takenAt'>
