import { accessText } from '../kube/access-rights.ts'
import {
  type ApiService,
  ApiServices,
  ClusterRoleBindings,
  ClusterRoles,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  NetworkAttachmentDefinitions,
  type Role,
  type RoleBinding,
  RoleBindings,
  Roles,
  type WebhookConfiguration,
} from '../kube/kinds/extension-kinds.ts'
import { EndpointSlices, Namespaces, type ResourceQuota, ResourceQuotas } from '../kube/kinds/core-kinds.ts'
import type { SilentLease } from './lease-holders.ts'
import {
  causeParts,
  foldInstances,
  foldVms,
  homeOf,
  type InstanceTally,
  listKubeVirts,
  type Named,
  type Part,
  type Snapshot,
  statusParts,
  takeSnapshot,
} from './snapshot.ts'
import {
  itemsOf,
  type Known,
  known,
  listServed,
  notAsked,
  onlyKnown,
  readParts,
  whyUnknown,
} from '../kube/known.ts'
import type { Access, Reader, Reviewer, ServerVersion } from '../kube/cluster.ts'
import type { Clock } from '../kube/clock.ts'
import type { Kind, KubeObject } from '../kube/object.ts'
import { type BlockingBudget, blockingBudgets } from './blocking-budgets.ts'
import { activeOthers, openDataJobs, type Other } from './cluster-activity.ts'
import { type StuckMigration, stuckMigrations } from './diagnosis/stuck-migrations.ts'
import { readyEndpoints, webhooksInto } from './diagnosis/health.ts'

/** A snapshot with everything that the checks judge by. Every part is known or not, and says why not. */
export interface FullSnapshot extends Snapshot {
  /** CRDs of groups that end in kubevirt.io. */
  crds: Known<CustomResourceDefinition>
  /** APIServices of groups that end in kubevirt.io. */
  apiServices: Known<ApiService>
  /** Validating and mutating webhook configurations that call into KubeVirt's namespace. */
  webhooks: Known<WebhookConfiguration>
  /** Services of KubeVirt's namespace, with how many ready endpoints each has. */
  endpoints: Known<{ service: string; ready: number }>
  /** One item. */
  instances: Known<InstanceTally>
  /** One item. */
  vms: Known<VmTally>
  /** ResourceQuotas of namespaces with VMIs. */
  quotas: Known<ResourceQuota>
  /** Snapshots, restores, clones, exports, backups and DataVolumes that are not finished (night C5). */
  dataJobs: Known<{ kind: string; name: string; phase: string }>
  /** PodDisruptionBudgets over virt-launchers that allow nothing. */
  budgets: Known<BlockingBudget>
  /** Of the unfinished migrations those that do not get on by themselves. */
  stuckMigrations: Known<StuckMigration>
  /** Deschedulers, MachineHealthChecks and the like (night C4). */
  others: Known<Other>
  /** ClusterRoles and Roles of the operator's ServiceAccount. */
  operatorRoles: Known<Role>
  /** Bindings of the ClusterRoles edit and kubevirt.io:edit; `namespace` absent: of the whole cluster. */
  editBindings: Known<{ namespace?: string; name: string }>
  /** NetworkAttachmentDefinitions that ask for a device of the node: `namespace/name`, and the resource. None where Multus is not installed. */
  networkDevices: Known<{ name: string; resource: string }>
  /** What we may do of what the plan needs; one item per question that was asked. */
  rights: Known<AnsweredRight>
  /** One item: the uid of kube-system, which tells clusters apart. */
  clusterUid: Known<string>
  /** Leases of KubeVirt's leaders that did not change while they were watched; absent where nothing can be watched: of a saved cluster. */
  silentLeases?: Known<SilentLease>
  /** Settings that kvup has borrowed and not given back; absent where the journal was not looked at. */
  overrides?: Known<{ id: string; by: string }>
  /** Which images of the target can be pulled, by pool of nodes (night C6); absent where it was not asked for. */
  probes?: Known<ImageProbe>
}

