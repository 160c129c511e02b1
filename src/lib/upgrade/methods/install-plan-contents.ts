import type { Reader } from '../../kube/cluster.ts'
import { isRecord, type KubeObject, parseJson } from '../../kube/object.ts'
import { ApiError } from '../../kube/errors.ts'
import { type ConfigMap, ConfigMaps } from '../../kube/kinds/core-kinds.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type PolicyRule,
  type Role,
  type RoleBinding,
} from '../../kube/kinds/extension-kinds.ts'
import type { ClusterServiceVersion, InstallPlan, InstallStep } from '../../kube/kinds/operator-kinds.ts'
import type { Deployment } from '../../kube/kinds/workload-kinds.ts'
import { whyUnknown } from '../../kube/known.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { shorten, someOf } from '../../kube/text.ts'
import { isKubeObject, type ReadObjects, soundOf, unpackedObjects } from '../../manifests/unpacked-bundle.ts'
import { versionOf } from '../../releases/release-versions.ts'
import { kubeVirtIn } from '../../openshift/olm-status.ts'
import { stemOf } from '../../releases/release-versions.ts'

/** What approving an InstallPlan installs, compared with what is there. */
export interface PlanContents {
  /** In at most five lines: releases, KubeVirt, CRDs, cluster-wide rights, images. What could not be read is a line, and never called unchanged. */
  lines: readonly string[]
  /** Its version of KubeVirt, where one of its operators says so. */
  kubevirt?: string
  /** CRDs that lose a version which `status.storedVersions` names: OLM fails the plan on each of them. */
  losses: readonly StoredVersionsLost[]
  /** CSVs that it holds and does not name: it is never approved with one. */
  hidden: readonly string[]
  /** Not all of it could be read. */
  unread: boolean
}

interface StoredVersionsLost {
  crd: string
  versions: readonly string[]
  /** The version that is stored now, where the new CRD has it. */
  stored?: string
}

/**
 * Reads the objects of a plan: OLM refers each step to the ConfigMap that a bundle was unpacked into, gzipped there. What it holds is evidence of what OLM will write and nothing
 * else. `csvs` are those of its namespace. Throws ApiError for anything but 403 and 404.
 */
export async function planContents(
  reader: Reader,
  plan: InstallPlan,
  csvs: readonly ClusterServiceVersion[],
): Promise<PlanContents> {
  const steps = plan.status?.plan ?? []
  const { objects, unread } = await objectsIn(reader, steps)
  const fresh = objects.filter(isKind<ClusterServiceVersion>('ClusterServiceVersion'))
  const named = plan.spec?.clusterServiceVersionNames ?? []
  const hidden = fresh.map(({ metadata }) => metadata.name).filter((name) => !named.includes(name))
  const pairs = fresh.map((csv) => ({ csv, before: replacedBy(csv, csvs) }))
  const [crds, roles, bound] = await Promise.all([
    crdChanges(reader, objects.filter(isKind<CustomResourceDefinition>('CustomResourceDefinition'))),
    roleRights(reader, objects.filter(isKind<Role>('ClusterRole'))),
    boundRights(reader, objects),
  ])
  const lines = [
    installsLine(plan, steps),
    ...kubeVirtLine(pairs),
    ...crds.lines,
    ...rightsLine(pairs, [...bound, ...roles]),
    ...imagesLine(pairs),
  ]
  const lacking = [...unread, ...crds.unread]
  const gaps = lacking.length === 0 ? [] : [`contents not checked: ${atMost(2, lacking)}`]
  return {
    lines: [...lines.slice(0, gaps.length > 0 ? 4 : 5), ...gaps].map(shorten),
    ...kubeVirtOf(pairs),
    losses: crds.losses,
    hidden,
    unread: gaps.length > 0,
  }
}

const isKind =
  <T extends KubeObject>(kind: string) =>
  (object: KubeObject): object is T =>
    object.kind === kind

const atMost = (most: number, words: readonly string[]): string => someOf(words, words.length, most)

// Reading

const mostBundles = 20

interface Reference {
  name: string
  namespace: string
}

