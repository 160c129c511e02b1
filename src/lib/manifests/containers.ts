import type { Deployment } from '../cluster/kinds/apps.ts'
import type { Container } from '../cluster/kinds/pods.ts'
import type { KubeObject } from '../cluster/object.ts'

/** Every container of an object with a pod template, those to change in a copy included; none elsewhere. */
export function containersOf(object: KubeObject): Container[] {
  const pod = (object as Deployment).spec?.template?.spec
  return [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]
}
