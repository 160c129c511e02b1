import { type Condition, type KubeObject, type Metadata, namespacedKind } from '../object.ts'

interface LabelSelector {
  matchLabels?: Record<string, string>
}

export interface Deployment extends KubeObject {
  spec?: {
    replicas?: number
    selector?: LabelSelector
    template?: PodTemplate
    strategy?: Record<string, unknown>
    paused?: boolean
  }
  status?: {
    observedGeneration?: number
    replicas?: number
    updatedReplicas?: number
    readyReplicas?: number
    availableReplicas?: number
    conditions?: Condition[]
  }
}

export interface ReplicaSet extends KubeObject {
  spec?: { replicas?: number; selector?: LabelSelector; template?: PodTemplate }
  status?: {
    observedGeneration?: number
    replicas?: number
    readyReplicas?: number
    availableReplicas?: number
    fullyLabeledReplicas?: number
  }
}

export interface DaemonSet extends KubeObject {
  spec?: {
    selector?: LabelSelector
    template?: PodTemplate
    updateStrategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } }
  }
  status?: {
    observedGeneration?: number
    desiredNumberScheduled?: number
    currentNumberScheduled?: number
    updatedNumberScheduled?: number
    numberReady?: number
    numberAvailable?: number
    numberMisscheduled?: number
    numberUnavailable?: number
  }
}

/** Which ends of a pod count, and which fail its Job at once. */
export interface PodFailurePolicy {
  rules: {
    action: 'Ignore' | 'FailJob' | 'Count' | 'FailIndex'
    onExitCodes?: { operator: 'In' | 'NotIn'; values: number[] }
    onPodConditions?: { type: string; status?: string }[]
  }[]
}

export interface JobSpec {
  template?: PodTemplate
  backoffLimit?: number
  ttlSecondsAfterFinished?: number
  completions?: number
  parallelism?: number
  podReplacementPolicy?: string
  podFailurePolicy?: PodFailurePolicy
}

export interface Job extends KubeObject {
  spec?: JobSpec
  status?: {
    active?: number
    succeeded?: number
    failed?: number
    startTime?: string
    completionTime?: string
    conditions?: Condition[]
  }
}

export const Deployments = namespacedKind<Deployment>('apps/v1', 'Deployment')
export const ReplicaSets = namespacedKind<ReplicaSet>('apps/v1', 'ReplicaSet')
export const DaemonSets = namespacedKind<DaemonSet>('apps/v1', 'DaemonSet')
export const Jobs = namespacedKind<Job>('batch/v1', 'Job')

export interface CronJob extends KubeObject {
  spec?: { suspend?: boolean }
}
export const CronJobs = namespacedKind<CronJob>('batch/v1', 'CronJob')

/** A state that a controller keeps: of a VM its spec when it was last started. */
interface ControllerRevision extends KubeObject {
  data?: unknown
  revision?: number
}
export const ControllerRevisions = namespacedKind<ControllerRevision>('apps/v1', 'ControllerRevision')

export interface Container {
  name: string
  image?: string
  imagePullPolicy?: string
  command?: string[]
  args?: string[]
  env?: { name: string; value?: string; valueFrom?: Record<string, unknown> }[]
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  securityContext?: Record<string, unknown>
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[]
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

export const Pods = namespacedKind<Pod>('v1', 'Pod')
