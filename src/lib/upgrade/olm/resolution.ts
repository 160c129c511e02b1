import { condition } from '../../cluster/object.ts'
import type { StepState } from '../../procedure/step.ts'
import type { OperatorHop } from './operator-hop-types.ts'
import type { OperatorScene } from './operator-scene.ts'

type Waiting = Extract<StepState, { is: 'waiting' | 'stalled' }>

/** Undefined where OLM has resolved something that is still to be done; else what it waits for (ocp 2.1). */
export function untilResolved({ subscription, plan }: OperatorScene, hop: OperatorHop): Waiting | undefined {
  const trouble = troubleOf(subscription, hop)
  if (trouble !== undefined) return trouble
  const over = plan === undefined || plan.status?.phase === 'Complete'
  if (!over) return undefined
  const { channel, source } = subscription.spec ?? {}
  const { state } = subscription.status ?? {}
  return {
    is: 'waiting',
    on: `OLM to make an InstallPlan for ${hop.csv} in channel ${channel ?? 'none'} of catalog ${source ?? 'none'}`,
    ...(state === 'AtLatestKnown' && {
      trouble:
        'the Subscription says that it is at the latest that it knows; a catalog is polled every 10 to 15 minutes',
    }),
    remedy: [
      `kubectl -n ${hop.subscription.namespace} get subscription.operators.coreos.com ${hop.subscription.name} -o yaml`,
      `kubectl get packagemanifest ${hop.package} -o yaml`,
    ],
  }
}

/** What OLM says is in the way; none of it mends itself for long. */
function troubleOf(subscription: OperatorScene['subscription'], hop: OperatorHop): Waiting | undefined {
  const { namespace, name } = hop.subscription
  const show = `kubectl -n ${namespace} describe subscription.operators.coreos.com ${name}`
  for (const [type, on, remedy] of troubles) {
    const found = condition(subscription, type)
    if (found?.status !== 'True') continue
    const why = `${type}: ${found.message ?? found.reason ?? 'no message'}`
    const since = found.lastTransitionTime
    return { is: 'stalled', on, why, remedy: [show, ...remedy(subscription)], ...(since && { since }) }
  }
  return undefined
}

type Trouble = readonly [
  type: string,
  on: string,
  remedy: (subscription: OperatorScene['subscription']) => readonly string[],
]

/** What causes others comes first. */
const troubles: readonly Trouble[] = [
  [
    'CatalogSourcesUnhealthy',
    'the catalog to answer',
    ({ spec }) => [
      `kubectl -n ${spec?.sourceNamespace ?? ''} get catalogsource ${spec?.source ?? ''} -o jsonpath='{.status.connectionState.lastObservedState}'`,
    ],
  ],
  ['ResolutionFailed', 'OLM to resolve the namespace', () => []],
  [
    'BundleUnpackFailed',
    'OLM to unpack the bundle',
    ({ spec }) => [
      `kubectl -n ${spec?.sourceNamespace ?? 'openshift-marketplace'} get jobs,configmaps     the failed Job and its ConfigMap have to go, then OLM tries again`,
    ],
  ],
]
