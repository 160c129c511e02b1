import type { Reader } from '../kube/cluster.ts'
import {
  type CatalogSource,
  CatalogSources,
  type ClusterExtension,
  ClusterExtensions,
  type ClusterServiceVersion,
  ClusterServiceVersions,
  copiedFromLabel,
  type InstallPlan,
  InstallPlans,
  type OperatorCondition,
  OperatorConditions,
  type OperatorGroup,
  OperatorGroups,
  type PackageManifest,
  PackageManifests,
  type Subscription,
  Subscriptions,
} from '../kube/kinds/operator-kinds.ts'
import {
  filled,
  itemsOf,
  type Known,
  known,
  listServed,
  notAsked,
  onlyKnown,
  readParts,
} from '../kube/known.ts'
import type { Deployment } from '../kube/kinds/workload-kinds.ts'
import { ApiError } from '../kube/errors.ts'
import { since } from '../kube/timestamps.ts'

/** Of OKD's and upstream's catalogs, and of OpenShift's (ocp 1.1). */
const hyperConvergedPackages: readonly string[] = [
  'kubevirt-hyperconverged',
  'community-kubevirt-hyperconverged',
]

/** What was seen of the Operator Lifecycle Manager around one package. A kind that is not served is known, and there are none of it. */
export interface LifecycleSnapshot {
  /** Of the packages, in every namespace: one is right. */
  subscriptions: Known<Subscription>
  /** OLM v1: of the packages (ocp 2.9). */
  clusterExtensions: Known<ClusterExtension>
  /** Where the Subscription is, or what was asked for; undefined where there is neither, and all below is not asked for. */
  namespace?: string
  installPlans: Known<InstallPlan>
  /** No copies of other namespaces' (ocp 2.7). */
  csvs: Known<ClusterServiceVersion>
  operatorGroups: Known<OperatorGroup>
  operatorConditions: Known<OperatorCondition>
  /** That the Subscriptions name. */
  catalogSources: Known<CatalogSource>
  /** Of the package in that catalog; unknown where the aggregated API is missing. */
  packageManifests: Known<PackageManifest>
}

type LifecyclePart = Exclude<keyof LifecycleSnapshot, 'subscriptions' | 'clusterExtensions' | 'namespace'>

interface Wants {
  /** Saves a round trip where it is known. */
  namespace?: string
  /** The packages of HyperConverged where it is left out. */
  packages?: readonly string[]
  /** All where it is left out. */
  parts?: readonly LifecyclePart[]
}

const nothing: Record<LifecyclePart, Known<never>> = {
  installPlans: notAsked,
  csvs: notAsked,
  operatorGroups: notAsked,
  operatorConditions: notAsked,
  catalogSources: notAsked,
  packageManifests: notAsked,
}

/**
 * Subscriptions are found by their package, never by name (ocp 1.1). Two round trips, one where the namespace is given and no catalog is asked
 * for. A part that may not be read or was not saved is unknown; any other ApiError is thrown.
 */
export async function takeLifecycle(
  reader: Reader,
  { namespace, packages = hyperConvergedPackages, parts }: Wants = {},
): Promise<LifecycleSnapshot> {
  const wants = parts ?? (Object.keys(nothing) as LifecyclePart[])
  const listed = subscriptionsOf(reader, packages)
  const extensions = extensionsOf(reader, packages)
  // Awaited last; an early failure of it must not go unhandled until then.
  extensions.catch(() => undefined)
  const home = namespace ?? itemsOf(await listed)[0]?.metadata.namespace
  const [subscriptions, clusterExtensions, around, offered] = await Promise.all([
    listed,
    extensions,
    home === undefined ? {} : inNamespace(reader, home, wants),
    listed.then(async (found) => catalogParts(reader, itemsOf(found), wants)),
  ])
  return {
    ...nothing,
    ...around,
    ...offered,
    subscriptions,
    clusterExtensions,
    ...(home !== undefined && { namespace: home }),
  }
}

async function subscriptionsOf(reader: Reader, packages: readonly string[]): Promise<Known<Subscription>> {
  const all = await known(listServed(reader, Subscriptions))
  return onlyKnown(all, ({ spec }) => packages.includes(spec?.name ?? ''))
}

