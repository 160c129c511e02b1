import { type Condition, type Kind, type KubeObject, clusterKind, namespacedKind } from '../object.ts'

/** facts/kubevirt.md 1.1–1.4. `*DeploymentConfig` are JSON strings. */
export interface KubeVirt extends KubeObject {
  spec?: {
    imageTag?: string
    imageRegistry?: string
    imagePullPolicy?: string
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
    productVersion?: string
    productName?: string
  }
  status?: {
    phase?: string
    conditions?: Condition[]
    operatorVersion?: string
    targetKubeVirtRegistry?: string
    targetKubeVirtVersion?: string
    targetDeploymentConfig?: string
    targetDeploymentID?: string
    observedKubeVirtRegistry?: string
    observedKubeVirtVersion?: string
    observedDeploymentConfig?: string
    observedDeploymentID?: string
    observedGeneration?: number
    outdatedVirtualMachineInstanceWorkloads?: number
    defaultArchitecture?: string
    /** What virt-operator wrote itself, and the generation that its write left behind (since v0.41). */
    generations?: GenerationStatus[]
  }
}

/** An object that virt-operator manages, in its own words. */
interface GenerationStatus {
  group: string
  resource: string
  namespace?: string
  name: string
  lastGeneration: number
}

export const KubeVirts = namespacedKind<KubeVirt>('kubevirt.io/v1', 'KubeVirt')

export interface VirtualMachine extends KubeObject {
  spec?: {
    running?: boolean
    runStrategy?: string
    template?: { metadata?: Record<string, unknown>; spec?: InstanceSpec }
  }
  status?: {
    printableStatus?: string
    ready?: boolean
    created?: boolean
    conditions?: Condition[]
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

/** Has no status subresource. */
export interface VirtualMachineInstance extends KubeObject {
  spec?: InstanceSpec
  status?: {
    phase?: string
    nodeName?: string
    conditions?: Condition[]
    phaseTransitionTimestamps?: { phase?: string; phaseTransitionTimestamp?: string }[]
    launcherContainerImageVersion?: string
    /** The ControllerRevision with the spec of its VM when it was started. */
    virtualMachineRevisionName?: string
    evacuationNodeName?: string
    activePods?: Record<string, string>
    migrationMethod?: string
    migrationState?: MigrationState
    fsFreezeStatus?: string
    /** Volumes that a storage migration moves to other claims. */
    migratedVolumes?: { volumeName?: string }[]
    volumeStatus?: { name?: string; persistentVolumeClaimInfo?: { accessModes?: string[] } }[]
  }
}

/** Describes the last migration, which may be over. */
export interface MigrationState {
  migrationConfiguration?: { completionTimeoutPerGiB?: number }
  startTimestamp?: string
  endTimestamp?: string
  /** When the target node saw the guest active there. */
  targetNodeDomainReadyTimestamp?: string
  sourceNode?: string
  targetNode?: string
  completed?: boolean
  failed?: boolean
  failureReason?: string
  migrationUid?: string
  mode?: string
}

export interface VirtualMachineInstanceMigration extends KubeObject {
  /** `sendTo` and `receive`: to and from another cluster. */
  spec?: { vmiName?: string; priority?: string; sendTo?: unknown; receive?: unknown }
  status?: {
    phase?: string
    conditions?: Condition[]
    migrationState?: MigrationState
    phaseTransitionTimestamps?: { phase?: string; phaseTransitionTimestamp?: string }[]
  }
}

export const VirtualMachines = namespacedKind<VirtualMachine>('kubevirt.io/v1', 'VirtualMachine')
export const VirtualMachineInstances = namespacedKind<VirtualMachineInstance>(
  'kubevirt.io/v1',
  'VirtualMachineInstance',
)
export const VirtualMachineInstanceMigrations = namespacedKind<VirtualMachineInstanceMigration>(
  'kubevirt.io/v1',
  'VirtualMachineInstanceMigration',
)
/** Keep instances without a VM at a number, as ReplicaSets keep pods; an HPA scales them through their subresource. */
export const InstanceReplicaSets = namespacedKind('kubevirt.io/v1', 'VirtualMachineInstanceReplicaSet')

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

export const MigrationPolicies = clusterKind<MigrationPolicy>(
  'migrations.kubevirt.io/v1alpha1',
  'MigrationPolicy',
  'migrationpolicies',
)

/** What moves or copies the disks of VMs. */
export interface DataJob extends KubeObject {
  /** The VM, for all but DataVolumes. */
  spec?: {
    source?: { kind?: string; name?: string }
    target?: { kind?: string; name?: string }
  }
  status?: {
    phase?: string
    /** VirtualMachineRestore. */
    complete?: boolean
    /** VirtualMachineSnapshot. */
    readyToUse?: boolean
    conditions?: Condition[]
  }
}

const job = (apiVersion: string, kind: string): Kind<DataJob> => namespacedKind(apiVersion, kind)

export const VirtualMachineSnapshots = job('snapshot.kubevirt.io/v1beta1', 'VirtualMachineSnapshot')
export const VirtualMachineRestores = job('snapshot.kubevirt.io/v1beta1', 'VirtualMachineRestore')
export const VirtualMachineClones = job('clone.kubevirt.io/v1beta1', 'VirtualMachineClone')
export const VirtualMachineExports = job('export.kubevirt.io/v1beta1', 'VirtualMachineExport')
export const VirtualMachineBackups = job('backup.kubevirt.io/v1alpha1', 'VirtualMachineBackup')
export const DataVolumes = job('cdi.kubevirt.io/v1beta1', 'DataVolume')
