import type { Question } from '../check-definition.ts'
import { gatesOf } from '../../kubevirt/installation.ts'
import type { Deployment, PodSpec } from '../../kube/kinds/workload-kinds.ts'
import { operatorContainer, operatorImage } from '../../manifests/manifest.ts'
import type { Releases } from '../../releases/releases.ts'
import { isBefore, type Version } from '../../releases/release-versions.ts'

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
interface ImageQuestion extends Pick<Question, 'installation' | 'releases'> {
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
  return !isBefore(question.target, 8) && enabled && isOn('Template', question, 9)
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
    isIn: (question) => !isBefore(question.target, 6) && isOn('DecentralizedLiveMigration', question),
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

/** Somebody's word first, else what the target does by itself. */
function isOn(gate: string, { installation, target }: ImageQuestion, from = Infinity): boolean {
  const { featureGates, disabledFeatureGates } = gatesOf(installation)
  if (featureGates.includes(gate)) return true
  return !disabledFeatureGates.includes(gate) && !isBefore(target, from)
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

/** What virt-operator makes its images from. */
interface ImageConfig {
  registry: string
  /** `corp-` in `registry/corp-virt-operator:v1.8.4`; mostly empty. */
  prefix: string
  tag: string
  /** What the Job that dumps the install strategy runs. */
  operator: string
  /** What its environment fixes; undefined where the value lies elsewhere (`valueFrom`). */
  fixed: ReadonlyMap<string, string | undefined>
}

/** What the KubeVirt resource says instead of the operator; an empty text is as good as none. */
interface Overrides {
  registry?: string | undefined
  tag?: string | undefined
}

/**
 * As virt-operator derives it from its own environment (facts 2.1, KV:pkg/virt-operator/util/config.go getConfig); undefined where its image
 * says nothing.
 */
function imageConfig(operator: Deployment, said: Overrides): ImageConfig | undefined {
  const { image, env = [] } = operatorContainer(operator) ?? { name: '' }
  const fixed = new Map(env.map(({ name, value }) => [name, value]))
  const own = [fixed.get('VIRT_OPERATOR_IMAGE'), fixed.get('OPERATOR_IMAGE'), image].find(Boolean)
  const parsed = operatorImage(own)
  if (own === undefined || parsed === undefined) return undefined
  const registry = said.registry || parsed.registry
  const tag = said.tag || tagOf(parsed.suffix, fixed.get('KUBEVIRT_VERSION'))
  // The prefix is lost there: that is how virt-operator does it.
  const other = said.registry || said.tag ? `${registry}/virt-operator:${tag}` : undefined
  return { registry, prefix: parsed.prefix, tag, operator: other ?? own, fixed }
}

/** A digest has no version in it. */
function tagOf(suffix: string, version: string | undefined): string {
  return suffix.startsWith(':') ? suffix.slice(1) : suffix === '' ? 'latest' : version || 'latest'
}

type Derived = { image: string } | { unknown: string }

/** The image of a component: what the environment fixes wins, be it an image or (up to v1.6) a checksum, else registry, prefix, name and tag. */
function imageOf(config: ImageConfig, name: string, variable: string): Derived {
  const { registry, prefix, tag, fixed } = config
  if (fixed.has(variable)) return fixedAs(variable, fixed.get(variable)) ?? composed()
  const checksum = variable.replace(/IMAGE$/u, 'SHASUM')
  const sum = fixed.get(checksum)
  return sum ? { image: `${registry}/${prefix}${name}@${sum}` } : composed()

  function composed(): Derived {
    return { image: `${registry}/${prefix}${name}:${tag}` }
  }
}

/** Undefined where the variable is empty, which is as good as none. */
function fixedAs(variable: string, value: string | undefined): Derived | undefined {
  if (value === undefined) return { unknown: `${variable} of virt-operator is filled in from elsewhere` }
  return value === '' ? undefined : { image: value }
}
