import { createHash } from 'node:crypto'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { OperatorPod } from './operator-pod.ts'
import { isAtLeast } from './version-order.ts'

/** What is to be deployed: facts 1.4 and 2.3. */
export interface DeploymentConfig {
  readonly id: string
  readonly namespace: string
  readonly registry: string
  readonly imagePrefix: string
  readonly kubeVirtVersion: string
  readonly virtOperatorImage: string
  /** Component images that the operator's environment pins. */
  readonly pinned: Readonly<Record<string, string>>
  readonly additionalProperties: Readonly<Record<string, string>>
}

/** The configuration that the CR asks this operator for. Without imageTag and imageRegistry it is the operator's own. */
export function deploymentConfig(kubevirt: KubeVirt, operator: OperatorPod): DeploymentConfig {
  const { imageTag = '', imageRegistry = '' } = kubevirt.spec ?? {}
  const registry = imageRegistry === '' ? operator.registry : imageRegistry
  const tag = imageTag === '' ? operator.tag : imageTag
  const config = {
    namespace: operator.namespace,
    registry,
    imagePrefix: operator.imagePrefix,
    kubeVirtVersion: imageTag === '' ? operator.version : imageTag,
    virtOperatorImage: `${registry}/${operator.imagePrefix}virt-operator:${tag}`,
    pinned: pinnedImages(operator),
    additionalProperties: additionalProperties(kubevirt, operator),
  }
  return { ...config, id: createHash('sha1').update(JSON.stringify(config)).digest('hex') }
}

/** The image of a component: what the environment pins wins over registry and tag (facts 2.1). */
export function imageOf(config: DeploymentConfig, component: string): string {
  const variable = `${component.replace('virt-synchronization-controller', 'virt-synchronizationcontroller').replaceAll('-', '_').toUpperCase()}_IMAGE`
  return (
    config.pinned[variable] ??
    `${config.registry}/${config.imagePrefix}${component}:${config.kubeVirtVersion}`
  )
}

/** As `status.targetDeploymentConfig` and the strategy Job's environment have it. */
export function configText({ pinned, ...config }: DeploymentConfig): string {
  const images = Object.entries(pinned).map(([name, image]) => [configKey(name), image] as const)
  return JSON.stringify({ ...config, ...Object.fromEntries(images) })
}

const configKey = (variable: string): string =>
  variable.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

function pinnedImages({ env }: OperatorPod): Record<string, string> {
  const images = [...env].filter(
    ([name]) => name.endsWith('_IMAGE') && name !== 'VIRT_OPERATOR_IMAGE' && name !== 'OPERATOR_IMAGE',
  )
  return Object.fromEntries(images)
}

/** Newer operators know more properties, so the same version under another operator has another ID (lab "Seen" 7). */
function additionalProperties({ spec = {} }: KubeVirt, { version }: OperatorPod): Record<string, string> {
  const { imagePullPolicy = '', productName = '', productVersion = '', configuration = {} } = spec
  const { network } = (configuration['migrations'] ?? {}) as { network?: string }
  return {
    ImagePullPolicy: imagePullPolicy,
    ProductName: productName,
    ProductVersion: productVersion,
    ...(network === undefined ? {} : { MigrationNetwork: network }),
    ...(isAtLeast(version, 8) ? { HypervisorName: 'kvm' } : {}),
    ...(isAtLeast(version, 9) ? { Template: 'true' } : {}),
  }
}
