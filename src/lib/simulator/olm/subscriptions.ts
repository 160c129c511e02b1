import { Jobs } from '../../cluster/kinds/apps.ts'
import {
  type CatalogSource,
  CatalogSources,
  ClusterServiceVersions,
  copiedFromLabel,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import { condition } from '../../cluster/object.ts'
import { control } from '../machinery/controller.ts'
import type { Release } from './bundle-objects.ts'
import { servedBy } from './catalog.ts'
import type { Said } from './conditions.ts'
import { lookAtNamespaces, type NamespaceLook } from './namespace-look.ts'
import { makePlan } from './new-plan.ts'
import type { OlmContext } from './olm-context.ts'
import { resolve } from './resolution.ts'
import { changeStatus, missed, tellSubscription } from './subscription-status.ts'
import { unpack } from './unpacking.ts'

/** How long a namespace that cannot be resolved is left alone, ms. */
const retry = 15_000

/** The catalog operator: says of each Subscription where it stands, resolves each namespace and makes its plans. */
export function runSubscriptions(cx: OlmContext): Promise<void> {
  const watched = [
    { kind: Subscriptions },
    { kind: InstallPlans },
    { kind: ClusterServiceVersions, where: { labels: `!${copiedFromLabel}` } },
    { kind: CatalogSources },
    { kind: Jobs, where: { namespace: cx.shape.sourceNamespace } },
  ]
  return control(cx, watched, async () => {
    const { source: name, sourceNamespace: namespace } = cx.shape
    const found = await cx.reader.find(CatalogSources, { name, namespace })
    const source = found.is === 'object' ? found.object : undefined
    const again: number[] = []
    for (const look of await lookAtNamespaces(cx)) {
      const subscriptions: Subscription[] = []
      for (const one of look.subscriptions)
        subscriptions.push(await tellSubscription(cx, one, { look, source }))
      if (subscriptions.some(isMissingPlan)) again.push(missed)
      const wait = source && (await advance(cx, { ...look, subscriptions }, source))
      if (wait !== undefined) again.push(wait)
    }
    return again.length > 0 ? Math.min(...again) : undefined
  })
}

/** A plan that waits blocks everything newer where no other Subscription has something to do (ocp 2.3 #3). */
const isPending = ({ status }: Subscription): boolean =>
  status?.installPlanRef !== undefined && status.state === 'UpgradePending'

const isMissingPlan = (one: Subscription): boolean =>
  isPending(one) && condition(one, 'InstallPlanMissing') !== undefined

async function advance(
  cx: OlmContext,
  look: NamespaceLook,
  source: CatalogSource,
): Promise<number | undefined> {
  if (look.operatorGroups !== 1 || look.subscriptions.every(isPending)) return undefined
  const served = await servedBy(cx)
  if (served.is === 'not-ready')
    return served.state === 'TRANSIENT_FAILURE' ? unavailable(cx, look) : undefined
  const says = cx.faults.on.resolutionFailed
  const resolution =
    says === undefined ? resolve(cx.shape, look, served.minor) : ({ is: 'unsatisfiable', why: says } as const)
  if (resolution.is === 'unsatisfiable') {
    return fail(cx, look, { reason: 'ConstraintsNotSatisfiable', message: resolution.why })
  }
  const resolved = await sayAll(cx, look, { ResolutionFailed: undefined })
  const updates = resolution.releases.map(({ subscription, release }) => ({
    subscription: resolved.find(({ metadata }) => metadata.uid === subscription.metadata.uid) ?? subscription,
    release,
  }))
  const changed = updates.filter(({ subscription, release }) => isNews(look, subscription, release))
  if (changed.length === 0) return undefined
  return unpackAndPlan(cx, { ...look, subscriptions: resolved }, { updates, changed, source })
}

/** Not when the Subscription knows of it already; its plan may be gone. */
function isNews(look: NamespaceLook, { status }: Subscription, { entry }: Release): boolean {
  const isThere = look.serviceVersions.some(({ metadata }) => metadata.name === entry.name)
  return !isThere && status?.currentCSV !== entry.name
}

interface Updates {
  updates: { subscription: Subscription; release: Release }[]
  changed: { subscription: Subscription; release: Release }[]
  source: CatalogSource
}

async function unpackAndPlan(
  cx: OlmContext,
  look: NamespaceLook,
  { updates, changed, source }: Updates,
): Promise<number | undefined> {
  const [first] = changed
  const begun = first && condition(first.subscription, 'BundleUnpacking')
  const since = begun?.status === 'True' ? begun.lastTransitionTime : undefined
  const unpacked = await unpack(
    cx,
    changed.map(({ release }) => release),
    { since, source },
  )
  if (unpacked.is === 'done') {
    await makePlan(cx, look, { updates, changed })
    return undefined
  }
  const said = unpackedSaid(unpacked.is === 'failed' ? unpacked.why : undefined)
  for (const { subscription } of changed) await changeStatus(cx, subscription, {}, said)
  return unpacked.is === 'under-way' ? unpacked.again : undefined
}

function unpackedSaid(why: string | undefined): Said {
  if (why === undefined)
    return {
      BundleUnpacking: { status: 'True', reason: 'JobIncomplete', message: 'unpacking is not complete' },
    }
  return {
    BundleUnpacking: undefined,
    BundleUnpackFailed: { status: 'True', reason: 'BundleUnpackFailed', message: why },
  }
}

function unavailable(cx: OlmContext, look: NamespaceLook): Promise<number> {
  const { source, sourceNamespace } = cx.shape
  const message =
    `failed to populate resolver cache from source ${source}/${sourceNamespace}: failed to list bundles: ` +
    `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp: connect: connection refused"`
  return fail(cx, look, { reason: 'ErrorPreventedResolution', message })
}

/** It is said of every Subscription in the namespace, whosever fault it is (ocp 2.1). */
async function fail(
  cx: OlmContext,
  look: NamespaceLook,
  why: { reason: string; message: string },
): Promise<number> {
  await sayAll(cx, look, { ResolutionFailed: { status: 'True', ...why } })
  return retry
}

async function sayAll(cx: OlmContext, look: NamespaceLook, said: Said): Promise<Subscription[]> {
  const after: Subscription[] = []
  for (const one of look.subscriptions) after.push(await changeStatus(cx, one, {}, said))
  return after
}
