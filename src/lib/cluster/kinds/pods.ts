import type { Kind } from '../kind.ts'
import type { Condition, KubeObject, Metadata } from '../object.ts'

export interface Container {
  name: string
  image?: string
  imagePullPolicy?: string
  command?: string[]
  args?: string[]
  env?: { name: string; value?: string; valueFrom?: Record<string, unknown> }[]
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  securityContext?: Record<string, unknown>
}

export interface PodSpec {
  nodeName?: string
  serviceAccountName?: string
  restartPolicy?: string
  automountServiceAccountToken?: boolean
  enableServiceLinks?: boolean
  activeDeadlineSeconds?: number
  terminationGracePeriodSeconds?: number
  imagePullSecrets?: { name?: string }[]
  securityContext?: Record<string, unknown>
  nodeSelector?: Record<string, string>
  containers?: Container[]
  initContainers?: Container[]
  volumes?: ({ name: string } & Record<string, unknown>)[]
  affinity?: Record<string, unknown>
  tolerations?: Record<string, unknown>[]
  priorityClassName?: string
}

export interface PodTemplate {
  metadata?: Partial<Metadata>
  spec?: PodSpec
}

export interface ContainerStatus {
  name: string
  image?: string
  imageID?: string
  ready?: boolean
  started?: boolean
  restartCount?: number
  state?: ContainerState
  lastState?: ContainerState
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string }
  running?: { startedAt?: string }
  terminated?: {
    exitCode?: number
    reason?: string
    message?: string
    startedAt?: string
    finishedAt?: string
  }
}

export interface Pod extends KubeObject {
  spec?: PodSpec
  status?: {
    phase?: string
    reason?: string
    message?: string
    startTime?: string
    podIP?: string
    conditions?: Condition[]
    containerStatuses?: ContainerStatus[]
    initContainerStatuses?: ContainerStatus[]
  }
}

export const Pods: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
