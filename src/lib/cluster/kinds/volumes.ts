import type { Kind } from '../kind.ts'
import type { KubeObject } from '../object.ts'

export interface PersistentVolumeClaim extends KubeObject {
  spec?: { volumeName?: string }
}
export const PersistentVolumeClaims: Kind<PersistentVolumeClaim> = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
}

interface Requirement {
  key: string
  operator: string
  values?: string[]
}

/** A local one names the nodes on which it can be used. */
export interface PersistentVolume extends KubeObject {
  spec?: {
    nodeAffinity?: {
      required?: { nodeSelectorTerms?: { matchExpressions?: Requirement[]; matchFields?: Requirement[] }[] }
    }
  }
}
export const PersistentVolumes: Kind<PersistentVolume> = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  namespaced: false,
}
