import type { Subscription } from '../../cluster/kinds/operator-lifecycle.ts'
import { filled } from '../filled.ts'

/** Where a Subscription stands (ocp 2.1). Neither `installed` nor AtLatestKnown proves that anything runs (ocp 9.10). */
export interface SubscriptionStanding {
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
export function subscriptionStanding(subscription: Subscription): SubscriptionStanding {
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

type Wished = Pick<SubscriptionStanding, 'package' | 'source' | 'sourceNamespace' | 'approval'>

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
