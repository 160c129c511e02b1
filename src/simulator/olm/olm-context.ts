import * as kube from '../kinds.ts'
import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import type { OlmShape } from './olm-shape.ts'
import type { Condition } from '../../lib/kube/object.ts'

/** What every part of OLM has. Of the shape only the catalog's content and the manner of its steps are read: the rest is in the cluster. */
export interface Olm extends ControllerContext {
  readonly shape: OlmShape
  readonly faults: Pick<Faults<OlmFaults>, 'on'>
}

/** Ms since a time that the cluster wrote; a very long time where it wrote none. */
export const msSince = ({ clock }: Pick<ControllerContext, 'clock'>, time: string | undefined): number =>
  time === undefined ? Infinity : clock.now().getTime() - Date.parse(time)

/** What goes wrong with OLM. Plain data, so that a scenario can be written down. */
export interface OlmFaults {
  /** Nothing in the namespace is resolved: what the resolver says (ocp 2.1). */
  resolutionFailed?: string | undefined
  /** OLM does not look again when the CSV that it replaced is gone, but at an annotation of a Subscription or after 15 minutes; `for-ever`: not even then. */
  resolutionStale?: boolean | 'for-ever' | undefined
  /** Bundles are not unpacked within their ten minutes: what the registry says. The failed Job stays for five minutes when this is lifted (ocp 7 #4). */
  bundleUnpackFailed?: string | undefined
  /** Plans that are executed end as Failed, for good: what the API server says (ocp 2.2). */
  planFailed?: string | undefined
  /** So many ms the kinds of a plan's new CRDs are not served: its steps are WaitingForApi, while its CSV gets on; default some seconds. */
  kindsServedAfter?: number | undefined
  /** For so many ms after it was made, a CSV is Failed and Pending by turns (ocp 2.4). */
  csvFailsFor?: number | undefined
  /** A CSV that is installed now never gets further than Failed: InstallCheckFailed. */
  csvFails?: boolean | undefined
  /** Somebody overrides what the operator that is installed says in its OperatorCondition: it may not be replaced, in these words (ocp 2.5). */
  held?: string | undefined
  /** The catalog's pod does not answer: CatalogSources are TRANSIENT_FAILURE. */
  catalogNotReady?: boolean | undefined
  /** So many ms pass between the creation of a plan and its status, so that who approves at once has a second plan made (ocp 2.3 #5). */
  planStatusAfter?: number | undefined
}

/** What OLM has in a namespace. */
export interface NamespaceSnapshot {
  namespace: string
  subscriptions: readonly kube.Subscription[]
  plans: readonly kube.InstallPlan[]
  /** Its own, without the copies of others'. */
  serviceVersions: readonly kube.Csv[]
  operatorGroups: number
}

/** Every namespace that has a Subscription. */
export async function readNamespaces({ reader }: Olm): Promise<NamespaceSnapshot[]> {
  const subscriptions = await reader.list(kube.Subscriptions)
  const namespaces = new Set(subscriptions.map(({ metadata }) => metadata.namespace ?? ''))
  const snapshots: NamespaceSnapshot[] = []
  for (const namespace of namespaces)
    snapshots.push({
      namespace,
      subscriptions: subscriptions.filter(({ metadata }) => metadata.namespace === namespace),
      plans: await reader.list(kube.InstallPlans, { namespace }),
      serviceVersions: await ownServiceVersions(reader, namespace),
      operatorGroups: (await reader.list(kube.OperatorGroups, { namespace })).length,
    })
  return snapshots
}

/** CSVs without the copies of others'. */
export const ownOnes = { labels: `!${kube.copiedFromLabel}` } as const

/** Without a namespace those of all (ocp 2.7). */
export const ownServiceVersions = (reader: Olm['reader'], namespace?: string): Promise<kube.Csv[]> =>
  reader.list(kube.Csvs, { namespace, ...ownOnes })

/** What a condition is to say; `undefined` takes it away. */
export type Said = Readonly<Record<string, Omit<Condition, 'type' | 'lastTransitionTime'> | undefined>>

/** The conditions with these set or taken away, the same array where nothing changes. `now` is RFC 3339. */
export function saying(conditions: Condition[] | undefined, said: Said, now: string): Condition[] {
  const before = conditions ?? []
  const changed = Object.keys(said).filter((type) => !saysSo(before, type, said[type]))
  if (changed.length === 0) return before
  const rest = before.filter(({ type }) => !changed.includes(type))
  const added = changed.flatMap((type) => {
    const next = said[type]
    if (next === undefined) return []
    const since = { lastTransitionTime: sinceOf(before, type, next.status) ?? now }
    return [{ type, ...next, ...(timeless.has(type) ? {} : since) }]
  })
  return [...rest, ...added]
}

/** OLM gives these no lastTransitionTime. */
const timeless: ReadonlySet<string> = new Set(['ResolutionFailed', 'BundleUnpacking'])

function saysSo(before: readonly Condition[], type: string, next: Said[string]): boolean {
  const there = before.find((one) => one.type === type)
  if (there === undefined || next === undefined) return there === next
  return there.status === next.status && there.reason === next.reason && there.message === next.message
}

function sinceOf(before: readonly Condition[], type: string, status: Condition['status']) {
  return before.find((one) => one.type === type && one.status === status)?.lastTransitionTime
}
