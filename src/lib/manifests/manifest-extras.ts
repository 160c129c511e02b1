import { someOf } from '../kube/text.ts'
import type { Role, RoleBinding } from '../kube/kinds/extension-kinds.ts'
import type { KubeObject } from '../kube/object.ts'
import { holds, rightsIn } from '../kube/access-rights.ts'
import type { ObjectChange } from './apply-manifest.ts'
import { type Manifest, nameOf, operatorContainer, operatorImage } from './manifest.ts'
import type { Container, Deployment, PodSpec } from '../kube/kinds/workload-kinds.ts'

interface Judged {
  object: KubeObject
  live: KubeObject | undefined
  manifest: Manifest
  /** Rights that the roles of this manifest give in the cluster now, all of them together. */
  held: { everywhere: ReadonlySet<string>; here: ReadonlySet<string> }
}

/**
 * Finding `manifest-extras`: what no kubevirt-operator.yaml of a release holds. A file from elsewhere is applied with the rights of an administrator; rights for somebody
 * else, other programs and other namespaces need a person's word. What the cluster has already is no extra: `changes` are those of `manifestChanges`.
 */
export function extrasFindings(
  manifest: Manifest,
  changes: readonly Pick<ObjectChange, 'wanted' | 'live'>[] = [],
) {
  const liveOf = new Map(changes.map(({ wanted, live }) => [nameOf(wanted), live]))
  const roles = changes.flatMap(({ live }) => (isRole(live) ? live : []))
  const everywhere = rightsOf(roles.filter(({ kind }) => kind === 'ClusterRole'))
  const held = { everywhere, here: rightsOf(roles) }
  const extras = manifest.objects.flatMap((object) => {
    const live = liveOf.get(nameOf(object))
    const why = judges.flatMap((judge) => judge({ object, live, manifest, held }))
    return why.length === 0 ? [] : [{ name: nameOf(object), why: [...new Set(why)].join(', ') }]
  })
  if (extras.length === 0) return []
  return [
    {
      id: 'manifest-extras',
      level: 'blocker' as const,
      summary: `the manifest has something that no operator manifest of KubeVirt has: ${extras.map(({ name, why }) => `${name} ${why}`).join('; ')}`,
      remedy: [
        'remove it from the file, or name the kubevirt-operator.yaml of the release: --manifest FILE|URL',
      ],
      objects: extras.map(({ name }) => name),
    },
  ]
}

const judges: readonly ((judged: Judged) => readonly string[])[] = [
  placedElsewhere,
  operator,
  strangeName,
  foreignSubject,
  foreignRole,
  wideRights,
  aggregated,
  keepsItself,
  definition,
  priority,
  weakerNamespace,
  data,
  exposed,
]

function placedElsewhere({ object: { kind, metadata }, manifest: { namespace } }: Judged): string[] {
  const place = kind === 'Namespace' ? metadata.name : metadata.namespace
  return place === undefined || place === namespace ? [] : [`is not of namespace ${namespace}`]
}

function operator({ object, live, manifest }: Judged): string[] {
  if (object.kind !== manifest.operator.kind) return []
  if (object.metadata.name !== manifest.operator.metadata.name) return ['is not the operator']
  return podExtras(object, live)
}

const isRole = (object: KubeObject | undefined): object is Role => object?.kind.endsWith('Role') === true
/** A RoleBinding or ClusterRoleBinding. */
export const isBinding = ({ kind }: KubeObject) => kind.endsWith('RoleBinding')

const named: ReadonlySet<string> = new Set(['ServiceAccount', 'PriorityClass', 'Service'])

/** Roles, accounts and classes of KubeVirt say in their names whose they are; `system:basic-user` is everybody's. */
function strangeName({ object }: Judged): string[] {
  const isNamed = named.has(object.kind) || isRole(object) || isBinding(object)
  return isNamed && !/(?:^|[^a-z])(?:kubevirt|virt-)/u.test(object.metadata.name)
    ? ['is not named as one of KubeVirt']
    : []
}

/** Release manifests bind the account of their operator, and nobody else. */
function foreignSubject({ object, live, manifest: { namespace, operator: own } }: Judged): string[] {
  if (!isBinding(object)) return []
  const account = own.spec?.template?.spec?.serviceAccountName
  const isOwn = (subject: NonNullable<RoleBinding['subjects']>[number]) =>
    subject.kind === 'ServiceAccount' && subject.namespace === namespace && subject.name === account
  const before: RoleBinding['subjects'] = live === undefined ? [] : subjectsOf(live)
  const isThere = (subject: NonNullable<RoleBinding['subjects']>[number]) =>
    before.some(
      (one) => one.kind === subject.kind && one.name === subject.name && one.namespace === subject.namespace,
    )
  return subjectsOf(object)
    .filter((subject) => !isOwn(subject) && !isThere(subject))
    .map(({ kind, name }) => `gives rights to ${kind} ${name}`)
}

