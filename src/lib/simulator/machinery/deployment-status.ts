import { type Deployment, Deployments, type ReplicaSet } from '../../cluster/kinds/apps.ts'
import type { Condition } from '../../cluster/object.ts'
import type { ControllerContext } from './controller.ts'
import { sameStatus } from './same-status.ts'

/** Writes the counts of a Deployment as its ReplicaSets have them. */
export async function reportDeployment(
  cx: ControllerContext,
  deployment: Deployment,
  current: ReplicaSet,
  old: readonly ReplicaSet[],
): Promise<void> {
  const all = [current, ...old]
  const count = (key: 'replicas' | 'readyReplicas' | 'availableReplicas') =>
    all.reduce((sum, set) => sum + (set.status?.[key] ?? 0), 0)
  const desired = deployment.spec?.replicas ?? 1
  const available = count('availableReplicas')
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 1,
    replicas: count('replicas'),
    updatedReplicas: current.status?.replicas ?? 0,
    readyReplicas: count('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, desired - available),
  }
  const conditions = conditionsOf(deployment, available >= desired, cx.clock.now().toISOString())
  const status = { ...counts, conditions }
  if (!sameStatus(deployment.status, status))
    await cx.writer.mergePatch(Deployments, deployment.metadata, { status }, 'status')
}

function conditionsOf({ status }: Deployment, available: boolean, now: string): Condition[] {
  const word = available ? 'True' : 'False'
  const before = status?.conditions?.find((c) => c.type === 'Available')
  if (before?.status === word) return status?.conditions ?? []
  return [
    {
      type: 'Available',
      status: word,
      reason: available ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: available
        ? 'Deployment has minimum availability.'
        : 'Deployment does not have minimum availability.',
      lastTransitionTime: now.replace(/\.\d+Z$/, 'Z'),
    },
  ]
}
