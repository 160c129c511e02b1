import type { Kind } from '../kind.ts'
import type { Condition, KubeObject } from '../object.ts'

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
  startTimestamp?: string
  endTimestamp?: string
  sourceNode?: string
  targetNode?: string
  completed?: boolean
  failed?: boolean
  failureReason?: string
  migrationUid?: string
  mode?: string
}

export interface VirtualMachineInstanceMigration extends KubeObject {
  spec?: { vmiName?: string; priority?: string }
  status?: {
    phase?: string
    conditions?: Condition[]
    migrationState?: MigrationState
    phaseTransitionTimestamps?: { phase?: string; phaseTransitionTimestamp?: string }[]
  }
}

export const VirtualMachines: Kind<VirtualMachine> = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  plural: 'virtualmachines',
  namespaced: true,
}
export const VirtualMachineInstances: Kind<VirtualMachineInstance> = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  plural: 'virtualmachineinstances',
  namespaced: true,
}
export const VirtualMachineInstanceMigrations: Kind<VirtualMachineInstanceMigration> = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstanceMigration',
  plural: 'virtualmachineinstancemigrations',
  namespaced: true,
}
/** Keep instances without a VM at a number, as ReplicaSets keep pods; an HPA scales them through their subresource. */
export const InstanceReplicaSets: Kind = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstanceReplicaSet',
  plural: 'virtualmachineinstancereplicasets',
  namespaced: true,
}