async function extensionsOf(reader: Reader, packages: readonly string[]): Promise<Known<ClusterExtension>> {
  const all = await known(listServed(reader, ClusterExtensions))
  return onlyKnown(all, ({ spec }) => packages.includes(spec?.source?.catalog?.packageName ?? ''))
}

type Parts = Partial<LifecycleSnapshot>

function inNamespace(reader: Reader, namespace: string, wants: readonly LifecyclePart[]): Promise<Parts> {
  const own = { namespace, labels: `!${copiedFromLabel}` }
  return readParts(wants, {
    installPlans: () => listServed(reader, InstallPlans, { namespace }),
    csvs: () => listServed(reader, ClusterServiceVersions, own),
    operatorGroups: () => listServed(reader, OperatorGroups, { namespace }),
    operatorConditions: () => listServed(reader, OperatorConditions, own),
  })
}

function catalogParts(
  reader: Reader,
  subscriptions: readonly Subscription[],
  wants: readonly LifecyclePart[],
): Promise<Parts> {
  return readParts(wants, {
    catalogSources: () => catalogsOf(reader, subscriptions),
    packageManifests: () => packageManifestsOf(reader, subscriptions),
  })
}

/** The catalogs that Subscriptions name; one that is gone is left out. Throws ApiError. */
async function catalogsOf(reader: Reader, subscriptions: readonly Subscription[]): Promise<CatalogSource[]> {
  const found = await Promise.all(
    offersOf(subscriptions).map(async ({ source, namespace }) =>
      reader.get(CatalogSources, { name: source, namespace }),
    ),
  )
  return found.flatMap((answer) => (answer.is === 'object' ? [answer.object] : []))
}

/** What those catalogs offer of the package: the same package may be in several (ocp 2.6). Throws ApiError, 404 without the aggregated API. */
async function packageManifestsOf(
  reader: Reader,
  subscriptions: readonly Subscription[],
): Promise<PackageManifest[]> {
  const found = await Promise.all(
    offersOf(subscriptions).map(async ({ package: name, source, namespace }) => {
      const all = await reader.list(PackageManifests, { namespace, name })
      return all.filter(({ status }) => status?.catalogSource === source)
    }),
  )
  return found.flat()
}

/** A catalog that does not answer, in words; undefined where it does. The condition CatalogSourcesUnhealthy does not tell: OLM looks for pods there, not at the connection. */
export function silentCatalog({ metadata, status }: CatalogSource): string | undefined {
  const { lastObservedState: state = 'not connected yet' } = status?.connectionState ?? {}
  if (state === 'READY') return undefined
  return `CatalogSource ${metadata.name} in namespace ${metadata.namespace ?? ''} is ${state}`
}

export const showsCatalog = ({ name, namespace = '' }: CatalogSource['metadata']): string =>
  `kubectl -n ${namespace} get catalogsource ${name} -o yaml`

function offersOf(
  subscriptions: readonly Subscription[],
): { package: string; source: string; namespace: string }[] {
  const offers = subscriptions.map(({ spec = {}, metadata }) => ({
    package: spec.name ?? '',
    source: spec.source ?? '',
    namespace: spec.sourceNamespace ?? metadata.namespace ?? '',
  }))
  return [...new Map(offers.map((offer) => [JSON.stringify(offer), offer])).values()]
}

/**
 * For a look, which loses nothing without them: PackageManifests come from a server of their own (ocp 2.6), and where that is away nothing else is.
 * Whoever decides by them asks `takeLifecycle`, and tries again.
 */
export async function shownPackages(
  reader: Reader,
  subscriptions: readonly Subscription[],
): Promise<Known<PackageManifest>> {
  try {
    return await known(packageManifestsOf(reader, subscriptions))
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 500) throw error
    return { known: false, why: error.message }
  }
}

/** A channel of a package, and the newest release in it. */
export interface PackageChannelHead {
  name: string
  /** `1.18.1`, or the name of the CSV where no version is told; absent where the channel shows nothing. */
  newest?: string
}

