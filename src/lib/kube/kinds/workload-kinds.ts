import {
  type Conditions,
  type Kind,
  type KubeObject,
  type Metadata,
  type Numbers,
  type Texts,
  namespacedKind,
} from '../object.ts'

interface Selecting {
  selector?: { matchLabels?: Record<string, string> }
  template?: PodTemplate
}

export interface Deployment extends KubeObject {
  spec?: Selecting & { replicas?: number; strategy?: Record<string, unknown>; paused?: boolean }
  status?: Conditions &
    Numbers<'observedGeneration' | 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'>
}

export interface ReplicaSet extends KubeObject {
  spec?: Selecting & { replicas?: number }
  status?: Numbers<
    'observedGeneration' | 'replicas' | 'readyReplicas' | 'availableReplicas' | 'fullyLabeledReplicas'
  >
}

export interface DaemonSet extends KubeObject {
  spec?: Selecting & {
    updateStrategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } }
  }
  status?: Numbers<
    | 'observedGeneration'
    | `${'desired' | 'current' | 'updated'}NumberScheduled`
    | `number${'Ready' | 'Available' | 'Misscheduled' | 'Unavailable'}`
  >
}

export interface JobSpec extends Numbers<
  'backoffLimit' | 'ttlSecondsAfterFinished' | 'completions' | 'parallelism'
> {
  template?: PodTemplate
  podReplacementPolicy?: string
  /** Which ends of a pod count, and which fail its Job at once. */
  podFailurePolicy?: {
    rules: {
      action: 'Ignore' | 'FailJob' | 'Count' | 'FailIndex'
      onExitCodes?: { operator: 'In' | 'NotIn'; values: number[] }
      onPodConditions?: { type: string; status?: string }[]
    }[]
  }
}

export interface Job extends KubeObject {
  spec?: JobSpec
  status?: Conditions & Numbers<'active' | 'succeeded' | 'failed'> & Texts<'startTime' | 'completionTime'>
}

export interface CronJob extends KubeObject {
  spec?: { suspend?: boolean }
}

/** A state that a controller keeps: of a VM its spec when it was last started. */
interface ControllerRevision extends KubeObject {
  data?: unknown
  revision?: number
}

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

export interface PodSpec
  extends
    Texts<'nodeName' | 'serviceAccountName' | 'restartPolicy' | 'priorityClassName'>,
    Numbers<'activeDeadlineSeconds' | 'terminationGracePeriodSeconds'> {
  automountServiceAccountToken?: boolean
  enableServiceLinks?: boolean
  imagePullSecrets?: { name?: string }[]
  securityContext?: Record<string, unknown>
  nodeSelector?: Record<string, string>
  containers?: Container[]
  initContainers?: Container[]
  volumes?: ({ name: string } & Record<string, unknown>)[]
  affinity?: Record<string, unknown>
  tolerations?: Record<string, unknown>[]
}

export interface PodTemplate {
  metadata?: Partial<Metadata>
  spec?: PodSpec
}

export interface ContainerStatus extends Texts<'image' | 'imageID'> {
  name: string
  ready?: boolean
  started?: boolean
  restartCount?: number
  state?: ContainerState
  lastState?: ContainerState
}

export interface ContainerState {
  waiting?: Texts<'reason' | 'message'>
  running?: { startedAt?: string }
  terminated?: Texts<'reason' | 'message' | 'finishedAt'> & { exitCode?: number }
}

export interface Pod extends KubeObject {
  spec?: PodSpec
  status?: Conditions &
    Texts<'phase' | 'reason' | 'message' | 'startTime' | 'podIP'> & {
      containerStatuses?: ContainerStatus[]
      initContainerStatuses?: ContainerStatus[]
    }
}

const apps = <T extends KubeObject>(kind: string): Kind<T> => namespacedKind('apps/v1', kind)

export const Deployments = apps<Deployment>('Deployment')
export const ReplicaSets = apps<ReplicaSet>('ReplicaSet')
export const DaemonSets = apps<DaemonSet>('DaemonSet')
export const ControllerRevisions = apps<ControllerRevision>('ControllerRevision')
export const Jobs = namespacedKind<Job>('batch/v1', 'Job')
export const CronJobs = namespacedKind<CronJob>('batch/v1', 'CronJob')
export const Pods = namespacedKind<Pod>('v1', 'Pod')
