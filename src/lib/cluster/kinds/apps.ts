import type { Kind } from '../kind.ts'
import type { Condition, KubeObject } from '../object.ts'
import type { PodTemplate } from './pods.ts'

interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
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
    unavailableReplicas?: number
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
    numberUnavailable?: number
    numberMisscheduled?: number
  }
}

export interface Job extends KubeObject {
  spec?: { template?: PodTemplate; backoffLimit?: number }
  status?: {
    active?: number
    succeeded?: number
    failed?: number
    startTime?: string
    completionTime?: string
    conditions?: Condition[]
  }
}

export const Deployments: Kind<Deployment> = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
}
export const ReplicaSets: Kind<ReplicaSet> = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
}
export const DaemonSets: Kind<DaemonSet> = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  namespaced: true,
}
export const Jobs: Kind<Job> = { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs', namespaced: true }

/** A state that a controller keeps: of a VM its spec when it was last started. */
export interface ControllerRevision extends KubeObject {
  data?: unknown
  revision?: number
}
export const ControllerRevisions: Kind<ControllerRevision> = {
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  namespaced: true,
}
