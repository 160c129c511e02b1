import type { KubeObject, Metadata } from '../../cluster/object.ts'
import type { DeploymentConfig } from './deployment-config.ts'

export const identifier = 'kubevirt.io/install-strategy-identifier'
const generationStamp = 'kubevirt.io/generation'

/** Labels and annotations of a managed object (facts 2.6). */
export interface Stamps {
  labels: Record<string, string>
  annotations: Record<string, string>
}

/** The three annotations that tell which deployment an object, a Job or a pod belongs to. */
export function identity(config: DeploymentConfig): Record<string, string> {
  return {
    'kubevirt.io/install-strategy-version': config.kubeVirtVersion,
    'kubevirt.io/install-strategy-registry': config.registry,
    [identifier]: config.id,
  }
}

/** What a pod template carries; managed objects carry the CR's generation as well. */
export function podStamps(config: DeploymentConfig): Stamps {
  return {
    labels: {
      'app.kubernetes.io/managed-by': 'virt-operator',
      'app.kubernetes.io/component': 'kubevirt',
      'app.kubernetes.io/version': config.kubeVirtVersion,
    },
    annotations: identity(config),
  }
}

/** The object with its stamps. */
export function stamped<T extends KubeObject>(object: T, config: DeploymentConfig, generation: number): T {
  const { labels, annotations } = podStamps(config)
  const metadata: Metadata = {
    ...object.metadata,
    labels: { 'kubevirt.io': '', ...object.metadata.labels, ...labels },
    annotations: { ...object.metadata.annotations, ...annotations, [generationStamp]: String(generation) },
  }
  return { ...object, metadata }
}

/** True when the object belongs to that deployment and has seen that generation of the CR. */
export function bearsStamps(object: KubeObject, config: DeploymentConfig, generation: number): boolean {
  const { annotations } = object.metadata
  return annotations?.[identifier] === config.id && annotations[generationStamp] === String(generation)
}

/** True when a pod was made for that deployment. */
export function isOfDeployment(object: KubeObject, id: string): boolean {
  return object.metadata.annotations?.[identifier] === id
}
