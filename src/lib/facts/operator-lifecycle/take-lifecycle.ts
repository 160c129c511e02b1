import type { Reader } from '../../cluster/cluster.ts'
import {
  type CatalogSource,
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
  type Subscription,
  Subscriptions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import { type Known, itemsOf, known, notAsked } from '../known.ts'
import { listServed } from '../list-served.ts'
import { catalogsOf, packageManifestsOf } from './catalogs-of.ts'

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
  return all.known
    ? { known: true, items: all.items.filter(({ spec }) => packages.includes(spec?.name ?? '')) }
    : all
}

async function extensionsOf(reader: Reader, packages: readonly string[]): Promise<Known<ClusterExtension>> {
  const all = await known(listServed(reader, ClusterExtensions))
  const isOne = ({ spec }: ClusterExtension) => packages.includes(spec?.source?.catalog?.packageName ?? '')
  return all.known ? { known: true, items: all.items.filter(isOne) } : all
}

type Parts = Partial<LifecycleSnapshot>

async function inNamespace(
  reader: Reader,
  namespace: string,
  wants: readonly LifecyclePart[],
): Promise<Parts> {
  const own = { namespace, labels: `!${copiedFromLabel}` }
  const part = async <T>(name: LifecyclePart, read: () => Promise<readonly T[]>): Promise<Parts> =>
    wants.includes(name) ? { [name]: await known(read()) } : {}
  const found = await Promise.all([
    part('installPlans', async () => listServed(reader, InstallPlans, { namespace })),
    part('csvs', async () => listServed(reader, ClusterServiceVersions, own)),
    part('operatorGroups', async () => listServed(reader, OperatorGroups, { namespace })),
    part('operatorConditions', async () => listServed(reader, OperatorConditions, own)),
  ])
  return Object.fromEntries(found.flatMap((one) => Object.entries(one)))
}

async function catalogParts(
  reader: Reader,
  subscriptions: readonly Subscription[],
  wants: readonly LifecyclePart[],
): Promise<Parts> {
  const [catalogSources, packageManifests] = await Promise.all([
    wants.includes('catalogSources') ? known(catalogsOf(reader, subscriptions)) : notAsked,
    wants.includes('packageManifests') ? known(packageManifestsOf(reader, subscriptions)) : notAsked,
  ])
  return { catalogSources, packageManifests }
}