async function objectsIn(reader: Reader, steps: readonly InstallStep[]): Promise<ReadObjects> {
  const manifests = steps.map(({ resource }) => parseJson(resource?.manifest ?? ''))
  const inline = soundOf(
    manifests.flatMap((value) => (isKubeObject(value) && !isReference(value) ? [value] : [])),
  )
  const references = manifests.flatMap((value) => (isReference(value) ? [value] : []))
  const distinct = [...new Map(references.map((one) => [`${one.namespace}/${one.name}`, one])).values()]
  const maps = await Promise.all(distinct.slice(0, mostBundles).map((one) => bundleIn(reader, one)))
  const found = unpackedObjects(maps.flatMap(({ map, at }) => (map ? [{ map, at }] : [])))
  const objects = [...inline.objects, ...found.objects]
  const unread = [
    ...maps.flatMap(({ at, why }) => (why === undefined ? [] : [`${at} ${why}`])),
    ...found.unread,
    ...inline.unread,
    ...(distinct.length > mostBundles ? [`it refers to ${distinct.length} ConfigMaps`] : []),
  ]
  if (unread.length > 0) return { objects, unread }
  const there = new Set(objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`))
  // Roles, bindings and accounts are made of what the CSV says.
  const lacking = steps
    .filter(isOwn)
    .map(({ resource: { kind = '', name = '' } = {} }) => `${kind} ${name}`)
    .filter((one) => !there.has(one))
    .map((one) => `${one} is in none of its ConfigMaps`)
  return { objects, unread: lacking }
}

const own: ReadonlySet<string> = new Set(['ClusterServiceVersion', 'CustomResourceDefinition'])
const isOwn = ({ resource }: InstallStep): boolean => own.has(resource?.kind ?? '')
const isReference = (value: unknown): value is Reference =>
  isRecord(value) &&
  value['kind'] === 'ConfigMap' &&
  typeof value['name'] === 'string' &&
  typeof value['namespace'] === 'string'

interface ReadBundle {
  at: string
  map?: ConfigMap
  /** There is none to read. */
  why?: string
}

async function bundleIn(reader: Reader, { name, namespace }: Reference): Promise<ReadBundle> {
  const at = `ConfigMap ${name} in namespace ${namespace}`
  try {
    const found = await reader.get(ConfigMaps, { name, namespace })
    return found.is === 'object' ? { at, map: found.object } : { at, why: 'is gone' }
  } catch (error) {
    const why = whyUnknown(error)
    if (why === undefined) throw error
    const grants = isRefused(error)
      ? `; kvup rbac kvup-olm --namespace-of-catalog ${shellWord(namespace)} grants it`
      : ''
    return { at, why: `cannot be read: ${why}${grants}` }
  }
}

const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status === 403

// Comparing

interface Pair {
  csv: ClusterServiceVersion
  /** That it is to replace; undefined where there is none. */
  before: ClusterServiceVersion | undefined
}

function replacedBy(
  { metadata, spec }: ClusterServiceVersion,
  csvs: readonly ClusterServiceVersion[],
): ClusterServiceVersion | undefined {
  const others = csvs.filter((one) => one.metadata.name !== metadata.name)
  return (
    others.find((one) => one.metadata.name === spec?.replaces) ??
    others.find((one) => stemOf(one.metadata.name) === stemOf(metadata.name))
  )
}

const told: ReadonlySet<string> = new Set([
  'ClusterServiceVersion',
  'CustomResourceDefinition',
  'ServiceAccount',
  'Role',
  'RoleBinding',
  'ClusterRole',
  'ClusterRoleBinding',
])

/** With what is none of the parts that every operator has. */
function installsLine({ spec }: InstallPlan, steps: readonly InstallStep[]): string {
  const names = (spec?.clusterServiceVersionNames ?? []).join(', ')
  const others = steps.flatMap(({ resource: { kind = '', name = '' } = {} }) =>
    told.has(kind) ? [] : [`${kind} ${name}`],
  )
  return `installs ${names}${others.length > 0 ? `, with ${atMost(4, others)}` : ''}`
}

/** The KubeVirt that it brings. */
function kubeVirtOf(pairs: readonly Pair[]): Pick<PlanContents, 'kubevirt'> {
  const kubevirt = pairs.flatMap(({ csv }) => versionOf(kubeVirtIn(csv))?.text ?? [])[0]
  return kubevirt === undefined ? {} : { kubevirt }
}

function kubeVirtLine(pairs: readonly Pair[]): readonly string[] {
  const found = pairs.find(({ csv }) => kubeVirtIn(csv) !== undefined)
  if (found === undefined) return []
  const [to = '', from] = [kubeVirtIn(found.csv), found.before && kubeVirtIn(found.before)]
  return [from === undefined || from === to ? `KubeVirt ${to}` : `KubeVirt ${from} → ${to}`]
}

async function crdChanges(
  reader: Reader,
  wanted: readonly CustomResourceDefinition[],
): Promise<Pick<PlanContents, 'lines' | 'losses'> & Pick<ReadObjects, 'unread'>> {
  const changes = await Promise.all(wanted.slice(0, mostCrds).map((crd) => crdChange(reader, crd)))
  const says = changes.flatMap(({ text }) => text ?? [])
  return {
    lines: says.length === 0 ? [] : [`CRDs: ${atMost(6, says)}`],
    losses: changes.flatMap(({ loss }) => loss ?? []),
    unread: wanted.length > mostCrds ? [`it has ${wanted.length} CRDs`] : [],
  }
}

/** So many are compared with those that are there: HyperConverged has some forty. */
const mostCrds = 200

const namesOf = ({ spec }: CustomResourceDefinition): readonly string[] =>
  (spec?.versions ?? []).map(({ name }) => name)

const servedBy = ({ spec }: CustomResourceDefinition): readonly string[] =>
  (spec?.versions ?? []).filter(({ served }) => served !== false).map(({ name }) => name)

async function crdChange(
  reader: Reader,
  wanted: CustomResourceDefinition,
): Promise<{ text?: string; loss?: StoredVersionsLost }> {
  const { name } = wanted.metadata
  const now = await foundOf(reader.get(CustomResourceDefinitions, { name }))
  if (now === 'unread') return { text: `${name} with ${servedBy(wanted).join(', ')} (not compared)` }
  if (now === undefined) return { text: `${name} is new` }
  const next = servedBy(wanted)
  const gains = next.filter((version) => !servedBy(now).includes(version))
  const loses = servedBy(now).filter((version) => !next.includes(version))
  const versions = (now.status?.storedVersions ?? []).filter((version) => !namesOf(wanted).includes(version))
  const parts = [
    ...(gains.length > 0 ? [`gains ${gains.join(', ')}`] : []),
    ...(loses.length > 0 ? [`loses ${loses.join(', ')}`] : []),
    ...(versions.length > 0 ? [`OLM refuses it: ${versions.join(', ')} is still a stored version`] : []),
  ]
  const stored = now.spec?.versions?.find(({ storage }) => storage === true)?.name
  const loss = {
    crd: name,
    versions,
    ...(stored !== undefined && !versions.includes(stored) && { stored }),
  }
  return {
    ...(parts.length > 0 && { text: `${name} ${parts.join(' and ')}` }),
    ...(versions.length > 0 && { loss }),
  }
}

async function foundOf<T>(
  asked: Promise<{ is: 'object'; object: T } | { is: 'absent' | 'unserved' }>,
): Promise<T | 'unread' | undefined> {
  try {
    const found = await asked
    return found.is === 'object' ? found.object : undefined
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return 'unread'
  }
}

/** A right in words: `create backups.backup.kubevirt.io`. */
type Right = string

function rightsIn(rules: readonly PolicyRule[]): readonly Right[] {
  return rules.flatMap(({ apiGroups = [''], resources = [], nonResourceURLs = [], verbs }) => {
    const things = apiGroups.flatMap((group) =>
      resources.map((resource) => (group === '' ? resource : `${resource}.${group}`)),
    )
    return [...things, ...nonResourceURLs].flatMap((thing) => verbs.map((verb) => `${verb} ${thing}`))
  })
}

const clusterRights = ({ spec }: ClusterServiceVersion): readonly Right[] =>
  (spec?.install?.spec?.clusterPermissions ?? []).flatMap(({ rules = [] }) => rightsIn(rules))

/** Of the ClusterRoles that a bundle carries as objects: the rights that those of the same name do not give yet. */
async function roleRights(reader: Reader, roles: readonly Role[]): Promise<readonly Right[]> {
  const found = await Promise.all(
    roles.map(async (role) => {
      const now = await foundOf(reader.get(ClusterRoles, { name: role.metadata.name }))
      const before = new Set(now === undefined || now === 'unread' ? [] : rightsIn(now.rules ?? []))
      return rightsIn(role.rules ?? []).filter((right) => !before.has(right))
    }),
  )
  return found.flat()
}

/** What its bindings give that no role of the bundle says, as `cluster-admin`: told unless they are there already. */
async function boundRights(reader: Reader, objects: readonly KubeObject[]): Promise<readonly Right[]> {
  const roles = new Set(objects.filter(isKind<Role>('ClusterRole')).map(({ metadata }) => metadata.name))
  const bindings = objects
    .filter(isKind<RoleBinding>('ClusterRoleBinding'))
    .filter(({ roleRef }) => roleRef !== undefined && !roles.has(roleRef.name))
  const found = await Promise.all(
    bindings.slice(0, mostBindings).map(async ({ metadata: { name }, roleRef }) => {
      const now = await foundOf(reader.get(ClusterRoleBindings, { name }))
      const isThere = now !== undefined && now !== 'unread' && now.roleRef?.name === roleRef?.name
      return isThere ? [] : [`all of ClusterRole ${roleRef?.name ?? ''}`]
    }),
  )
  return found.flat()
}

const mostBindings = 50

/** The worst first: who may do these may do anything. */
const grave =
  /^(?:\*|all of|escalate|bind|impersonate) |^\S+ (?:\*|secrets\b|pods\/exec\b|.*roles?(?:bindings)?\.rbac)/u

function rightsLine(pairs: readonly Pair[], ofRoles: readonly Right[]): readonly string[] {
  const before = new Set(pairs.flatMap(({ before: csv }) => (csv === undefined ? [] : clusterRights(csv))))
  const all = [...pairs.flatMap(({ csv }) => clusterRights(csv)), ...ofRoles]
  const fresh = [...new Set(all)].filter((right) => !before.has(right))
  if (fresh.length === 0) return []
  const inOrder = [
    ...fresh.filter((right) => grave.test(right)),
    ...fresh.filter((right) => !grave.test(right)),
  ]
  return [`new cluster-wide rights: ${atMost(5, inOrder)}`]
}

function imagesOf({ spec }: ClusterServiceVersion): readonly string[] {
  const deployments = (spec?.install?.spec?.deployments ?? []).map((one) => one.spec as Deployment['spec'])
  const pods = deployments.flatMap((one) => one?.template?.spec ?? [])
  const containers = pods.flatMap(({ initContainers = [], containers: main = [] }) =>
    initContainers.concat(main),
  )
  const related = (spec?.relatedImages ?? []).map(({ image }) => image)
  return [...new Set([...containers.map(({ image }) => image), ...related].flatMap((image) => image ?? []))]
}

/** Without the name, the tag and the digest of the image. */
const placeOf = (image: string): string =>
  image.includes('/') ? image.slice(0, image.lastIndexOf('/')) : 'docker.io'

function imagesLine(pairs: readonly Pair[]): readonly string[] {
  const before = new Set(pairs.flatMap(({ before: csv }) => (csv === undefined ? [] : imagesOf(csv))))
  const all = [...new Set(pairs.flatMap(({ csv }) => imagesOf(csv)))]
  if (all.length === 0) return []
  const fresh = all.filter((image) => !before.has(image))
  const known = new Set([...before].map(placeOf))
  const places = [...new Set(fresh.map(placeOf))]
  const strange = before.size === 0 ? [] : places.filter((place) => !known.has(place))
  return [
    `images: ${fresh.length} of ${all.length} are new${places.length > 0 ? `, from ${atMost(3, places)}` : ''}${strange.length > 0 ? `; no image came from ${atMost(3, strange)} before` : ''}`,
  ]
}
