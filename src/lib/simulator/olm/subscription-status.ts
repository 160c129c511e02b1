import {
  type CatalogSource,
  type InstallPlan,
  type Subscription,
  Subscriptions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import { condition } from '../../cluster/object.ts'
import { same } from '../api/json.ts'
import { type Said, saying } from './conditions.ts'
import type { NamespaceLook } from './namespace-look.ts'
import { msSince, type OlmContext, seconds } from './olm-context.ts'

type Status = NonNullable<Subscription['status']>
/** `null` takes a field away. */
export type StatusChange = { [K in keyof Status]?: Status[K] | null } & { installplan?: object | null }

/**
 * What follows for a Subscription from what is there: its CSV, as soon as it exists in whatever phase, its plan, its catalog (ocp 2.1).
 * The answer is the Subscription as it is then.
 */
export async function tellSubscription(
  cx: OlmContext,
  subscription: Subscription,
  { look, source }: { look: NamespaceLook; source: CatalogSource | undefined },
): Promise<Subscription> {
  const { status = {} } = subscription
  const plan = look.plans.find(({ metadata }) => metadata.name === status.installPlanRef?.name)
  const isThere = look.serviceVersions.some(({ metadata }) => metadata.name === status.currentCSV)
  const isLost = status.installPlanRef !== undefined && plan === undefined
  const state = isThere ? 'AtLatestKnown' : status.currentCSV === undefined ? '' : 'UpgradePending'
  const isMissed = isLost && !isThere && missingFor(cx, subscription) >= missed
  const change: StatusChange = isMissed
    ? { installPlanRef: null, installplan: null, currentCSV: status.installedCSV ?? null, state: '' }
    : { state, ...(isThere && { installedCSV: status.currentCSV }) }
  const health = catalogHealth(source)
  const said = { ...planConditions(plan, isLost), CatalogSourcesUnhealthy: health.condition }
  return changeStatus(cx, subscription, { ...change, catalogHealth: health.of }, said)
}

/** So long a plan that is gone is missed before another one is made, ms. */
export const missed = 3000

/** Since when the plan is missed that it waits for; 0 where it is not. */
function missingFor(cx: OlmContext, subscription: Subscription): number {
  const said = condition(subscription, 'InstallPlanMissing')
  return said === undefined ? 0 : msSince(cx, said.lastTransitionTime)
}

/** Writes what differs, and the conditions that say something new. */
export async function changeStatus(
  cx: OlmContext,
  subscription: Subscription,
  change: StatusChange,
  said: Said,
): Promise<Subscription> {
  const { status = {}, metadata } = subscription
  const now = seconds(cx)
  const conditions = saying(status.conditions, said, now)
  const before = status as Record<string, unknown>
  const differing = Object.entries(change).filter(
    ([name, value]) => !same(before[name] ?? null, value ?? null),
  )
  if (differing.length === 0 && conditions === status.conditions) return subscription
  const next = { ...Object.fromEntries(differing), conditions, lastUpdated: now }
  return cx.writer.mergePatch(Subscriptions, metadata, { status: next }, 'status')
}

function planConditions(plan: InstallPlan | undefined, isLost: boolean): Said {
  return {
    InstallPlanMissing: isLost ? { status: 'True', reason: 'ReferencedInstallPlanNotFound' } : undefined,
    InstallPlanPending: plan && pendingSaid(plan),
    InstallPlanFailed: plan && failedSaid(plan),
  }
}

function pendingSaid({ status }: InstallPlan): Said[string] {
  const phase = status?.phase ?? ''
  if (phase === 'Complete' || phase === 'Failed') return undefined
  return { status: 'True', reason: phase === '' ? 'InstallPlanNotYetReconciled' : phase }
}

function failedSaid({ status }: InstallPlan): Said[string] {
  if (status?.phase !== 'Failed') return undefined
  const { message } = status
  return { status: 'True', reason: 'InstallComponentFailed', ...(message !== undefined && { message }) }
}

function catalogHealth(source: CatalogSource | undefined): {
  of: NonNullable<Status['catalogHealth']>
  condition: Said[string]
} {
  if (source === undefined) {
    const message = 'dependency resolution requires at least one catalogsource'
    return { of: [], condition: { status: 'True', reason: 'NoCatalogSourcesFound', message } }
  }
  const { apiVersion, kind, metadata, status } = source
  const { name, namespace = '', creationTimestamp = '' } = metadata
  const healthy = status?.connectionState?.lastObservedState === 'READY'
  const lastUpdated = status?.connectionState?.lastConnect ?? creationTimestamp
  const of = [{ catalogSourceRef: { apiVersion, kind, name, namespace }, healthy, lastUpdated }]
  return { of, condition: healthy ? allHealthy : unhealthy(`${namespace}/${name}`) }
}

const allHealthy = {
  status: 'False',
  reason: 'AllCatalogSourcesHealthy',
  message: 'all available catalogsources are healthy',
} as const

const unhealthy = (source: string): Said[string] => ({
  status: 'True',
  reason: 'UnhealthyCatalogSourceFound',
  message: `targeted catalogsource ${source} unhealthy`,
})