const subjectsOf = (object: KubeObject) => (object as RoleBinding).subjects ?? []

function foreignRole({ object, manifest: { objects } }: Judged): string[] {
  if (!isBinding(object)) return []
  const { kind = '', name = '' } = (object as RoleBinding).roleRef ?? {}
  const own = objects.some((o) => o.kind === kind && o.metadata.name === name)
  return own || kind !== 'ClusterRole' ? [] : [`gives the rights of ${kind} ${name}`]
}

/** Rights by which an account gets any other: what the operator needs of them it has been given by name in every release. */
const keys: readonly RegExp[] = [
  /^(?:escalate|bind|impersonate) /u,
  /^\S+ (?:pods\/(?:exec|attach|portforward)|nodes\/proxy|serviceaccounts\/token)$/u,
  /^\S+ (?:signers|certificatesigningrequests)\.certificates\.k8s\.io/u,
]

/** Beyond KubeVirt's own groups a release names what it needs. */
function isWide(right: string): boolean {
  const [verb = '', what = '', ...name] = right.split(' ')
  const [resource = '', ...group] = (what.split('/')[0] ?? '').split('.')
  const isKubeVirts = /(?:^|\.)kubevirt\.io$/u.test(group.join('.'))
  if (isKubeVirts || name.length > 0) return false
  return verb === '*' || resource === '*' || group.join('.') === '*'
}

const readsSecrets = /^(?:get|list|watch) secrets$/u

const isKey = (right: string): boolean => keys.some((key) => key.test(right))

function wideRights({ object, live, held }: Judged): string[] {
  if (!isRole(object)) return []
  const rights = [...rightsIn(object)]
  const before = object.kind === 'ClusterRole' ? held.everywhere : held.here
  // A role that is new may be anybody's: what the operator holds already is no reason to hand its keys out.
  const gained = rights.filter((right) => !holds(before, right) || (live === undefined && isKey(right)))
  if (gained.includes('* *.*')) return ['may do everything']
  const bad = gained.filter(
    (right) => isKey(right) || isWide(right) || (object.kind === 'ClusterRole' && readsSecrets.test(right)),
  )
  return bad.length === 0 ? [] : [`may ${someOf(bad)}`]
}

const shown = 3

/** Everybody who may view, edit or administer a namespace has what is aggregated to these roles. */
function aggregated({ object, live }: Judged): string[] {
  if (!isRole(object)) return []
  const labels = Object.entries(object.metadata.labels ?? {}).filter(
    ([label, value]) => label.startsWith('rbac.authorization.k8s.io/aggregate-to-') && value === 'true',
  )
  const fresh = labels.filter(([label]) => live?.metadata.labels?.[label] !== 'true').map(([label]) => label)
  const beyond =
    labels.length === 0
      ? []
      : [...rightsIn(object)].filter(
          (right) => !isOfKubeVirt(right) && !(live && holds(rightsIn(live as Role), right)),
        )
  const rule = 'aggregationRule' in object && !(live && 'aggregationRule' in live)
  return [
    ...(fresh.length > 0 && live !== undefined ? [`is added to ${fresh.map(short).join(', ')}`] : []),
    ...(beyond.length > 0
      ? [
          `gives ${beyond.slice(0, shown).join(', ')} to whoever has ${labels.map(([label]) => short(label)).join(', ')}`,
        ]
      : []),
    ...(rule ? ['takes the rights of other roles'] : []),
  ]
}

const rightsOf = (roles: readonly Role[]) => new Set(roles.flatMap((role) => [...rightsIn(role)]))
const short = (label: string) => label.slice('rbac.authorization.k8s.io/aggregate-to-'.length)
const isOfKubeVirt = (right: string): boolean =>
  /^\S+ [^.\s]+\.(?:[a-z0-9-]+\.)*kubevirt\.io(?:\/|\s|$)/u.test(right)

/** What would keep the object from being deleted; owners are left out of a manifest when it is read. */
function keepsItself({ object: { metadata }, live }: Judged): string[] {
  const there = new Set(live?.metadata.finalizers ?? [])
  return (metadata.finalizers ?? []).filter((one) => !there.has(one)).map((one) => `has the finalizer ${one}`)
}

interface Definition extends KubeObject {
  spec?: {
    group?: string
    conversion?: {
      strategy?: string
      webhook?: { clientConfig?: { url?: string; service?: { namespace?: string; name?: string } } }
    }
  }
}

