import type { Kind } from '../kind.ts'
import type { Condition, KubeObject } from '../object.ts'

/** facts/kubevirt.md 1.1–1.4. `*DeploymentConfig` are JSON strings. */
export interface KubeVirt extends KubeObject {
  spec?: {
    imageTag?: string
    imageRegistry?: string
    imagePullPolicy?: string
    imagePullSecrets?: { name?: string }[]
    workloadUpdateStrategy?: WorkloadUpdateStrategy | null
    configuration?: Record<string, unknown>
    customizeComponents?: { patches?: CustomizePatch[]; flags?: unknown }
    infra?: ComponentConfig
    workloads?: ComponentConfig
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

interface WorkloadUpdateStrategy {
  workloadUpdateMethods?: string[] | null
  batchEvictionSize?: number
  batchEvictionInterval?: string
}

interface CustomizePatch {
  resourceName: string
  resourceType: string
  patch: string
  type: string
}

interface ComponentConfig {
  nodePlacement?: Record<string, unknown>
  replicas?: number
}

export const KubeVirts: Kind<KubeVirt> = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  plural: 'kubevirts',
  namespaced: true,
}
