import type { CatalogSource, ClusterExtension } from '../../cluster/kinds/operator-lifecycle.ts'
import { itemsOf, type Known } from '../known.ts'
import { channelsOf } from '../operator-lifecycle/channels-of.ts'
import { installPlanStanding } from '../operator-lifecycle/install-plan-standing.ts'
import {
  type SubscriptionStanding,
  subscriptionStanding,
} from '../operator-lifecycle/subscription-standing.ts'
import type { LifecycleSnapshot } from '../operator-lifecycle/take-lifecycle.ts'
import { csvLayer } from './csv-layer.ts'
import { installPlanLayer } from './install-plan-layer.ts'
import type { Layer } from './layer.ts'
import { operatorGroupLayer } from './operator-group-layer.ts'

/** Catalog, OperatorGroups where there is not exactly one, Subscription, the InstallPlan that it refers to where that is not done, and its CSV. None where OLM installs nothing of KubeVirt. */
export function lifecycleLayers(lifecycle: LifecycleSnapshot, at: Date): Layer[] {
  const { subscriptions, clusterExtensions } = lifecycle
  if (!subscriptions.known) return [{ layer: 'subscription', verdict: 'Unknown', says: subscriptions.why }]
  const standings = subscriptions.items.map(subscriptionStanding)
  const [first] = standings
  if (!first) return itemsOf(clusterExtensions).map(extensionLayer)
  const { catalogSources, installPlans, csvs, operatorGroups, operatorConditions, packageManifests } =
    lifecycle
  const conditions = itemsOf(operatorConditions)
  const channels = channelsOf(itemsOf(packageManifests))
  return [
    ...told('catalog', catalogSources, (items) => items.map(catalogLayer)),
    ...present(operatorGroupLayer(operatorGroups, first.namespace)),
    { ...subscriptionLayer(standings, first), ...(channels.length > 0 && { channels }) },
    ...told('install-plan', installPlans, () => present(referenced(lifecycle))),
    ...told('csv', csvs, (items) => present(csvLayer({ csvs: items, conditions }, first, at))),
  ]
}

const present = (layer: Layer | undefined): Layer[] => (layer ? [layer] : [])

/** What may not be read is a layer too, that is not known. */
function told<T>(layer: Layer['layer'], part: Known<T>, layers: (items: readonly T[]) => Layer[]): Layer[] {
  return part.known ? layers(part.items) : [{ layer, verdict: 'Unknown', says: part.why }]
}

/** OLM v1 knows no OperatorConditions: kvup does not drive it (ocp 2.9). */
function extensionLayer({ metadata }: ClusterExtension): Layer {
  return {
    layer: 'subscription',
    object: `clusterextension/${metadata.name}`,
    verdict: 'Settled',
    says: `a ClusterExtension of OLM v1 instead, which kvup does not update`,
  }
}

const catalogVerdicts: Readonly<Record<string, Layer['verdict']>> = {
  READY: 'Settled',
  TRANSIENT_FAILURE: 'Degraded',
  SHUTDOWN: 'Degraded',
}

function catalogLayer({ metadata, status = {} }: CatalogSource): Layer {
  const { lastObservedState: state = 'not connected yet', lastConnect } = status.connectionState ?? {}
  const verdict = catalogVerdicts[state] ?? 'Updating'
  return {
    layer: 'catalog',
    object: `catalogsource/${metadata.name}`,
    verdict,
    says: `${metadata.name} is ${state}`,
    ...(status.message && { notes: [status.message] }),
    ...(verdict !== 'Settled' && { waitsFor: 'its registry to answer' }),
    ...(verdict !== 'Settled' && lastConnect !== undefined && { since: lastConnect }),
  }
}

function subscriptionLayer(all: readonly SubscriptionStanding[], first: SubscriptionStanding): Layer {
  const { name, namespace, channel = 'the default channel', approval, package: of, troubles } = first
  const base = { layer: 'subscription', object: `subscription/${name}` } as const
  if (all.length > 1) {
    const places = all.map((one) => `${one.namespace}/${one.name}`).join(', ')
    return { ...base, verdict: 'Degraded', says: `${all.length} Subscriptions of one package: ${places}` }
  }
  const [trouble] = troubles
  const says = `${of} from ${channel}, ${approval.toLowerCase()} approval`
  if (!trouble) return { ...base, verdict: 'Settled', says }
  return {
    ...base,
    verdict: trouble.type === 'CatalogSourcesUnhealthy' ? 'Stalled' : 'Degraded',
    says: `${trouble.type} (${trouble.reason})`,
    notes: [trouble.message],
    help: [`kubectl -n ${namespace} describe subscriptions.operators.coreos.com ${name}`],
  }
}

function referenced(lifecycle: LifecycleSnapshot): Layer | undefined {
  const [subscription] = itemsOf(lifecycle.subscriptions)
  const plans = itemsOf(lifecycle.installPlans).map((plan) => installPlanStanding(plan, subscription))
  const plan = plans.find((one) => one.referenced)
  return plan && subscription ? installPlanLayer(plan, subscriptionStanding(subscription)) : undefined
}
