import type { Role, RoleBinding } from '../cluster/kinds/extension.ts'
import type { KubeObject } from '../cluster/object.ts'
import { holds, rightsIn } from '../cluster/rights-in.ts'
import type { ObjectChange } from './changes.ts'
import type { Manifest } from './manifest.ts'
import { nameOf } from './name-of.ts'
import { podExtras } from './pod-extras.ts'

/** What is asked about one object of a manifest. */
interface Judged {
  object: KubeObject
  /** The same object as it is in the cluster. */
  live: KubeObject | undefined
  manifest: Manifest
  /** Rights that the roles of this manifest give in the cluster now, all of them together. */
  held: { everywhere: ReadonlySet<string>; here: ReadonlySet<string> }
}

type Judge = (judged: Judged) => readonly string[]

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
      summary: `the manifest holds what no operator manifest of KubeVirt holds: ${extras.map(({ name, why }) => `${name} ${why}`).join('; ')}`,
      remedy: [
        'take it out of the file, or name the kubevirt-operator.yaml of the release: --manifest FILE|URL',
      ],
      objects: extras.map(({ name }) => name),
    },
  ]
}

const judges: readonly Judge[] = [
  elsewhere,
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

function elsewhere({ object: { kind, metadata }, manifest: { namespace } }: Judged): string[] {
  const place = kind === 'Namespace' ? metadata.name : metadata.namespace
  return place === undefined || place === namespace ? [] : [`is not of namespace ${namespace}`]
}

function operator({ object, live, manifest }: Judged): string[] {
  if (object.kind !== manifest.operator.kind) return []
  if (object.metadata.name !== manifest.operator.metadata.name) return ['is not the operator']
  return podExtras(object, live)
}

const isRole = (object: KubeObject | undefined): object is Role => object?.kind.endsWith('Role') === true
const isBinding = ({ kind }: KubeObject) => kind.endsWith('RoleBinding')

const named: ReadonlySet<string> = new Set(['ServiceAccount', 'PriorityClass', 'Service'])

/** Roles, accounts and classes of KubeVirt say in their names whose they are; `system:basic-user` is everybody's. */
function strangeName({ object }: Judged): string[] {
  const isNamed = named.has(object.kind) || isRole(object) || isBinding(object)
  return isNamed && !/(?:^|[^a-z])(?:kubevirt|virt-)/u.test(object.metadata.name)
    ? ['is not named as one of KubeVirt']
    : []
}

/** Release manifests bind the account of their operator, and nobody else. */
function foreignSubject({
  object,
  live,
  manifest: {
    namespace,
    operator: { spec },
  },
}: Judged): string[] {
  if (!isBinding(object)) return []
  const account = spec?.template?.spec?.serviceAccountName
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
  const more = bad.length > shown ? ` and ${bad.length - shown} more` : ''
  return bad.length === 0 ? [] : [`may ${bad.slice(0, shown).join(', ')}${more}`]
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
  const { type = 'ClusterIP', externalIPs = [] } = (object as { spec?: ServiceSpec }).spec ?? {}
  return type === 'ClusterIP' && externalIPs.length === 0 ? [] : ['is reachable from outside, or leads there']
}

interface ServiceSpec {
  type?: string
  externalIPs?: readonly string[]
}
