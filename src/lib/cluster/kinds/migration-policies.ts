import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'

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

export const MigrationPolicies: Kind<MigrationPolicy> = {
  apiVersion: 'migrations.kubevirt.io/v1alpha1',
  kind: 'MigrationPolicy',
  plural: 'migrationpolicies',
  namespaced: false,
}
