import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'

/** The Descheduler operator's resource. */
export interface KubeDescheduler extends KubeObject {
  spec?: { mode?: string; managementState?: string }
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
export const ClusterApiMachineHealthChecks: Kind = {
  apiVersion: 'cluster.x-k8s.io/v1beta1',
  kind: 'MachineHealthCheck',
  plural: 'machinehealthchecks',
  namespaced: true,
}
