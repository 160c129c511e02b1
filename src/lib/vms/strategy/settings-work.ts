import type { Cluster } from '../../kube/cluster.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Installation } from '../../kubevirt/installation.ts'
import type { RolloutStatus } from '../../kubevirt/rollout-status.ts'
import type { RunEnvironment } from '../../engine/change.ts'
import type { SettingsOwner } from './settings-owner.ts'

/** The object that owns the settings: the KubeVirt, or its HyperConverged. */
export interface OwnerInDocument {
  apiVersion: string
  kind: string
  name: string
  namespace: string
}

/** What the commands that change the settings of workload updates work with. */
export interface SettingsWork {
  cluster: Cluster
  installation: Installation
  rolloutStatus: RolloutStatus
  owner: SettingsOwner
  /** The owner as it was read. */
  holding: KubeObject
  environment: RunEnvironment
}

/** How a document names the owner. */
export function ownerInDocument({ kind, ref }: SettingsOwner): {
  apiVersion: string
  kind: string
  name: string
  namespace: string
} {
  return { apiVersion: kind.apiVersion, kind: kind.kind, name: ref.name, namespace: ref.namespace }
}