export type { ResourceQuota }

export interface VmTally {
  total: number
  restartRequired: Named
  /** Volumes that their VMs name as plugged in while they ran, `namespace/name/volume`. */
  hotplugged: Set<string>
}

/** The name of a part, for a check's needs. */
export type SnapshotPart = Exclude<keyof FullSnapshot, 'takenAt'>

/** What became of one image on one pool of nodes (night C6). */
export interface ImageProbe {
  /** Components that it is for: `virt-launcher`. */
  of: readonly string[]
  /** Absent where it cannot be told which image it would be. */
  image?: string
  /** False where only an extra feature would lack it, and no update waits for it. */
  needed: boolean
  /** Names of the nodes of the pool, and the one that was asked. */
  nodes: readonly string[]
  node?: string
  /** `untried`: nothing is known of it. */
  is: 'pulled' | 'refused' | 'untried'
  /** Where it is not `pulled`: in a few words. */
  why?: string
  /** What the registry or the node said. */
  message?: string
}

interface Wanted {
  /** Questions to RBAC; without them the part `rights` is not known. */
  rights?: readonly AskedRight[] | undefined
  /** Default: everything. KubeVirts, operators and deployments are always read. */
  only?: readonly SnapshotPart[] | undefined
}

/** What `takeSnapshot` reads; VMIs are folded once for all parts instead. */
const snapshotParts: readonly Part[] = [...statusParts, ...causeParts, 'migrations']

const foldedParts = {
  workloads: notAsked,
  crds: notAsked,
  apiServices: notAsked,
  webhooks: notAsked,
  endpoints: notAsked,
  instances: notAsked,
  vms: notAsked,
  quotas: notAsked,
  dataJobs: notAsked,
  budgets: notAsked,
  stuckMigrations: notAsked,
  others: notAsked,
  operatorRoles: notAsked,
  editBindings: notAsked,
  networkDevices: notAsked,
  rights: notAsked,
  clusterUid: notAsked,
} as const

const everything: readonly SnapshotPart[] = [
  ...snapshotParts,
  'serverVersion',
  ...(Object.keys(foldedParts) as (keyof typeof foldedParts)[]),
]

/** Whether `takeFullSnapshot` reads it; of other layers it reads nothing. */
export const isSnapshotPart = (part: string): part is SnapshotPart =>
  (everything as readonly string[]).includes(part)

/**
 * Reads what the checks judge by, in parallel and narrowed by the server; of VMs and VMIs only sums and some names are kept. What may
 * not be read (403), is not served (404) or was not saved is an unknown part; any other ApiError is thrown.
 */
export async function takeFullSnapshot(
  { reader, reviewer }: { reader: Reader; reviewer?: Pick<Reviewer, 'can'> | undefined },
  clock: Pick<Clock, 'now'>,
  { rights, only = everything }: Wanted = {},
): Promise<FullSnapshot> {
  const wants = new Set(only)
  const clusterBindings = once(() => kept(reader, ClusterRoleBindings, () => true, withoutManagers))
  const wide = Promise.all([
    partsOfCluster(reader, wants, clusterBindings),
    wants.has('serverVersion') ? serverVersion(reader) : {},
    wants.has('rights') ? answeredRights(reviewer, rights) : notAsked,
  ])
  // Awaited last; an early failure of it must not go unhandled until then.
  wide.catch(() => undefined)
  const kubevirts = await listKubeVirts(reader)
  const home = homeOf(kubevirts)
  const observed = snapshotParts.filter((part) => wants.has(part))
  const snapshot = takeSnapshot(reader, observed, clock, home)
  const why = kubevirts.known ? 'there is no KubeVirt' : kubevirts.why
  const [around, found, [everywhere, version, answered]] = await Promise.all([
    home === undefined
      ? homelessParts(wants, why)
      : partsOfHome(reader, wants, { home, snapshot, clusterBindings }),
    snapshot,
    wide,
  ])
  const stuck = wants.has('stuckMigrations') ? await stuckAmong(reader, found, clock) : notAsked
  const more = { rights: answered, stuckMigrations: stuck }
  return { ...found, ...foldedParts, ...everywhere, ...version, ...around, ...more }
}

