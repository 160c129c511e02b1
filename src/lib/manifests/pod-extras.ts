import type { Deployment } from '../cluster/kinds/apps.ts'
import type { Container, PodSpec } from '../cluster/kinds/pods.ts'
import { operatorContainer, operatorImage } from './operator-image.ts'

/** What a container may hold besides the fields that kvup reads elsewhere. */
type AnyContainer = Container & Record<string, unknown>
type AnyPod = PodSpec & Record<string, unknown>

/**
 * What the pods of this operator do beyond those of the operator that runs now, in words: other containers, other programs in its own one, ways to the node, images from
 * elsewhere. General rules, and the operator in the cluster; no table of a release, for releases to come have to pass. Pure.
 */
export function podExtras(wanted: Deployment, live: Deployment | undefined): string[] {
  const pod = (wanted.spec?.template?.spec ?? {}) as AnyPod
  const before = (live?.spec?.template?.spec ?? {}) as AnyPod
  const own = operatorContainer(wanted)
  const registry = operatorImage(own?.image)?.registry
  return [
    ...(own !== undefined && registry === undefined
      ? [`runs the image ${own.image ?? '(none)'}, which is no virt-operator`]
      : []),
    ...strangers(pod, before),
    ...hostUse(pod, before),
    ...volumeExtras(pod, before),
    ...privileges('its pods', pod.securityContext, before.securityContext),
    ...accountExtras(pod, before),
    ...containersIn(pod).flatMap((container) =>
      containerExtras(
        container,
        containersIn(before).find(({ name }) => name === container.name),
        {
          registry,
          isOwn: container === own,
        },
      ),
    ),
  ]
}

const containersIn = (pod: AnyPod): AnyContainer[] =>
  [pod.initContainers, pod.containers, pod['ephemeralContainers']].flatMap(
    (list) => (list ?? []) as AnyContainer[],
  )

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A release has one container, and no operator of today may say otherwise but the one that runs. */
function strangers(pod: AnyPod, before: AnyPod): string[] {
  const known = new Set(['virt-operator', ...(before.containers ?? []).map(({ name }) => name)])
  const knownInit = new Set((before.initContainers ?? []).map(({ name }) => name))
  return [
    ...(pod.containers ?? [])
      .filter(({ name }, index) => !known.has(name) && (index > 0 || pod.containers?.length !== 1))
      .map(({ name, image = '' }) => `adds the container ${name} (${image})`),
    ...(pod.initContainers ?? [])
      .filter(({ name }) => !knownInit.has(name))
      .map(({ name, image = '' }) => `adds the initContainer ${name} (${image})`),
  ]
}

const hostFields = ['hostPID', 'hostNetwork', 'hostIPC', 'shareProcessNamespace'] as const

const hostUse = (pod: AnyPod, before: AnyPod): string[] =>
  hostFields.filter((field) => pod[field] === true && before[field] !== true).map((field) => `sets ${field}`)

/** What cannot reach beyond the pod, or no further than its own account can. */
const harmless: ReadonlySet<string> = new Set(['emptyDir', 'secret', 'configMap', 'downwardAPI', 'projected'])

function volumeExtras(pod: AnyPod, before: AnyPod): string[] {
  return (pod.volumes ?? []).flatMap(({ name, ...source }) => {
    const kinds = Object.keys(source).filter((kind) => !harmless.has(kind))
    const isThere = (before.volumes ?? []).some((volume) => same(volume, { name, ...source }))
    return isThere || kinds.length === 0 ? [] : [`mounts ${kinds.join(', ')} as volume ${name}`]
  })
}

function accountExtras(pod: AnyPod, before: AnyPod): string[] {
  const { serviceAccountName: name } = pod
  const now = before.serviceAccountName
  return now === undefined || name === now ? [] : [`runs under the account ${name ?? 'default'}, not ${now}`]
}

interface Around {
  registry: string | undefined
  isOwn: boolean
}

