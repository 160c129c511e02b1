import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  copiedFromLabel,
  type InstallPlan,
  InstallPlans,
  OperatorGroups,
  type Subscription,
  Subscriptions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import type { OlmContext } from './olm-context.ts'

/** What OLM has in a namespace. */
export interface NamespaceLook {
  namespace: string
  subscriptions: readonly Subscription[]
  plans: readonly InstallPlan[]
  /** Its own, without the copies of others'. */
  serviceVersions: readonly ClusterServiceVersion[]
  operatorGroups: number
}

/** Every namespace that has a Subscription. */
export async function lookAtNamespaces({ reader }: OlmContext): Promise<NamespaceLook[]> {
  const subscriptions = await reader.list(Subscriptions)
  const namespaces = new Set(subscriptions.map(({ metadata }) => metadata.namespace ?? ''))
  const looks: NamespaceLook[] = []
  for (const namespace of namespaces)
    looks.push({
      namespace,
      subscriptions: subscriptions.filter(({ metadata }) => metadata.namespace === namespace),
      plans: await reader.list(InstallPlans, { namespace }),
      serviceVersions: await ownServiceVersions(reader, namespace),
      operatorGroups: (await reader.list(OperatorGroups, { namespace })).length,
    })
  return looks
}

/** ocp 2.7: without a namespace those of all. */
export function ownServiceVersions(
  reader: OlmContext['reader'],
  namespace?: string,
): Promise<ClusterServiceVersion[]> {
  return reader.list(ClusterServiceVersions, { namespace, labels: `!${copiedFromLabel}` })
}
