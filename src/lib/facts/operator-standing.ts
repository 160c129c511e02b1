import type { Deployment } from '../cluster/kinds/apps.ts'
import { versionOf } from '../releases/version.ts'
import { latest, since } from './elapsed.ts'
import { holderOf, operatorLeads } from './leader.ts'
import { operatorOf } from './operator.ts'
import { operatorPods, type Scene } from './scene.ts'

export interface OperatorStanding {
  version?: string
  image: string
  updated: number
  ready: number
  desired: number
  /** Kubernetes has seen its template, no pod of an older one is left, and there is a new one. */
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
  const desired = desiredReplicas(operator)
  const leader = holderOf(snapshot, operator.metadata.name, kubevirt.metadata.namespace)
  return {
    image,
    ...(version === undefined ? {} : { version }),
    // Of the old spec until Kubernetes has seen the new one.
    updated: isObserved(operator) ? Math.min(updatedReplicas, desired) : 0,
    // While it rolls there are more of them than are wanted.
    ready: Math.min(readyReplicas, desired),
    desired,
    rolled: isRolled(operator),
    leads: operatorLeads(scene),
    ...(leader === undefined ? {} : { leader }),
  }
}

/** For how long a new virt-operator is waited for to take the Lease and to speak, ms; the real one takes up to 23 s (lab 1). */
const silence = 2 * 60_000

/**
 * Its pods became ready a moment ago: that the KubeVirt resource says nothing of it yet, or another process holds the Lease, means
 * nothing so far. False where it cannot be told.
 */
export function isFresh(scene: Scene): boolean {
  const { operator, at } = scene
  const turnedReady = operatorPods(scene).flatMap(({ status }) =>
    (status?.conditions ?? []).filter((c) => c.type === 'Ready' && c.status === 'True'),
  )
  const known = turnedReady.length > 0 ? turnedReady : (operator?.status?.conditions ?? [])
  const age = since(latest(known.map((c) => c.lastTransitionTime)), at)
  return age !== undefined && age < silence
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
  const enough = Math.min(desiredReplicas(operator), 1)
  return isObserved(operator) && replicas === updatedReplicas && updatedReplicas >= enough
}

function desiredReplicas(operator: Deployment): number {
  return operator.spec?.replicas ?? 1
}

function isObserved({ metadata, status }: Deployment): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}