/** Those of the catalog that the Subscription names, in the order in which it tells them. */
export function channelsOf(manifests: readonly PackageManifest[]): readonly PackageChannelHead[] {
  const channels = manifests.flatMap(({ status }) => status?.channels ?? [])
  return channels.map(({ name = '', currentCSV, currentCSVDesc }) => {
    const newest = currentCSVDesc?.version ?? currentCSV
    return newest === undefined ? { name } : { name, newest }
  })
}

/** Where a Subscription stands (ocp 2.1). Neither `installed` nor AtLatestKnown proves that anything runs (ocp 9.10). */
export interface SubscriptionStatus {
  name: string
  namespace: string
  package: string
  channel?: string
  source: string
  sourceNamespace: string
  /** Automatic where nothing is said, as OLM takes it. */
  approval: 'Automatic' | 'Manual'
  /** The CSV whose object exists, whatever its phase. */
  installed?: string
  /** The CSV that is, or is to be, the latest of the channel. */
  latest?: string
  /** `UpgradePending`, `AtLatestKnown`, `UpgradeFailed`, ``. */
  state: string
  /** The InstallPlan that it refers to. */
  plan?: string
  /** What keeps OLM from going on, in its words. */
  troubles: readonly SubscriptionTrouble[]
}

interface SubscriptionTrouble {
  type: string
  reason: string
  message: string
}

const bad = new Set([
  'CatalogSourcesUnhealthy',
  'InstallPlanMissing',
  'InstallPlanFailed',
  'ResolutionFailed',
  'BundleUnpackFailed',
])

/** Pure. */
export function assessSubscription(subscription: Subscription): SubscriptionStatus {
  const { metadata, spec = {}, status = {} } = subscription
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    ...wished(subscription),
    state: status.state ?? '',
    troubles: troubles(subscription),
    ...filled({
      channel: spec.channel,
      installed: status.installedCSV,
      latest: status.currentCSV,
      plan: status.installPlanRef?.name,
    }),
  }
}

type Wished = Pick<SubscriptionStatus, 'package' | 'source' | 'sourceNamespace' | 'approval'>

function wished({ spec: { name, source, sourceNamespace, installPlanApproval } = {} }: Subscription): Wished {
  return {
    package: name ?? '',
    source: source ?? '',
    sourceNamespace: sourceNamespace ?? '',
    approval: installPlanApproval ?? 'Automatic',
  }
}

function troubles({ status }: Subscription): readonly SubscriptionTrouble[] {
  const found = (status?.conditions ?? []).filter((one) => bad.has(one.type) && one.status === 'True')
  return found.map(({ type, reason = '', message = '' }) => ({ type, reason, message }))
}

/**
 * OLM makes a plan once its bundles are unpacked, and leaves BundleUnpackFailed of a try before that on the Subscription until it resolves without anything to do: while what
 * it goes to waits or is installed the condition is stale. Undefined where it is not, or is not known to be. `plan`: the one that the Subscription refers to.
 */
export function unpackedNote(
  { status: { currentCSV } = {} }: Subscription,
  plan: InstallPlan | undefined,
  csvs: readonly ClusterServiceVersion[],
): string | undefined {
  const named = (name: string | undefined) => csvs.find(({ metadata }) => metadata.name === name)
  const own = named(currentCSV)
  const isAhead =
    plan?.spec?.clusterServiceVersionNames?.includes(currentCSV ?? '') === true &&
    !['Complete', 'Failed'].includes(plan.status?.phase ?? '')
  const isUnderWay =
    own !== undefined && (own.status?.phase !== 'Succeeded' || named(own.spec?.replaces) !== undefined)
  return isAhead || isUnderWay
    ? `BundleUnpackFailed is stale: the bundle of ${currentCSV} is unpacked`
    : undefined
}

