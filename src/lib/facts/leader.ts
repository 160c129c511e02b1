import type { Deployment } from '../cluster/kinds/apps.ts'
import type { Pod } from '../cluster/kinds/pods.ts'
import { itemsOf } from './known.ts'
import { operatorPods, type Scene } from './scene.ts'
import type { Snapshot } from './snapshot.ts'

/** Who holds a Lease of KubeVirt's own: `virt-operator`, `virt-controller`. Undefined when nobody does or it is not known. */
export function holderOf(
  snapshot: Snapshot,
  lease: string,
  namespace: string | undefined,
): string | undefined {
  const found = itemsOf(snapshot.leases).find(
    (l) => l.metadata.name === lease && l.metadata.namespace === namespace,
  )
  return found?.spec?.holderIdentity || undefined
}

/**
 * True when a pod of the current template leads virt-operator, false when another one, a dead one or none does.
 * Undefined when it cannot be told: the Leases or pods may not be read, or the holder does not look like a pod.
 */
export function operatorLeads(scene: Scene): boolean | undefined {
  const { snapshot, operator, kubevirt } = scene
  if (!snapshot.leases.known || !snapshot.pods.known || !operator) return undefined
  const holder = holderOf(snapshot, operator.metadata.name, kubevirt.metadata.namespace)
  if (holder === undefined) return false
  const pod = operatorPods(scene).find((p) => holds(p, holder))
  if (pod) return !pod.metadata.deletionTimestamp && isOfTemplate(pod, operator, snapshot)
  // Outside of a cluster network a process is known by its machine's name, which tells nothing about a template.
  return holder.startsWith(`${operator.metadata.name}-`) ? false : undefined
}

/** client-go's identities are the pod's name, some with a random end behind an underscore. */
export function holds(pod: Pod, holder: string): boolean {
  return holder === pod.metadata.name || holder.startsWith(`${pod.metadata.name}_`)
}

/** By the hash of the newest ReplicaSet where it is known, else by what the containers run. */
function isOfTemplate(pod: Pod, operator: Deployment, snapshot: Snapshot): boolean {
  const hash = currentHash(operator, snapshot)
  if (hash !== undefined) return pod.metadata.labels?.['pod-template-hash'] === hash
  return (operator.spec?.template?.spec?.containers ?? []).every((wanted) => {
    const runs = pod.spec?.containers?.find((container) => container.name === wanted.name)
    return runs?.image === wanted.image && JSON.stringify(runs?.args) === JSON.stringify(wanted.args)
  })
}

function currentHash(operator: Deployment, snapshot: Snapshot): string | undefined {
  const key = 'deployment.kubernetes.io/revision'
  const observed = (operator.status?.observedGeneration ?? 0) >= (operator.metadata.generation ?? 0)
  const revision = operator.metadata.annotations?.[key]
  if (!observed || revision === undefined) return undefined
  return itemsOf(snapshot.replicaSets).find(
    (set) =>
      set.metadata.annotations?.[key] === revision &&
      set.metadata.ownerReferences?.some((owner) => owner.uid === operator.metadata.uid),
  )?.metadata.labels?.['pod-template-hash']
}
