import type { Deployment, ReplicaSet } from '../cluster/kinds/apps.ts'
import { itemsOf } from './known.ts'
import { holderOf, holds } from './leader.ts'
import { isUpdated } from './scene.ts'
import type { Snapshot } from './snapshot.ts'

const flag = '--launcher-image'

/** The image that every VMI's launcher is compared with: virt-controller's own argument (facts 2.10). Undefined: not seen. */
export function launcherImage(snapshot: Snapshot): string | undefined {
  const controller = itemsOf(snapshot.deployments).find((d) => d.metadata.name === 'virt-controller')
  return controller && launcherArgument(controller)
}

/** The same of one Deployment or ReplicaSet. */
export function launcherArgument({ spec }: Deployment | ReplicaSet): string | undefined {
  const args =
    spec?.template?.spec?.containers?.flatMap((c) => [...(c.command ?? []), ...(c.args ?? [])]) ?? []
  const place = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
  if (place < 0) return undefined
  return args[place] === flag ? args[place + 1] : args[place]?.slice(flag.length + 1)
}

/**
 * The virt-controller that leads was made for the target; only then outdated labels and counts are true (lab 10, 15).
 * Undefined when it cannot be told: Leases or pods may not be read, or the holder does not look like a pod.
 */
export function newControllerLeads(snapshot: Snapshot): boolean | undefined {
  if (!snapshot.leases.known || !snapshot.pods.known) return undefined
  const [kubevirt] = itemsOf(snapshot.kubevirts)
  const holder = holderOf(snapshot, 'virt-controller', kubevirt?.metadata.namespace)
  if (holder === undefined) return false
  const pod = snapshot.pods.items.find((p) => holds(p, holder))
  if (pod) return isUpdated(pod, kubevirt?.status?.targetDeploymentID)
  return holder.startsWith('virt-controller-') ? false : undefined
}