/** Where an InstallPlan stands (ocp 2.2). */
export interface InstallPlanStatus {
  name: string
  namespace: string
  phase: string
  /** `preparing`: an approval now would make a second plan (ocp 9.13). `done`: what it holds was written, and no more. */
  state: 'preparing' | 'needs-approval' | 'approved' | 'installing' | 'done' | 'failed'
  approved: boolean
  /** All that it installs, each once: of every Subscription in the namespace (ocp 9.12). */
  csvs: readonly string[]
  /** Its CSV was written, which is its first step: OLM makes no other plan for that, also when this one is deleted. */
  executed: boolean
  /** The Subscription that was given refers to it. */
  referenced: boolean
  message: string
  /** RFC 3339. */
  startedAt?: string
}

const states: Readonly<Record<string, InstallPlanStatus['state']>> = {
  Installing: 'installing',
  Complete: 'done',
  Failed: 'failed',
}

/** Pure. */
export function assessInstallPlan(plan: InstallPlan, subscription?: Subscription): InstallPlanStatus {
  const { metadata, spec = {}, status = {} } = plan
  const { phase = '', message = '', startTime } = status
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    phase,
    state: installPlanState(plan),
    approved: spec.approved === true,
    csvs: [...new Set(spec.clusterServiceVersionNames)],
    executed: (plan.status?.plan ?? []).some(
      ({ resource, status: is = '' }) => resource?.kind === 'ClusterServiceVersion' && written.has(is),
    ),
    referenced: subscription !== undefined && refersTo(subscription, plan),
    message,
    ...(startTime && { startedAt: startTime }),
  }
}

function installPlanState({ spec, status }: InstallPlan): InstallPlanStatus['state'] {
  const { phase = '' } = status ?? {}
  if (phase === 'RequiresApproval') return spec?.approved === true ? 'approved' : 'needs-approval'
  return states[phase] ?? 'preparing'
}

const written: ReadonlySet<string> = new Set(['Created', 'Present'])

/**
 * What is left where a plan failed that was executed: olm-real 4, where neither the plan nor the CSV alone could be deleted with success. A new Subscription alone is
 * no way out: OLM does not tie it to a CSV that exists, and resolves nothing while there is one (olm-docs, troubleshooting of a subscription). No command is printed
 * for it: nobody ran it, and no operator runs meanwhile. Sentences.
 */
export const afterExecuted = (subscription: string, csvs: readonly string[]): readonly string[] => [
  `deleting the InstallPlan does not help: ${csvs.join(', ')} exists already, and OLM creates no other plan for it`,
  `By the documentation of OLM (untested): fix the cause. Delete subscription ${subscription} and every ClusterServiceVersion of this operator, the running one too. Create the Subscription again with startingCSV ${csvs.join(', ')} (untested). No operator runs meanwhile, but VMs keep running`,
]

function refersTo({ status, metadata }: Subscription, plan: InstallPlan): boolean {
  const { name, namespace = metadata.namespace, uid } = status?.installPlanRef ?? {}
  const isSame = name === plan.metadata.name && namespace === plan.metadata.namespace
  return isSame && (uid === undefined || plan.metadata.uid === undefined || uid === plan.metadata.uid)
}

/** Where a ClusterServiceVersion stands (ocp 2.4). */
export interface CsvStatus {
  name: string
  version?: string
  phase: string
  /**
   * `held`: OLM waits for the OperatorCondition of the one before. `failing`: Failed, which mends itself more often than not;
   * `failed`: Failed for longer than that, or for a reason that nothing mends. `leaving`: replaced, or being removed.
   */
  state: 'succeeded' | 'going' | 'held' | 'failing' | 'failed' | 'leaving'
  reason: string
  message: string
  /** Its requirements are looked for: the CSV is made before its CRDs and roles, so it says in every update that they are missing. */
  isUsual: boolean
  /** RFC 3339: since when it is in this phase. */
  since?: string
  /** RFC 3339: since when it has not been Succeeded; a CSV flips between Failed, Pending and Installing. */
  unsettledSince?: string
}

/** How long it may be without success and still be about to have it (ocp 5.1: ten minutes are usual). */
export const failurePatience = 10 * 60_000

const early: ReadonlySet<string> = new Set(['RequirementsUnknown', 'RequirementsNotMet'])

/** They were there after 3 to 30 s. */
const requirementsWithin = 60_000

