import type { DaemonSet, Deployment } from '../../cluster/kinds/apps.ts'

/** One that does not run its present template everywhere. */
export interface NotRolled {
  /** With its count. */
  what: string
  /** Its present template was seen and no pod of an older one is left: only pods are missing, and nothing moves any more. */
  isShort: boolean
}

/** The first that does not run its present template everywhere, one that is moving before one that is only short; undefined where all do. */
export function notRolled(
  deployments: readonly Deployment[],
  daemonsets: readonly DaemonSet[],
): NotRolled | undefined {
  const open = [...deployments.map(deploymentCount), ...daemonsets.map(daemonSetCount)].filter(
    ({ done }) => !done,
  )
  const found = open.find(({ isShort }) => !isShort) ?? open[0]
  return found && { what: `${found.what} (${found.ready}/${found.wanted})`, isShort: found.isShort }
}

interface Count {
  what: string
  ready: number
  wanted: number
  done: boolean
  isShort: boolean
}

function deploymentCount(deployment: Deployment): Count {
  const wanted = deployment.spec?.replicas ?? 1
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = deployment.status ?? {}
  const ready = Math.min(updatedReplicas, availableReplicas)
  const done = isSeen(deployment) && ready >= wanted && replicas <= wanted
  const isShort = isSeen(deployment) && replicas <= updatedReplicas
  return { what: `deployment ${deployment.metadata.name}`, ready, wanted, done, isShort }
}

function daemonSetCount(daemonset: DaemonSet): Count {
  const {
    desiredNumberScheduled: wanted = 0,
    updatedNumberScheduled = 0,
    numberAvailable = 0,
  } = daemonset.status ?? {}
  const ready = Math.min(updatedNumberScheduled, numberAvailable)
  return {
    what: `daemonset ${daemonset.metadata.name}`,
    ready,
    wanted,
    done: isSeen(daemonset) && ready >= wanted,
    isShort: isSeen(daemonset) && updatedNumberScheduled >= wanted,
  }
}

/** What its status says is about the spec as it is now. */
function isSeen({ metadata, status }: Deployment | DaemonSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}