/** Pods are read only where a migration is open for minutes. */
async function stuckAmong(
  reader: Reader,
  { migrations }: Snapshot,
  clock: Pick<Clock, 'now'>,
): Promise<Known<StuckMigration>> {
  if (!migrations.known) return migrations
  return known(stuckMigrations(reader, migrations.items, clock.now()).then((found) => [...found]))
}

/** Nothing where it cannot be known. */
async function serverVersion(reader: Reader): Promise<{ serverVersion?: ServerVersion }> {
  try {
    return { serverVersion: await reader.version() }
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return {}
  }
}

type Parts = Partial<FullSnapshot>

/** Done at the first call, and not again. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () => (done ??= work())
}

/** The parts of Evidence that do not depend on where KubeVirt is, in parallel. Throws ApiError. */
async function partsOfCluster(
  reader: Reader,
  wants: ReadonlySet<SnapshotPart>,
  clusterBindings: () => Promise<readonly RoleBinding[]>,
): Promise<Parts> {
  const [instances, parts] = await Promise.all([
    instanceParts(reader, wants),
    readParts(wants, {
      vms: async () => [await foldVms(reader)],
      crds: () =>
        kept(reader, CustomResourceDefinitions, ({ spec }) => isKubeVirtGroup(spec?.group), withoutSchema),
      apiServices: () =>
        kept(reader, ApiServices, ({ spec }) => isKubeVirtGroup(spec?.group), withoutManagers),
      dataJobs: () => openDataJobs(reader),
      budgets: () => blockingBudgets(reader),
      others: () => activeOthers(reader),
      editBindings: () => editBindings(reader, clusterBindings),
      clusterUid: () => readClusterUid(reader),
    }),
  ])
  const devices = wants.has('networkDevices') && (await devicesOfNetworks(reader, instances.instances))
  return { ...instances, ...parts, ...(devices && { networkDevices: devices }) }
}

const editRoles = new Set(['edit', 'kubevirt.io:edit'])

const bindsEdit = ({ roleRef }: RoleBinding): boolean =>
  roleRef?.kind === 'ClusterRole' && editRoles.has(roleRef.name)

async function editBindings(
  reader: Reader,
  clusterBindings: () => Promise<readonly RoleBinding[]>,
): Promise<{ namespace?: string; name: string }[]> {
  const [everywhere, inNamespaces] = await Promise.all([
    clusterBindings(),
    kept(reader, RoleBindings, bindsEdit, withoutManagers),
  ])
  return [...everywhere.filter(bindsEdit), ...inNamespaces].map(({ metadata: { namespace, name } }) =>
    namespace === undefined ? { name } : { namespace, name },
  )
}

/** Which device of its node a network needs (KubeVirt: pkg/network/multus). */
const resourceAnnotation = 'k8s.v1.cni.cncf.io/resourceName'

/** Of networks that no VM is on nothing is asked: where Multus is not installed, nobody serves them. */
async function devicesOfNetworks(
  reader: Reader,
  instances: FullSnapshot['instances'] | undefined,
): Promise<FullSnapshot['networkDevices']> {
  if (instances?.known && instances.items.every(({ networks }) => networks.size === 0))
    return { known: true, items: [] }
  return known(networkDevices(reader))
}

async function networkDevices(reader: Reader): Promise<{ name: string; resource: string }[]> {
  const found = await listServed(reader, NetworkAttachmentDefinitions)
  return found.flatMap(({ metadata: { namespace = '', name, annotations } }) => {
    const resource = annotations?.[resourceAnnotation]
    return resource ? [{ name: `${namespace}/${name}`, resource }] : []
  })
}

