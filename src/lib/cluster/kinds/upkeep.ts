import type { Kind } from '../kind.ts'
import type { Condition, KubeObject } from '../object.ts'

/** The Descheduler operator's resource. */
export interface KubeDescheduler extends KubeObject {
  spec?: { mode?: string; managementState?: string }
}

export interface NodeHealthCheck extends KubeObject {
  spec?: { pauseRequests?: string[] }
}

export interface MachineConfigPool extends KubeObject {
  spec?: { paused?: boolean; configuration?: { name?: string } }
  status?: {
    conditions?: Condition[]
    observedGeneration?: number
    configuration?: { name?: string }
    machineCount?: number
    updatedMachineCount?: number
    readyMachineCount?: number
  }
}

export interface CronJob extends KubeObject {
  spec?: { suspend?: boolean }
}

export const KubeDeschedulers: Kind<KubeDescheduler> = {
  apiVersion: 'operator.openshift.io/v1',
  kind: 'KubeDescheduler',
  plural: 'kubedeschedulers',
  namespaced: true,
}
export const CronJobs: Kind<CronJob> = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  namespaced: true,
}
export const OpenShiftMachineHealthChecks: Kind = {
  apiVersion: 'machine.openshift.io/v1beta1',
  kind: 'MachineHealthCheck',
  plural: 'machinehealthchecks',
  namespaced: true,
}
export const ClusterApiMachineHealthChecks: Kind = {
  apiVersion: 'cluster.x-k8s.io/v1beta1',
  kind: 'MachineHealthCheck',
  plural: 'machinehealthchecks',
  namespaced: true,
}
export const NodeHealthChecks: Kind<NodeHealthCheck> = {
  apiVersion: 'remediation.medik8s.io/v1alpha1',
  kind: 'NodeHealthCheck',
  plural: 'nodehealthchecks',
  namespaced: false,
}
export const MachineConfigPools: Kind<MachineConfigPool> = {
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfigPool',
  plural: 'machineconfigpools',
  namespaced: false,
}