const lasting = new Set([
  'NoOperatorGroup',
  'TooManyOperatorGroups',
  'UnsupportedOperatorGroup',
  'InvalidInstallModes',
  'InvalidStrategy',
  'InvalidWebhookDescription',
  'OwnerConflict',
  'InterOperatorGroupOwnerConflict',
  'CannotModifyStaticOperatorGroupProvidedAPIs',
])

const pausedReason = 'OperatorConditionNotUpgradeable'

/** Pure; `at` is the time of the look. */
export function assessCsv(csv: ClusterServiceVersion, at: Date): CsvStatus {
  const { phase = '', reason = '', message = '', lastTransitionTime } = csv.status ?? {}
  const unsettledSince = unsettled(csv)
  return {
    name: csv.metadata.name,
    phase,
    state: csvState(csv, since(unsettledSince, at) ?? 0),
    reason,
    message,
    isUsual:
      phase === 'Pending' && early.has(reason) && (since(lastTransitionTime, at) ?? 0) < requirementsWithin,
    ...filled({ version: csv.spec?.version, since: lastTransitionTime, unsettledSince }),
  }
}

function csvState({ status = {} }: ClusterServiceVersion, unsettledFor: number): CsvStatus['state'] {
  const { phase, reason = '' } = status
  if (phase === 'Succeeded') return 'succeeded'
  if (phase === 'Replacing' || phase === 'Deleting') return 'leaving'
  if (reason === pausedReason) return 'held'
  if (phase !== 'Failed') return 'going'
  return lasting.has(reason) || unsettledFor >= failurePatience ? 'failed' : 'failing'
}

/** The oldest of the entries since the last Succeeded: its conditions are a history, the newest last. */
function unsettled({ status = {}, metadata }: ClusterServiceVersion): string | undefined {
  if (status.phase === 'Succeeded') return undefined
  const { conditions = [] } = status
  const last = conditions.findLastIndex(({ phase }) => phase === 'Succeeded')
  return conditions[last + 1]?.lastTransitionTime ?? status.lastTransitionTime ?? metadata.creationTimestamp
}

/** A release that OLM has laid down and keeps from starting. */
export interface PendingRelease {
  /** The new CSV. */
  csv: string
  /** The one that still runs, and whose OperatorCondition decides. */
  replaces?: string
  /** In OLM's words. */
  message: string
  /** RFC 3339. */
  since?: string
}

/**
 * It looks like an upgrade that is stuck: the plan Complete, the Subscription AtLatestKnown with the new CSV as installed, the old
 * one Replacing (ocp 9.11). Only the new CSV's own reason tells it.
 */
export function heldByCondition(csvs: readonly ClusterServiceVersion[]): PendingRelease | undefined {
  const held = csvs.find(({ status }) => status?.phase === 'Pending' && status.reason === pausedReason)
  if (!held) return undefined
  return {
    csv: held.metadata.name,
    message: held.status?.message ?? '',
    ...filled({ replaces: held.spec?.replaces, since: held.status?.lastTransitionTime }),
  }
}

/**
 * What there is to say where a Subscription names a CSV as installed and there is none: somebody deleted it. OLM resolves from what it finds, and what it found
 * installed it does not make again (ocp 2.3; played on the simulator in trap 11).
 */
export const goneCsv = (subscription: string, csv: string): string =>
  `subscription ${subscription} names ${csv} as installed, and there is no such ClusterServiceVersion: OLM does not recreate it`

/** What is there instead. */
export const showsWithoutCsv = (namespace: string): string =>
  `kubectl -n ${namespace} get csv,installplans,subscriptions.operators.coreos.com`

/** The release of KubeVirt that a CSV brings, as the Deployment of its virt-operator says. */
export function kubeVirtIn({ spec }: ClusterServiceVersion): string | undefined {
  const deployments = spec?.install?.spec?.deployments ?? []
  const pods = deployments.map((one) => (one.spec as Partial<Deployment>['spec'] | undefined)?.template?.spec)
  const env = pods.flatMap((pod) => pod?.containers ?? []).flatMap((container) => container.env ?? [])
  return env.find(({ name }) => name === 'KUBEVIRT_VERSION')?.value
}
