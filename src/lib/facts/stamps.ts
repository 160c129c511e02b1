import type { KubeObject } from '../cluster/object.ts'

const prefix = 'kubevirt.io/install-strategy'

export const operatorName = 'virt-operator'
/** How the Job that dumps the install strategy is called to a person. */
export const strategyComponent = 'install strategy'
export const strategyPodLabel = 'virt-operator-strategy-dumper'

/** The deployment ID that an object, a pod template or a pod was made for (facts 2.6). */
export function identifierOf(object: Stamped): string | undefined {
  return object.metadata?.annotations?.[`${prefix}-identifier`]
}

/** The KubeVirt version that it was made for. */
export function stampedVersion(object: Stamped): string | undefined {
  return object.metadata?.annotations?.[`${prefix}-version`]
}

/** The value of the label `kubevirt.io`: the component's name. */
export function componentLabel(object: Stamped): string | undefined {
  return object.metadata?.labels?.['kubevirt.io']
}

/** Made by virt-operator: a component, or a pod of one (facts 2.6; `kubevirt-operator` is a very old value). */
export function isOperand(object: KubeObject): boolean {
  if (isOperator(object)) return false
  const by = object.metadata.labels?.['app.kubernetes.io/managed-by']
  return by === 'virt-operator' || by === 'kubevirt-operator' || identifierOf(object) !== undefined
}

/** The virt-operator Deployment, or a pod of it. */
export function isOperator(object: KubeObject): boolean {
  return object.metadata.name === operatorName || componentLabel(object) === operatorName
}

/** The selector of the pods that may be KubeVirt's: those without the label `kubevirt.io` as well, the pods of VMs not. */
export const podsBesideVms = 'kubevirt.io!=virt-launcher,kubevirt.io!=hotplug-disk'

interface Stamped {
  metadata?: Pick<KubeObject['metadata'], 'labels' | 'annotations'> | undefined
}