/** VMIs are listed once, whoever asks for them. */
async function instanceParts(reader: Reader, wants: ReadonlySet<SnapshotPart>): Promise<Parts> {
  const wanted = (['instances', 'workloads', 'quotas'] as const).filter((name) => wants.has(name))
  if (wanted.length === 0) return {}
  const quotas = wants.has('quotas') ? known(trimmedQuotas(reader)) : undefined
  // As above: the instances may fail first.
  quotas?.catch(() => undefined)
  const folded = await known(foldInstances(reader).then((one) => [one]))
  const [one] = folded.known ? folded.items : []
  if (!folded.known || one === undefined) return Object.fromEntries(wanted.map((name) => [name, folded]))
  const { tally, namespaces } = one
  const listed = await quotas
  return {
    instances: { known: true, items: [tally] },
    workloads: { known: true, items: [{ instances: tally.total, outdated: tally.outdated }] },
    ...(listed && {
      quotas: onlyKnown(listed, ({ metadata }) => namespaces.has(metadata.namespace ?? '')),
    }),
  }
}

async function trimmedQuotas(reader: Reader): Promise<ResourceQuota[]> {
  return kept(
    reader,
    ResourceQuotas,
    () => true,
    ({ apiVersion, kind, metadata: { name, namespace }, status }) => ({
      apiVersion,
      kind,
      metadata: { name, ...(namespace !== undefined && { namespace }) },
      ...(status && { status }),
    }),
  )
}

const isKubeVirtGroup = (group = ''): boolean => group === 'kubevirt.io' || group.endsWith('.kubevirt.io')

/** Page by page: only what is wanted of it stays. */
async function kept<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  wanted: (object: T) => boolean,
  trimmed: (object: T) => T,
): Promise<T[]> {
  const all: T[] = []
  for await (const { items } of reader.pages(kind)) all.push(...items.filter(wanted).map(trimmed))
  return all
}

function withoutMember<T extends object, K extends keyof T>(whole: T, member: K): Omit<T, K> {
  const { [member]: _, ...rest } = whole
  return rest
}

function withoutManagers<T extends KubeObject>(object: T): T {
  return { ...object, metadata: withoutMember(object.metadata, 'managedFields') }
}

/** Most of its size, and nothing is judged by it. */
function withoutSchema(crd: CustomResourceDefinition): CustomResourceDefinition {
  const versions = crd.spec?.versions?.map((version) => withoutMember(version, 'schema'))
  return { ...crd, spec: { ...crd.spec, ...(versions && { versions }) } }
}

/** The uid of kube-system, which tells clusters apart; none where it is not there. Throws ApiError. */
export async function readClusterUid(reader: Reader): Promise<string[]> {
  const found = await reader.get(Namespaces, { name: 'kube-system' })
  const uid = found.is === 'object' ? found.object.metadata.uid : undefined
  return uid === undefined ? [] : [uid]
}

type HomePart = 'webhooks' | 'endpoints' | 'operatorRoles'

interface Home {
  home: string
  snapshot: Promise<Snapshot>
  /** Listed once for all parts. */
  clusterBindings: () => Promise<readonly RoleBinding[]>
}

/** The parts of Evidence around KubeVirt's own namespace. Throws ApiError. */
function partsOfHome(
  reader: Reader,
  wants: ReadonlySet<SnapshotPart>,
  { home, snapshot, clusterBindings }: Home,
): Promise<Parts> {
  return readParts<HomePart>(wants, {
    webhooks: () => webhooksInto(reader, home),
    endpoints: async () => readyEndpoints(await reader.list(EndpointSlices, { namespace: home })),
    operatorRoles: async () =>
      rolesOf(reader, { name: accountOf(await snapshot, home), namespace: home }, clusterBindings),
  })
}

