import type { Reader } from '../../kube/cluster.ts'
import {
  type CatalogSource,
  type ClusterServiceVersion,
  ClusterServiceVersions,
  type HyperConverged,
  type InstallPlan,
  type PackageManifest,
  type Subscription,
  Subscriptions,
} from '../../kube/kinds/operator-kinds.ts'
import { groupOf, keyOf } from '../../kube/object.ts'
import { filled, itemsOf, type Known } from '../../kube/known.ts'
import {
  type LifecycleSnapshot,
  showsCatalog,
  silentCatalog,
  takeLifecycle,
} from '../../openshift/olm-status.ts'
import {
  compareOperatorVersions,
  type OperatorVersion,
  operatorVersionOf,
  stemOf,
  versionOfCsv,
} from '../../releases/release-versions.ts'
import { blocked, forbidden, type KvupError } from '../../kube/errors.ts'
import { hyperConvergedIn, type PlatformNow, platformNow } from './operator-manifest.ts'
import { type PlanContents, planContents } from './install-plan-contents.ts'
import { roleRemedy } from '../../output/kvup-words.ts'

/** A channel of the catalog as the cluster shows it: releases without edges (ocp 2.6). */
export interface OfferedChannel {
  name: string
  entries: readonly { csv: string; version: OperatorVersion }[]
}

/** The operator and what OLM offers of it, when a plan is made. */
export interface OperatorSnapshot {
  hyperconverged: HyperConverged
  subscription: Subscription & { metadata: { namespace: string; uid: string } }
  package: string
  /** The CSV that is installed, and its version. */
  csv: string
  installed: OperatorVersion
  /** Of that CSV; undefined where it may not be read, or is not there. */
  csvPhase?: string
  /** Its reason and message, as OLM gives them. */
  csvSays?: string
  /** The Subscription names it as installed, and there is none. */
  csvIsGone: boolean
  /** The InstallPlan that the Subscription refers to. */
  plan?: InstallPlan
  /** The release in that plan while it is not carried out: OLM installs it, whatever the catalog shows now. */
  waiting?: OperatorVersion
  /** What that plan installs, while it waits for an approval. */
  contents?: PlanContents
  /** The catalog does not answer: in words, and what shows it. */
  silent?: { why: string; show: string }
  /** Undefined: the catalog does not show it, or may not be read. */
  offered?: readonly OfferedChannel[]
  platform: PlatformNow
}

/**
 * Finds the Subscription by its package, never by its name (ocp 1.1). Throws `blocked` for each of: no HyperConverged, several, one that OLM
 * does not look after, OLM v1, none or several Subscriptions; `forbidden` where they may not be read.
 */
export async function seeOperator(reader: Reader): Promise<OperatorSnapshot> {
  const [lifecycle, platform, served] = await Promise.all([
    takeLifecycle(reader, { parts: ['csvs', 'packageManifests', 'installPlans', 'catalogSources'] }),
    platformNow(reader),
    reader.versions(groupOf(Subscriptions)),
  ])
  refuseOlmV1(lifecycle)
  const subscription = theSubscription(lifecycle.subscriptions, served.length > 0)
  const hyperconverged = await hyperConvergedIn(reader, subscription.metadata.namespace)
  const offered = offeredIn(lifecycle.packageManifests)
  const plan = referenced(subscription, itemsOf(lifecycle.installPlans))
  const contents =
    plan?.status?.phase === 'RequiresApproval' && plan.spec?.approved !== true
      ? await planContents(reader, plan, itemsOf(lifecycle.csvs))
      : undefined
  return {
    hyperconverged,
    subscription,
    package: subscription.spec?.name ?? '',
    ...installedOf(subscription, lifecycle.csvs),
    ...(offered && { offered }),
    ...filled({
      plan,
      contents,
      waiting: waitingIn(plan, subscription),
      silent: silentAmong(itemsOf(lifecycle.catalogSources)),
    }),
    platform,
  }
}

const referenced = ({ status }: Subscription, plans: readonly InstallPlan[]): InstallPlan | undefined =>
  plans.find(({ metadata }) => metadata.name === status?.installPlanRef?.name)

function waitingIn(plan: InstallPlan | undefined, { status }: Subscription): OperatorVersion | undefined {
  if (plan === undefined || isOver.has(plan.status?.phase ?? '')) return undefined
  const stem = stemOf(status?.installedCSV ?? '')
  return versionOfCsv(plan.spec?.clusterServiceVersionNames?.find((name) => stemOf(name) === stem))
}

