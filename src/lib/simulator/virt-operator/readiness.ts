import type { DaemonSet, Deployment } from '../../cluster/kinds/apps.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { isReady } from '../machinery/pods.ts'
import type { OperatorContext, Pass } from './operator-context.ts'
import { isOfDeployment } from './stamp.ts'

/** The pods of a component, and which of them are of the wanted deployment. */
export interface ComponentPods {
  all: Pod[]
  updatedReady: number
  /** A running pod of another deployment is left. */
  oldRunning: boolean
}

export async function componentPods(
  cx: OperatorContext,
  { config }: Pass,
  component: Deployment | DaemonSet | undefined,
): Promise<ComponentPods> {
  const labels = Object.entries(component?.spec?.selector?.matchLabels ?? {})
    .map((pair) => pair.join('='))
    .join(',')
  const all = component ? await cx.reader.list(Pods, { namespace: config.namespace, labels }) : []
  const updated = all.filter((pod) => isOfDeployment(pod, config.id))
  return {
    all,
    updatedReady: updated.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length,
    oldRunning: all.some((pod) => pod.status?.phase === 'Running' && !isOfDeployment(pod, config.id)),
  }
}

/** The operator's own idea of a Deployment that is through: one updated ready pod, no old one (facts 2.9). */
export async function isRolled(cx: OperatorContext, pass: Pass, deployment: Deployment): Promise<boolean> {
  const { status = {}, metadata } = deployment
  const { observedGeneration = 0, replicas = 0, readyReplicas = 0 } = status
  if (observedGeneration < (metadata.generation ?? 0) || replicas === 0 || readyReplicas === 0) return false
  const pods = await componentPods(cx, pass, deployment)
  return pods.updatedReady > 0 && !pods.oldRunning
}