/** Why they are not known where there is no such namespace. */
function homelessParts(wants: ReadonlySet<SnapshotPart>, why: string): Parts {
  const parts: readonly HomePart[] = ['webhooks', 'endpoints', 'operatorRoles']
  return Object.fromEntries(
    parts.filter((name) => wants.has(name)).map((name) => [name, { known: false, why }]),
  )
}

/** The name that every release's manifest gives it, where the Deployment cannot be seen. */
function accountOf(snapshot: Snapshot, home: string): string {
  const deployment = itemsOf(snapshot.operators).find(({ metadata }) => metadata.namespace === home)
  return deployment?.spec?.template?.spec?.serviceAccountName ?? 'kubevirt-operator'
}

interface Account {
  name: string
  namespace: string
}

/**
 * The ClusterRoles and Roles that a ServiceAccount has, by whichever binding: aggregated ClusterRoles hold their rules as the
 * cluster filled them in. Roles of KubeVirt's namespace only. Throws ApiError.
 */
async function rolesOf(
  reader: Reader,
  account: Account,
  clusterBindings: () => Promise<readonly RoleBinding[]>,
): Promise<Role[]> {
  const { namespace } = account
  const [everywhere, here] = await Promise.all([
    clusterBindings().then((all) => all.filter((binding) => binds(binding, account))),
    bindings(reader.pages(RoleBindings, { namespace }), account),
  ])
  const clusterRoles = [...everywhere, ...here].flatMap(namesOf('ClusterRole'))
  const found = await Promise.all([
    ...[...new Set(clusterRoles)].map(async (name) => reader.get(ClusterRoles, { name })),
    ...[...new Set(here.flatMap(namesOf('Role')))].map(async (name) =>
      reader.get(Roles, { name, namespace }),
    ),
  ])
  return found.flatMap((one) => (one.is === 'object' ? [one.object] : []))
}

async function bindings(
  pages: AsyncIterable<{ items: readonly RoleBinding[] }>,
  account: Account,
): Promise<RoleBinding[]> {
  const found: RoleBinding[] = []
  for await (const { items } of pages) found.push(...items.filter((binding) => binds(binding, account)))
  return found
}

function binds({ subjects = [] }: RoleBinding, { name, namespace }: Account): boolean {
  const groups = new Set([
    'system:serviceaccounts',
    `system:serviceaccounts:${namespace}`,
    'system:authenticated',
  ])
  return subjects.some((subject) =>
    subject.kind === 'ServiceAccount'
      ? subject.name === name && subject.namespace === namespace
      : subject.kind === 'Group' && groups.has(subject.name),
  )
}

function namesOf(kind: 'ClusterRole' | 'Role') {
  return ({ roleRef }: RoleBinding): string[] => (roleRef?.kind === kind ? [roleRef.name] : [])
}

/** One question to RBAC; an optional right can be done without. */
interface AskedRight {
  access: Access
  optional: boolean
}

/** `allowed` is absent where an optional question has no answer: a snapshot of an earlier kvup did not ask it. */
interface AnsweredRight {
  what: string
  allowed?: boolean
  optional: boolean
}

/** One SelfSubjectAccessReview per question. */
async function answeredRights(
  reviewer: Pick<Reviewer, 'can'> | undefined,
  asked: readonly AskedRight[] | undefined,
): Promise<Known<AnsweredRight>> {
  if (asked === undefined) return { known: false, why: 'not asked for' }
  if (reviewer === undefined) return { known: false, why: 'a saved cluster does not show your rights' }
  return known(
    Promise.all(
      asked.map(async ({ access, optional }) => {
        const answer = { what: accessText(access), optional }
        try {
          const { allowed } = await reviewer.can(access)
          return { ...answer, allowed }
        } catch (error) {
          if (!optional || whyUnknown(error) === undefined) throw error
          return answer
        }
      }),
    ),
  )
}
