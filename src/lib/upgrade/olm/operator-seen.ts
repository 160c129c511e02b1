import type { Reader } from '../../cluster/cluster.ts'
import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  type InstallPlan,
  type PackageManifest,
  type Subscription,
  Subscriptions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import { groupOf } from '../../cluster/kind.ts'
import { filled } from '../../facts/filled.ts'
import { itemsOf, type Known } from '../../facts/known.ts'
import { type LifecycleSnapshot, takeLifecycle } from '../../facts/operator-lifecycle/take-lifecycle.ts'
import { type OperatorVersion, operatorVersionOf, versionOfCsv } from '../../releases/operator-version.ts'
import { blocked, forbidden, type KvupError } from '../../system/errors.ts'
import { roleRemedy } from '../../system/role-remedy.ts'
import { hyperConvergedIn } from './hyperconverged-in.ts'
import { type PlatformNow, platformNow } from './platform-now.ts'

/** A channel of the catalog as the cluster shows it: releases without edges (ocp 2.6). */
export interface OfferedChannel {
  name: string
  entries: readonly { csv: string; version: OperatorVersion }[]
}

/** The operator and what OLM offers of it, when a plan is made. */
export interface OperatorSeen {
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
  /** Undefined: the catalog does not show it, or may not be read. */
  offered?: readonly OfferedChannel[]
  platform: PlatformNow
}

/**
 * Finds the Subscription by its package, never by its name (ocp 1.1). Throws `blocked` for each of: no HyperConverged, several, one that OLM
 * does not look after, OLM v1, none or several Subscriptions; `forbidden` where they may not be read.
 */
export async function seeOperator(reader: Reader): Promise<OperatorSeen> {
  const [lifecycle, platform, served] = await Promise.all([
    takeLifecycle(reader, { parts: ['csvs', 'packageManifests', 'installPlans'] }),
    platformNow(reader),
    reader.versions(groupOf(Subscriptions)),
  ])
  refuseOlmV1(lifecycle)
  const subscription = theSubscription(lifecycle.subscriptions, served.length > 0)
  const hyperconverged = await hyperConvergedIn(reader, subscription.metadata.namespace)
  const offered = offeredIn(lifecycle.packageManifests)
  return {
    hyperconverged,
    subscription,
    package: subscription.spec?.name ?? '',
    ...installedOf(subscription, lifecycle.csvs),
    ...(offered && { offered }),
    ...filled({ plan: referenced(subscription, itemsOf(lifecycle.installPlans)) }),
    platform,
  }
}

const referenced = ({ status }: Subscription, plans: readonly InstallPlan[]): InstallPlan | undefined =>
  plans.find(({ metadata }) => metadata.name === status?.installPlanRef?.name)

function installedOf(
  subscription: Subscription,
  csvs: Known<ClusterServiceVersion>,
): Pick<OperatorSeen, 'csv' | 'installed' | 'csvPhase' | 'csvSays' | 'csvIsGone'> {
  const csv = subscription.status?.installedCSV ?? ''
  const found = itemsOf(csvs).find(({ metadata }) => metadata.name === csv)
  const installed = operatorVersionOf(found?.spec?.version) ?? versionOfCsv(csv)
  if (installed === undefined) throw nothingInstalled(subscription, csv)
  return { csv, installed, csvIsGone: csvs.known && found === undefined, ...standingOf(found) }
}

function standingOf(csv: ClusterServiceVersion | undefined): Pick<OperatorSeen, 'csvPhase' | 'csvSays'> {
  const { phase, reason, message } = csv?.status ?? {}
  return filled({ csvPhase: phase, csvSays: [reason, message].filter(Boolean).join(': ') || undefined })
}

/** ocp 2.9: HyperConverged needs OperatorConditions and webhooks, which generation 1 does not give it. */
function refuseOlmV1({ clusterExtensions }: LifecycleSnapshot): void {
  const [extension] = itemsOf(clusterExtensions)
  if (extension === undefined) return
  const object = `clusterextensions/${extension.metadata.name}`
  throw blocked(
    'olm-v1',
    `${object} installs HyperConverged by OLM v1, which knows no OperatorConditions: kvup upgrades it by OLM v0 alone`,
    {
      object,
      remedy: `kubectl get ${object} -o yaml     shows who asks for it there`,
    },
  )
}

function theSubscription(
  subscriptions: Known<Subscription>,
  isServed: boolean,
): OperatorSeen['subscription'] {
  if (!subscriptions.known)
    throw forbidden(
      'subscriptions-not-readable',
      `cannot tell which Subscription there is: ${subscriptions.why}`,
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
  const names = found.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`).join(', ')
  return blocked(
    'several-subscriptions',
    `there are ${found.length} Subscriptions of HyperConverged (${names}); a cluster has one`,
    {
      remedy:
        'kubectl get subscriptions.operators.coreos.com -A, then delete the one in whose namespace there is no HyperConverged',
    },
  )
}

/** Night E10: where nobody looks after the operator its own manifests move it. Commands. */
export const byHand: readonly string[] = [
  'kubectl apply --server-side --force-conflicts -f deploy/crds -f deploy/cluster_role.yaml -f deploy/service_account.yaml -f deploy/cluster_role_binding.yaml -f deploy/webhooks.yaml -f deploy/operator.yaml     of that tag of kubevirt/hyperconverged-cluster-operator, a minor at a time',
  'kvup status     shows how far it is',
]

function withoutOlm(): KvupError {
  return blocked(
    'no-olm',
    'there is no Operator Lifecycle Manager here: nobody would carry an upgrade of HyperConverged out',
    {
      remedy: byHand,
    },
  )
}

function withoutSubscription(): KvupError {
  return blocked('no-subscription', 'no Subscription is of HyperConverged: OLM does not look after it', {
    remedy: ['kubectl get subscriptions.operators.coreos.com -A', ...byHand],
  })
}

function nothingInstalled({ metadata }: Subscription, csv: string): KvupError {
  const object = `subscriptions/${metadata.name} in namespace ${metadata.namespace ?? ''}`
  return blocked(
    'nothing-installed',
    `${object} has ${csv === '' ? 'nothing' : csv} installed: there is no release to come from`,
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
