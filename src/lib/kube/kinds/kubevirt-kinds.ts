import {
  type Conditions,
  type Kind,
  type KubeObject,
  type Texts,
  clusterKind,
  namespacedKind,
} from '../object.ts'

/** facts/kubevirt.md 1.1–1.4. `*DeploymentConfig` are JSON strings. */
export interface KubeVirt extends KubeObject {
  spec?: Texts<'imageTag' | 'imageRegistry' | 'imagePullPolicy' | 'productVersion' | 'productName'> & {
    imagePullSecrets?: { name?: string }[]
    workloadUpdateStrategy?: {
      workloadUpdateMethods?: string[] | null
      batchEvictionSize?: number
      batchEvictionInterval?: string
    } | null
    configuration?: Record<string, unknown>
    customizeComponents?: {
      patches?: { resourceName: string; resourceType: string; patch: string; type: string }[]
      flags?: unknown
    }
    infra?: { nodePlacement?: Record<string, unknown>; replicas?: number }
  }
  status?: Conditions &
    Texts<'phase' | 'operatorVersion' | 'defaultArchitecture' | Deployed<'target'> | Deployed<'observed'>> & {
      observedGeneration?: number
      outdatedVirtualMachineInstanceWorkloads?: number
      /** What virt-operator wrote itself, and the generation that its write left behind (since v0.41). */
      generations?: GenerationStatus[]
    }
}

type Deployed<Which extends string> =
  `${Which}${'KubeVirtRegistry' | 'KubeVirtVersion' | 'DeploymentConfig' | 'DeploymentID'}`

/** An object that virt-operator manages, in its own words. */
interface GenerationStatus {
  group: string
  resource: string
  namespace?: string
  name: string
  lastGeneration: number
}

export interface VirtualMachine extends KubeObject {
  spec?: {
    running?: boolean
    runStrategy?: string
    template?: { metadata?: Record<string, unknown>; spec?: InstanceSpec }
  }
  status?: Conditions & {
    printableStatus?: string
    ready?: boolean
    created?: boolean
    /** A start, stop or restart that somebody asked for; taken out once it was carried out. */
    stateChangeRequests?: { action: 'Start' | 'Stop' }[] | null
  }
}

interface InstanceSpec {
  evictionStrategy?: string
  nodeSelector?: Record<string, string>
  domain?: Record<string, unknown>
  volumes?: Record<string, unknown>[]
  networks?: Record<string, unknown>[]
}

interface Phases extends Conditions {
  phase?: string
  phaseTransitionTimestamps?: Texts<'phase' | 'phaseTransitionTimestamp'>[]
  migrationState?: MigrationState
}

/** Has no status subresource. */
export interface VirtualMachineInstance extends KubeObject {
  spec?: InstanceSpec
  status?: Phases & {
    nodeName?: string
    launcherContainerImageVersion?: string
    /** The ControllerRevision with the spec of its VM when it was started. */
    virtualMachineRevisionName?: string
    evacuationNodeName?: string
    activePods?: Record<string, string>
    migrationMethod?: string
    fsFreezeStatus?: string
    /** Volumes that a storage migration moves to other claims. */
    migratedVolumes?: { volumeName?: string }[]
    volumeStatus?: { name?: string; persistentVolumeClaimInfo?: { accessModes?: string[] } }[]
  }
}

/** Describes the last migration, which may be over. */
export interface MigrationState extends Texts<
  'startTimestamp' | 'endTimestamp' | 'sourceNode' | 'targetNode' | 'failureReason' | 'migrationUid' | 'mode'
> {
  migrationConfiguration?: { completionTimeoutPerGiB?: number }
  /** When the target node saw the guest active there. */
  targetNodeDomainReadyTimestamp?: string
  completed?: boolean
  failed?: boolean
}

export interface VirtualMachineInstanceMigration extends KubeObject {
  /** `sendTo` and `receive`: to and from another cluster. */
  spec?: { vmiName?: string; priority?: string; sendTo?: unknown; receive?: unknown }
  status?: Phases
}

/** Overrides the cluster's migration settings for the VMIs that it selects (facts 1.3). Its selectors are plain labels. */
export interface MigrationPolicy extends KubeObject {
  spec?: {
    bandwidthPerMigration?: string
    completionTimeoutPerGiB?: number
    allowAutoConverge?: boolean
    allowPostCopy?: boolean
    allowWorkloadDisruption?: boolean
    selectors?: {
      namespaceSelector?: Record<string, string>
      virtualMachineInstanceSelector?: Record<string, string>
    }
  }
}

/** What moves or copies the disks of VMs. */
export interface DataJob extends KubeObject {
  /** The VM, for all but DataVolumes. */
  spec?: { source?: Texts<'kind' | 'name'>; target?: Texts<'kind' | 'name'> }
  status?: Conditions & {
    phase?: string
    /** VirtualMachineRestore. */
    complete?: boolean
    /** VirtualMachineSnapshot. */
    readyToUse?: boolean
  }
}

const kubevirt = <T extends KubeObject>(kind: string): Kind<T> => namespacedKind('kubevirt.io/v1', kind)
const job = (group: string, kind: string, version = 'v1beta1'): Kind<DataJob> =>
  namespacedKind(`${group}.kubevirt.io/${version}`, kind)

export const KubeVirts = kubevirt<KubeVirt>('KubeVirt')
export const VirtualMachines = kubevirt<VirtualMachine>('VirtualMachine')
export const VirtualMachineInstances = kubevirt<VirtualMachineInstance>('VirtualMachineInstance')
export const VirtualMachineInstanceMigrations = kubevirt<VirtualMachineInstanceMigration>(
  'VirtualMachineInstanceMigration',
)
/** Keep instances without a VM at a number, as ReplicaSets keep pods; an HPA scales them through their subresource. */
export const InstanceReplicaSets = kubevirt('VirtualMachineInstanceReplicaSet')
export const MigrationPolicies = clusterKind<MigrationPolicy>(
  'migrations.kubevirt.io/v1alpha1',
  'MigrationPolicy',
  'migrationpolicies',
)
export const VirtualMachineSnapshots = job('snapshot', 'VirtualMachineSnapshot')
export const VirtualMachineRestores = job('snapshot', 'VirtualMachineRestore')
export const VirtualMachineClones = job('clone', 'VirtualMachineClone')
export const VirtualMachineExports = job('export', 'VirtualMachineExport')
export const VirtualMachineBackups = job('backup', 'VirtualMachineBackup', 'v1alpha1')
export const DataVolumes = job('cdi', 'DataVolume')
