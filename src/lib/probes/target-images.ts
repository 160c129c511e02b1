import type { Question } from '../checks/check.ts'
import { gatesOf } from '../checks/feature-gates.ts'
import type { Deployment } from '../cluster/kinds/apps.ts'
import type { PodSpec } from '../cluster/kinds/pods.ts'
import { operatorContainer } from '../manifests/operator-image.ts'
import type { Releases } from '../releases/releases.ts'
import type { Version } from '../releases/version.ts'
import { type Derived, type ImageConfig, imageConfig, imageOf } from './deployment-images.ts'

/** Where pods with the image run: virt-operator has a node affinity of its own, virt-launcher runs where virt-handler does. */
export type Place = 'operator' | 'infra' | 'workloads'

/** How a kubelet is to pull it. */
export type Pulling = Pick<PodSpec, 'imagePullSecrets'> & { imagePullPolicy?: string }

/** One image that the target needs. */
export type TargetImage = Derived & {
  of: string
  place: Place
  needed: boolean
  pulling: Pulling
}

/** The target, and the virt-operator that will look after it. */
export interface ImageQuestion extends Pick<Question, 'installation' | 'releases'> {
  target: Version
  /** Of the manifest, from the registry in use; with an image tag the one that runs. */
  operator: Deployment
  /** False with an image tag: virt-operator itself stays. */
  replacesOperator: boolean
}

/**
 * Every image that an installation of the target pulls, as its operator derives it, with the registry, pull secrets and pull policy of the
 * KubeVirt resource. Night C6; facts 2.1. What cannot be told is there with the reason.
 */
export function targetImages(question: ImageQuestion): readonly TargetImage[] {
  const { installation, operator, replacesOperator } = question
  const { spec = {} } = installation.kubevirt
  const tag = installation.imageTag === undefined && replacesOperator ? undefined : question.target.text
  const config = imageConfig(operator, { registry: installation.imageRegistry, tag })
  const pulling = pullingOf(spec.imagePullSecrets, spec.imagePullPolicy)
  const own = replacesOperator ? [operatorItself(operator)] : []
  if (config === undefined)
    return [
      ...own,
      {
        of: 'all components',
        place: 'infra',
        needed: true,
        pulling,
        unknown: 'virt-operator names no image',
      },
    ]
  const strategy = { of: 'the install strategy', place: 'infra', needed: true, pulling } as const
  const operands = components
    .filter(({ isIn }) => isIn?.(question) ?? true)
    .map((component) => operand(component, { config, question, pulling }))
  return [...own, { ...strategy, image: config.operator }, ...operands]
}

interface Around {
  config: ImageConfig
  question: ImageQuestion
  pulling: Pulling
}

function operand(component: Component, { config, question, pulling }: Around): TargetImage {
  const { name, variable, place, extra, ownTag } = component
  const image = ownTag ? ownTagged(config, component, question) : imageOf(config, name, variable)
  return { ...image, of: name, place, needed: !extra, pulling }
}

interface Component {
  name: string
  variable: string
  place: Place
  /** No update waits for it. */
  extra?: true
  ownTag?: true
  isIn?: (question: ImageQuestion) => boolean
}

const hasExport = (question: ImageQuestion) => isOn('VMExport', question, 9)
/** The gate is since v1.8, on by itself since v1.9, and the deployment can be left out (KV:pkg/virt-operator/util/config.go). */
const hasTemplates = (question: ImageQuestion) => {
  const configuration: Record<string, unknown> = question.installation.kubevirt.spec?.configuration ?? {}
  const { enabled = true } = (configuration['virtTemplateDeployment'] ?? {}) as { enabled?: boolean }
  return isFrom(question.target, 8) && enabled && isOn('Template', question, 9)
}

/** Names and variables: KV:pkg/virt-operator/util/config.go; who is deployed when: facts 2.5, lab "Seen" 6. */
const components: readonly Component[] = [
  { name: 'virt-api', variable: 'VIRT_API_IMAGE', place: 'infra' },
  { name: 'virt-controller', variable: 'VIRT_CONTROLLER_IMAGE', place: 'infra' },
  { name: 'virt-handler', variable: 'VIRT_HANDLER_IMAGE', place: 'workloads' },
  { name: 'virt-launcher', variable: 'VIRT_LAUNCHER_IMAGE', place: 'workloads' },
  { name: 'virt-exportproxy', variable: 'VIRT_EXPORTPROXY_IMAGE', place: 'infra', isIn: hasExport },
  {
    name: 'virt-exportserver',
    variable: 'VIRT_EXPORTSERVER_IMAGE',
    place: 'workloads',
    extra: true,
    isIn: hasExport,
  },
  {
    name: 'virt-synchronization-controller',
    variable: 'VIRT_SYNCHRONIZATIONCONTROLLER_IMAGE',
    place: 'infra',
    isIn: (question) => isFrom(question.target, 6) && isOn('DecentralizedLiveMigration', question),
  },
  ...(['apiserver', 'controller'] as const).map((part) => ({
    name: `virt-template-${part}`,
    variable: `VIRT_TEMPLATE_${part.toUpperCase()}_IMAGE`,
    place: 'infra' as const,
    ownTag: true as const,
    isIn: hasTemplates,
  })),
  {
    name: 'pr-helper',
    variable: 'PR_HELPER_IMAGE',
    place: 'workloads',
    isIn: (question) => isOn('PersistentReservation', question),
  },
  {
    name: 'sidecar-shim',
    variable: 'SIDECAR_SHIM_IMAGE',
    place: 'workloads',
    extra: true,
    isIn: (question) => isOn('Sidecar', question),
  },
  { name: 'libguestfs-tools', variable: 'GS_IMAGE', place: 'workloads', extra: true },
]

const isFrom = ({ major, minor }: Version, first: number): boolean =>
  major > 1 || (major === 1 && minor >= first)

/** Somebody's word first, else what the target does by itself. */
function isOn(gate: string, { installation, target }: ImageQuestion, from = Infinity): boolean {
  const { featureGates, disabledFeatureGates } = gatesOf(installation)
  if (featureGates.includes(gate)) return true
  return !disabledFeatureGates.includes(gate) && isFrom(target, from)
}

/** The bundle inside virt-operator names the tag; only release data tells it from outside. */
function ownTagged(
  config: ImageConfig,
  { name, variable }: Pick<Component, 'name' | 'variable'>,
  { releases, target }: { releases: Releases; target: Version },
): Derived {
  if (config.fixed.get(variable)) return imageOf(config, name, variable)
  const known = releases.ownTags?.find((one) => one.in === target.text && one.image === name)
  if (known === undefined)
    return { unknown: `its tag is its own, and neither the manifest nor the release data says which` }
  return { image: `${config.registry}/${config.prefix}${name}:${known.tag}` }
}

function operatorItself(operator: Deployment): TargetImage {
  const container = operatorContainer(operator)
  const image = container?.image
  return {
    of: 'virt-operator',
    place: 'operator',
    needed: true,
    pulling: pullingOf(operator.spec?.template?.spec?.imagePullSecrets, container?.imagePullPolicy),
    ...(image ? { image } : { unknown: 'its Deployment names none' }),
  }
}

function pullingOf(secrets: PodSpec['imagePullSecrets'], policy: string | undefined): Pulling {
  return {
    ...(secrets && secrets.length > 0 && { imagePullSecrets: secrets }),
    imagePullPolicy: policy || 'IfNotPresent',
  }
}