function containerExtras(
  container: AnyContainer,
  before: AnyContainer | undefined,
  { registry, isOwn }: Around,
): string[] {
  const of = `container ${container.name}`
  const { command, image } = container
  const foreign = !isOwn && registry !== undefined && isFrom(image ?? '', registry) === false
  return [
    ...(foreign && image !== before?.image ? [`takes ${image} from another registry`] : []),
    ...(isOwn && command !== undefined && !isOperatorCommand(command) && !same(command, before?.command)
      ? [`runs ${command.join(' ').slice(0, 80)} in place of virt-operator`]
      : []),
    ...privileges(of, container.securityContext, before?.securityContext),
    ...hooks(container, before),
    ...environment(container, before, registry),
    ...((container['volumeDevices'] as unknown[] | undefined)?.length ? [`${of} has devices`] : []),
  ]
}

const isOperatorCommand = (command: readonly string[]): boolean =>
  command.length === 1 && /^(?:\/usr\/(?:local\/)?bin\/|\/)?virt-operator$/u.test(command[0] ?? '')

/** Undefined: it is no image. `quay.io/kubevirt/virt-handler:v1` is from `quay.io/kubevirt`. */
function isFrom(image: string, registry: string): boolean | undefined {
  if (!/^[^\s/]+(?:\/[^\s/]+)+(?::[\w.-]+|@sha256:[0-9a-f]+)$/u.test(image) || image.includes('://'))
    return undefined
  return image.startsWith(`${registry}/`)
}

/** Programs that the dynamic linker or the shell of an image would run besides. */
const preloads = /^(?:LD_(?:PRELOAD|AUDIT|LIBRARY_PATH)|PATH|BASH_ENV|ENV)$/u

function environment(
  { name, env = [], envFrom }: AnyContainer,
  before: AnyContainer | undefined,
  registry: string | undefined,
): string[] {
  const isThere = (variable: { name: string; value?: string }) =>
    (before?.env ?? []).some((one) => one.name === variable.name && one.value === variable.value)
  const changed = env.filter((variable) => !isThere(variable))
  return [
    ...changed.flatMap((variable) => {
      const { value = '' } = variable
      const elsewhere =
        registry !== undefined &&
        (isFrom(value, registry) === false ||
          (variable.name.endsWith('_IMAGE') && value !== '' && !value.startsWith(`${registry}/`)))
      return elsewhere ? [`takes ${variable.name} from ${value}, another registry`] : []
    }),
    ...changed.filter((one) => preloads.test(one.name)).map((one) => `sets ${one.name} of container ${name}`),
    ...((envFrom as unknown[] | undefined)?.length && !same(envFrom, before?.['envFrom'])
      ? [`fills the environment of container ${name} from elsewhere`]
      : []),
  ]
}

const runners = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const

function hooks(container: AnyContainer, before: AnyContainer | undefined): string[] {
  return runners
    .filter((field) => /"exec":/u.test(JSON.stringify(container[field] ?? null)))
    .filter((field) => !same(container[field], before?.[field]))
    .map((field) => `runs a command of its own as ${field} of container ${container.name}`)
}

interface Security extends Record<string, unknown> {
  capabilities?: { add?: readonly string[] }
  seccompProfile?: { type?: string }
  appArmorProfile?: { type?: string }
}

/** Not what it says, but what it takes off: a release that says nothing has the defaults of its namespace. */
function privileges(
  of: string,
  wanted: Record<string, unknown> | undefined,
  before: Record<string, unknown> | undefined,
): string[] {
  const now = new Set(powers(before ?? {}))
  return powers((wanted ?? {}) as Security)
    .filter((power) => !now.has(power))
    .map((power) => `${of}: ${power}`)
}

function powers({ capabilities, seccompProfile, appArmorProfile, ...said }: Security): string[] {
  return [
    ...(said['privileged'] === true ? ['privileged'] : []),
    ...(said['allowPrivilegeEscalation'] === true ? ['allowPrivilegeEscalation'] : []),
    ...(said['runAsUser'] === 0 || said['runAsNonRoot'] === false ? ['runs as root'] : []),
    ...(said['procMount'] === 'Unmasked' ? ['procMount Unmasked'] : []),
    ...(said['windowsOptions'] === undefined ? [] : ['windowsOptions']),
    ...(capabilities?.add ?? []).map((one) => `capability ${one}`),
    ...[seccompProfile, appArmorProfile].flatMap((profile) =>
      profile?.type === 'Unconfined' ? ['unconfined'] : [],
    ),
  ]
}