function definition({ object, live, manifest: { namespace } }: Judged): string[] {
  if (object.kind !== 'CustomResourceDefinition') return []
  const group = (object as Definition).spec?.group ?? ''
  const { url, service } = converterOf(object)
  const isElsewhere = service !== undefined && service.namespace !== namespace
  return [
    ...(/(?:^|\.)kubevirt\.io$/u.test(group) ? [] : [`is of the group ${group}`]),
    ...(url !== undefined && url !== converterOf(live).url
      ? [`sends its objects to ${url} to be converted`]
      : []),
    ...(isElsewhere ? [`sends its objects to ${service.namespace}/${service.name} to be converted`] : []),
  ]
}

const converterOf = (object: Definition | undefined) => object?.spec?.conversion?.webhook?.clientConfig ?? {}

function priority({ object, live }: Judged): string[] {
  if (object.kind !== 'PriorityClass') return []
  const { globalDefault } = object as { globalDefault?: boolean }
  const before = (live as { globalDefault?: boolean } | undefined)?.globalDefault
  return globalDefault === true && before !== true ? ['becomes the priority of all pods'] : []
}

const levels = ['privileged', 'baseline', 'restricted']

/** Every release asks for `privileged`; where somebody has made the namespace stricter, that is a person's word against it. */
function weakerNamespace({ object, live }: Judged): string[] {
  if (object.kind !== 'Namespace' || live === undefined) return []
  return ['enforce', 'audit', 'warn'].flatMap((mode) => {
    const label = `pod-security.kubernetes.io/${mode}`
    const [now, wanted] = [live, object].map(({ metadata }) => metadata.labels?.[label])
    const isWeaker = now !== undefined && wanted !== undefined && levels.indexOf(wanted) < levels.indexOf(now)
    return isWeaker ? [`lowers ${label} from ${now} to ${wanted}`] : []
  })
}

/** Settings, journals, bundles of CAs: no release brings any, and what is there belongs to the programs that read it. */
function data({ object, live }: Judged): string[] {
  if (object.kind !== 'ConfigMap') return []
  const { data: wanted } = object as { data?: unknown }
  const now = (live as { data?: unknown } | undefined)?.data
  return live !== undefined && JSON.stringify(now) === JSON.stringify(wanted) ? [] : ['is data for a program']
}

function exposed({ object }: Judged): string[] {
  if (object.kind !== 'Service') return []
  const { type = 'ClusterIP', externalIPs = [] } =
    (object as { spec?: { type?: string; externalIPs?: readonly string[] } }).spec ?? {}
  return type === 'ClusterIP' && externalIPs.length === 0 ? [] : ['is reachable from outside, or leads there']
}

/** What a container may hold besides the fields that kvup reads elsewhere. */
type AnyContainer = Container & Record<string, unknown>
type AnyPod = PodSpec & Record<string, unknown>

/**
 * What the pods of this operator do beyond those of the operator that runs now, in words: other containers, other programs in its own one, ways to the node, images from
 * elsewhere. General rules, and the operator in the cluster; no table of a release, for releases to come have to pass. Pure.
 */
function podExtras(wanted: Deployment, live: Deployment | undefined): string[] {
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

const volumeExtras = (pod: AnyPod, before: AnyPod): string[] =>
  (pod.volumes ?? []).flatMap(({ name, ...source }) => {
    const kinds = Object.keys(source).filter((kind) => !harmless.has(kind))
    const isThere = (before.volumes ?? []).some((volume) => same(volume, { name, ...source }))
    return isThere || kinds.length === 0 ? [] : [`mounts ${kinds.join(', ')} as volume ${name}`]
  })

function accountExtras(pod: AnyPod, before: AnyPod): string[] {
  const { serviceAccountName: name } = pod
  const now = before.serviceAccountName
  return now === undefined || name === now ? [] : [`runs under the account ${name ?? 'default'}, not ${now}`]
}

function containerExtras(
  container: AnyContainer,
  before: AnyContainer | undefined,
  { registry, isOwn }: { registry: string | undefined; isOwn: boolean },
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
    ...runners
      .filter((field) => /"exec":/u.test(JSON.stringify(container[field] ?? null)))
      .filter((field) => !same(container[field], before?.[field]))
      .map((field) => `runs a command of its own as ${field} of container ${container.name}`),
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

const powers = ({ capabilities, seccompProfile, appArmorProfile, ...fields }: Security): string[] => [
  ...(fields['privileged'] === true ? ['privileged'] : []),
  ...(fields['allowPrivilegeEscalation'] === true ? ['allowPrivilegeEscalation'] : []),
  ...(fields['runAsUser'] === 0 || fields['runAsNonRoot'] === false ? ['runs as root'] : []),
  ...(fields['procMount'] === 'Unmasked' ? ['procMount Unmasked'] : []),
  ...(fields['windowsOptions'] === undefined ? [] : ['windowsOptions']),
  ...(capabilities?.add ?? []).map((one) => `capability ${one}`),
  ...[seccompProfile, appArmorProfile].flatMap((profile) =>
    profile?.type === 'Unconfined' ? ['unconfined'] : [],
  ),
]