const isOver: ReadonlySet<string> = new Set(['Complete', 'Failed'])

function silentAmong(catalogs: readonly CatalogSource[]): OperatorSnapshot['silent'] {
  const silent = catalogs.find((one) => silentCatalog(one) !== undefined)
  const why = silent && silentCatalog(silent)
  return silent && why !== undefined ? { why, show: showsCatalog(silent.metadata) } : undefined
}

function installedOf(
  subscription: Subscription,
  csvs: Known<ClusterServiceVersion>,
): Pick<OperatorSnapshot, 'csv' | 'installed' | 'csvPhase' | 'csvSays' | 'csvIsGone'> {
  const csv = subscription.status?.installedCSV ?? ''
  const found = itemsOf(csvs).find(({ metadata }) => metadata.name === csv)
  const installed = operatorVersionOf(found?.spec?.version) ?? versionOfCsv(csv)
  if (installed === undefined) throw nothingInstalled(subscription, csv)
  return { csv, installed, csvIsGone: csvs.known && found === undefined, ...statusOf(found) }
}

function statusOf(csv: ClusterServiceVersion | undefined): Pick<OperatorSnapshot, 'csvPhase' | 'csvSays'> {
  const { phase, reason, message } = csv?.status ?? {}
  return filled({ csvPhase: phase, csvSays: [reason, message].filter(Boolean).join(': ') || undefined })
}

/** HyperConverged needs OperatorConditions and webhooks, which generation 1 does not give it (ocp 2.9). */
function refuseOlmV1({ clusterExtensions }: LifecycleSnapshot): void {
  const [extension] = itemsOf(clusterExtensions)
  if (extension === undefined) return
  const object = `clusterextensions/${extension.metadata.name}`
  throw blocked(
    'olm-v1',
    `${object} installs HyperConverged by OLM v1, which has no OperatorConditions: kvup upgrades it only through OLM v0`,
    {
      object,
      remedy: `kubectl get ${object} -o yaml     shows who asks for it there`,
    },
  )
}

function theSubscription(
  subscriptions: Known<Subscription>,
  isServed: boolean,
): OperatorSnapshot['subscription'] {
  if (!subscriptions.known)
    throw forbidden(
      'subscriptions-not-readable',
      `kvup cannot see which Subscription exists: ${subscriptions.why}`,
      {
        remedy: roleRemedy('kvup-olm'),
      },
    )
  const [only, second] = subscriptions.items
  if (second !== undefined) throw severalSubscriptions(subscriptions.items)
  if (only === undefined) throw isServed ? withoutSubscription() : withoutOlm()
  const { namespace = '', uid = '' } = only.metadata
  return { ...only, metadata: { ...only.metadata, namespace, uid } }
}

function severalSubscriptions(found: readonly Subscription[]): KvupError {
  const names = found.map(keyOf).join(', ')
  return blocked(
    'several-subscriptions',
    `there are ${found.length} Subscriptions of HyperConverged (${names}), but only one may exist`,
    {
      remedy:
        'kubectl get subscriptions.operators.coreos.com -A     the one in whose namespace there is no HyperConverged is too many',
    },
  )
}

/** Where nobody looks after the operator its own manifests move it (night E10). Commands. */
export const manually: readonly string[] = [
  'kubectl apply --server-side --force-conflicts -f deploy/crds -f deploy/cluster_role.yaml -f deploy/service_account.yaml -f deploy/cluster_role_binding.yaml -f deploy/webhooks.yaml -f deploy/operator.yaml     of that tag of kubevirt/hyperconverged-cluster-operator, a minor at a time',
  'kvup status     shows its progress',
]

const withoutOlm = (): KvupError =>
  blocked('no-olm', 'the cluster has no Operator Lifecycle Manager: nothing would upgrade HyperConverged', {
    remedy: manually,
  })

function withoutSubscription(): KvupError {
  return blocked('no-subscription', 'HyperConverged has no Subscription: OLM does not manage it', {
    remedy: ['kubectl get subscriptions.operators.coreos.com -A', ...manually],
  })
}

function nothingInstalled({ metadata }: Subscription, csv: string): KvupError {
  const object = `subscriptions/${metadata.name} in namespace ${metadata.namespace ?? ''}`
  return blocked(
    'nothing-installed',
    `${object} has ${csv === '' ? 'nothing' : csv} installed: there is no release to upgrade from`,
    {
      object,
      remedy: `kubectl -n ${metadata.namespace ?? ''} get ${ClusterServiceVersions.plural},installplans`,
    },
  )
}

