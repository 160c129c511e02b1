import type { DaemonSet, Deployment } from '../../cluster/kinds/apps.ts'

/** The first that does not run its present template everywhere, with its count; undefined where all do. */
export function notRolled(
  deployments: readonly Deployment[],
  daemonsets: readonly DaemonSet[],
): string | undefined {
  const found = [...deployments.map(deploymentCount), ...daemonsets.map(daemonSetCount)].find(
    ({ done }) => !done,
  )
  return found && `${found.what} (${found.ready}/${found.wanted})`
}

interface Count {
  what: string
  ready: number
  wanted: number
  done: boolean
}

function deploymentCount(deployment: Deployment): Count {
  const wanted = deployment.spec?.replicas ?? 1
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = deployment.status ?? {}
  const ready = Math.min(updatedReplicas, availableReplicas)
  const done = isSeen(deployment) && ready >= wanted && replicas <= wanted
  return { what: `deployment ${deployment.metadata.name}`, ready, wanted, done }
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
  }
}

/** What its status says is about the spec as it is now. */
function isSeen({ metadata, status }: Deployment | DaemonSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}
