import type { Deployment } from '../cluster/kinds/apps.ts'
import { versionOf } from '../releases/version.ts'
import { holderOf, operatorLeads } from './leader.ts'
import { operatorOf } from './operator.ts'
import type { Scene } from './scene.ts'

export interface OperatorStanding {
  version?: string
  image: string
  updated: number
  ready: number
  desired: number
  /** No pod of an older template is left, and none is to come. */
  rolled: boolean
  /** A pod of the current template holds the Lease. Undefined: it cannot be told. */
  leads: boolean | undefined
  leader?: string
}

/** Where the virt-operator Deployment stands; undefined when there is none to be seen. */
export function operatorStanding(scene: Scene): OperatorStanding | undefined {
  const { operator, snapshot, kubevirt } = scene
  if (!operator) return undefined
  const { image, version } = operatorOf(operator)
  const { updatedReplicas = 0, readyReplicas = 0 } = operator.status ?? {}
  const leader = holderOf(snapshot, operator.metadata.name, kubevirt.metadata.namespace)
  return {
    image,
    ...(version === undefined ? {} : { version }),
    // Of the old spec until Kubernetes has seen the new one.
    updated: isObserved(operator) ? updatedReplicas : 0,
    ready: readyReplicas,
    desired: desiredReplicas(operator),
    rolled: isRolled(operator),
    leads: operatorLeads(scene),
    ...(leader === undefined ? {} : { leader }),
  }
}

/**
 * What virt-operator wrote into the CR contradicts its Deployment: the new one has not spoken yet. Builds that
 * describe themselves otherwise than by a release (`v1.6.3-12-gabc`, a digest) cannot be compared and do not count.
 */
export function versionDiffers(scene: Scene, operator: OperatorStanding): boolean {
  const [said, deployed] = [release(scene.kubevirt.status?.operatorVersion), release(operator.version)]
  return said !== undefined && deployed !== undefined && said !== deployed
}

function release(text: string | undefined): string | undefined {
  return text && /^v?\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$/.test(text) ? versionOf(text)?.text : undefined
}

function isRolled(operator: Deployment): boolean {
  const { replicas = 0, updatedReplicas = 0 } = operator.status ?? {}
  return isObserved(operator) && replicas === updatedReplicas && updatedReplicas === desiredReplicas(operator)
}

function desiredReplicas(operator: Deployment): number {
  return operator.spec?.replicas ?? 1
}

function isObserved({ metadata, status }: Deployment): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}