function offeredIn(manifests: Known<PackageManifest>): readonly OfferedChannel[] | undefined {
  const channels = itemsOf(manifests).flatMap(({ status }) => status?.channels ?? [])
  if (channels.length === 0) return undefined
  return channels.map(({ name = '', currentCSV, currentCSVDesc, entries }) => {
    const listed =
      entries ??
      (currentCSV === undefined ? [] : [{ name: currentCSV, version: currentCSVDesc?.version ?? '' }])
    return {
      name,
      entries: listed.flatMap((entry) => {
        const version = operatorVersionOf(entry.version) ?? versionOfCsv(entry.name)
        return entry.name === undefined || version === undefined ? [] : [{ csv: entry.name, version }]
      }),
    }
  })
}

/** A hop as far as it can be told beforehand. */
export interface GuessedHop {
  csv: string
  version: string
  /** Undefined: the one that is set leads there. */
  channel?: string
}

export interface OperatorUpdate {
  from: OperatorVersion
  /** Set now. */
  channel: string | undefined
  to: OperatorVersion
  /** What the CSV of a version is called where no channel names it. */
  csvNamed: (version: string) => string
}

/**
 * The hops from what the cluster shows of the catalog: it names no edges (ocp 2.6), so a channel that is set and has the target is stayed in, and
 * else it goes minor by minor, to the newest release of each minor's channel (ocp 1.1). What OLM really takes is seen on the way. Pure.
 */
export function guessHops(offered: readonly OfferedChannel[], update: OperatorUpdate): readonly GuessedHop[] {
  const hops: GuessedHop[] = []
  let { from, channel } = update
  for (
    let next = step(offered, { ...update, from, channel });
    next !== undefined;
    next = step(offered, { ...update, from, channel })
  ) {
    const isOther = next.channel !== undefined && next.channel !== channel
    hops.push({ csv: next.csv, version: next.version.text, ...(isOther && { channel: next.channel }) })
    from = next.version
    channel = next.channel ?? channel
  }
  return hops
}

interface Next {
  csv: string
  version: OperatorVersion
  channel?: string
}

function step(
  offered: readonly OfferedChannel[],
  { from, channel, to, csvNamed }: OperatorUpdate,
): Next | undefined {
  if (compareOperatorVersions(from, to) >= 0) return undefined
  const target = entryOf(offered, channel, to) ?? { csv: csvNamed(to.text), version: to }
  if (from.major !== to.major || to.minor - from.minor <= 1 || has(offered, channel, to)) return target
  return newestOf(offered, { ...from, minor: from.minor + 1 }) ?? target
}

const has = (offered: readonly OfferedChannel[], channel: string | undefined, to: OperatorVersion): boolean =>
  offered.some(
    ({ name, entries }) => name === channel && entries.some(({ version }) => version.text === to.text),
  )

/** In the channel that is set where it has it, else in that whose newest release is the least: a later one leads further than was asked for. */
function entryOf(
  offered: readonly OfferedChannel[],
  channel: string | undefined,
  to: OperatorVersion,
): Next | undefined {
  const having = offered.filter(({ entries }) => entries.some(({ version }) => version.text === to.text))
  const [first] = having.toSorted(
    (a, b) =>
      Number(b.name === channel) - Number(a.name === channel) ||
      compareOperatorVersions(headOf(a), headOf(b)),
  )
  const entry = first?.entries.find(({ version }) => version.text === to.text)
  return first && entry && { ...entry, channel: first.name }
}

function headOf({ entries }: OfferedChannel): OperatorVersion {
  const [first, ...others] = entries.map(({ version }) => version)
  const none = { text: '0.0.0', major: 0, minor: 0, patch: 0 }
  return others.reduce((a, b) => (compareOperatorVersions(a, b) < 0 ? b : a), first ?? none)
}

/** A channel whose newest release is of that minor. */
function newestOf(offered: readonly OfferedChannel[], { major, minor }: OperatorVersion): Next | undefined {
  const channel = offered.find((one) => headOf(one).major === major && headOf(one).minor === minor)
  const entry = channel?.entries.find(({ version }) => version.text === headOf(channel).text)
  return channel && entry && { ...entry, channel: channel.name }
}
