import type * as kube from '../kinds.ts'
import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults, MachineryFaults } from '../machinery/machinery-faults.ts'
import { createHash } from 'node:crypto'

/** A leading virt-operator. */
export interface Operator extends ControllerContext {
  readonly self: OperatorPod
  readonly faults: Faults<OperatorFaults>
  /** Writes an error into the pod's log. */
  readonly say: (msg: string, reason: string) => void
}

/** One pass over the CR. */
export interface Pass {
  readonly kubevirt: kube.KubeVirt
  readonly config: DeploymentConfig
  /** Of the CR: what managed objects are stamped with. */
  readonly generation: number
}

/** Something in a pass that the operator reports as DeploymentFailed and tries again. */
export class DeploymentFailure extends Error {
  override readonly name = 'DeploymentFailure'
}

/** What goes wrong with virt-operator, besides what goes wrong with pods. */
export interface OperatorFaults extends MachineryFaults {
  /** Its ClusterRole lacks a rule: every pass ends in "forbidden". */
  withoutRights?: boolean | undefined
  /** Its processes hang: nobody renews the Lease, nobody answers. */
  stopped?: boolean | undefined
  /** Objects of this CRD are stored in a version of old, which a new CRD may not drop (facts 1.6). */
  storedVersion?: { readonly crd: string; readonly version: string } | undefined
  /** Its status writes are refused, "etcdserver: request is too large": the CR says nothing new any more (facts 8, 5462). */
  statusTooLarge?: boolean | undefined
  /** Four seconds after AllComponentsReady it fails once on its own cache, and heals (lab "Seen" 2). */
  blipAfterReady?: boolean | undefined
  /**
   * virt-handler rolls a second and a third time (facts 2.8): behind KubeVirt's own done, or as it was recorded with one worker
   * (operator-v1.6.0-v1.7.0-1w), before it.
   */
  moreHandlerRolls?: boolean | 'before done' | undefined
  /** The second roll never comes, as it was recorded with three workers (operator-v1.6.0-v1.7.0): the argument stays away. Switched off it comes. */
  noMigrationNames?: boolean | undefined
  /** In each roll of virt-handler its node takes no VM (kubevirt.io/schedulable=false) for so many ms behind the new pod's start: up to two minutes on real nodes. */
  nodesClosedFor?: number | undefined
  /** From this minor on the release has a Deployment that nobody has heard of, whose pods bear no label `kubevirt.io`. */
  unknownComponent?: { readonly name: string; readonly since: number } | undefined
}

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
export function deploymentConfig(kubevirt: kube.KubeVirt, operator: OperatorPod): DeploymentConfig {
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
function additionalProperties({ spec = {} }: kube.KubeVirt, { version }: OperatorPod) {
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

/** What a virt-operator process knows of itself (facts 2.1). */
interface OperatorPod {
  name: string
  namespace: string
  registry: string
  imagePrefix: string
  tag: string
  /** The version that the binary was built as. */
  version: string
  env: ReadonlyMap<string, string>
}

const pattern = /^(.*)\/(.*)virt-operator(?:[@:](.*))?$/

/** Reads image and environment of the pod as the operator does. */
export function operatorPod({ metadata, spec }: kube.Pod): OperatorPod {
  const [container] = spec?.containers ?? []
  const env = new Map((container?.env ?? []).map(({ name, value = '' }) => [name, value]))
  const image = imageParts(env.get('VIRT_OPERATOR_IMAGE') ?? container?.image ?? '')
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    ...image,
    version: env.get('KUBEVIRT_VERSION') ?? image.tag,
    env,
  }
}

function imageParts(image: string): Pick<OperatorPod, 'registry' | 'imagePrefix' | 'tag'> {
  const [, registry = '', imagePrefix = '', tag = 'latest'] = pattern.exec(image) ?? []
  return { registry, imagePrefix, tag }
}

const numbers = (version: string): number[] | undefined =>
  /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number)

/** Negative when `a` is older than `b`; undefined when one of them is no version. */
export function versionOrder(a: string, b: string): number | undefined {
  const [left, right] = [numbers(a), numbers(b)]
  if (left === undefined || right === undefined) return undefined
  const different = left.findIndex((part, i) => part !== right[i])
  return different === -1 ? 0 : (left[different] ?? 0) - (right[different] ?? 0)
}

/** True for that minor of v1 and all later ones; something that is no version counts as new. */
export const isAtLeast = (version: string, minor: number): boolean =>
  (versionOrder(version, `v1.${minor}.0`) ?? 1) >= 0

const minorOf = (version: string): string => version.replace(/^(v?\d+\.\d+)\..*$/, '$1.0')

/** True when the minor of `a` is older than that of `b`. */
export const isOlderMinor = (a: string, b: string): boolean => (versionOrder(minorOf(a), minorOf(b)) ?? 0) < 0
