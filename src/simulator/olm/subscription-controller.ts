import { Jobs } from '../../lib/kube/kinds/workload-kinds.ts'
import {
  type CatalogSource,
  CatalogSources,
  ClusterServiceVersions,
  copiedFromLabel,
  type InstallPlan,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../lib/kube/kinds/operator-kinds.ts'
import { condition } from '../../lib/kube/object.ts'
import { between, control, nameSuffix } from '../machinery/controller.ts'
import type { Release } from './operator-bundle.ts'
import { servedBy } from './catalog-source.ts'
import {
  readNamespaces,
  msSince,
  type NamespaceSnapshot,
  type OlmContext,
  type Said,
  saying,
  seconds,
} from './olm-context.ts'
import { stepsOf, unpack } from './install-plan-controller.ts'
import { contentOf, entryNamed, headOf, nextEntry } from './catalog-content.ts'
import type { EntryShape, OlmShape } from './olm-shape.ts'
import { same } from '../api/json.ts'

/** How long a namespace that cannot be resolved is left alone, ms. */
const retry = 15_000
/** OLM looks at everything again so often, whatever happens, ms. */
const resync = 900_000

/** A Subscription names a new CSV as installed so long after it was made, as it was recorded, ms. */
const written = { least: 400, most: 14_000 }

/** When a Subscription is to name a CSV as installed, ms of the clock, by the uid of the CSV. */
type Arrivals = Map<string, number>

/** What a failed resolution was about, by the namespace. */
type Failures = Map<string, { at: number; stray: string; annotations: string }>

/** The catalog operator: says of each Subscription where it stands, resolves each namespace and makes its plans. */
export function runSubscriptions(cx: OlmContext): Promise<void> {
  const watched = [
    { kind: Subscriptions },
    { kind: InstallPlans },
    { kind: ClusterServiceVersions, where: { labels: `!${copiedFromLabel}` } },
    { kind: CatalogSources },
    { kind: Jobs, where: { namespace: cx.shape.sourceNamespace } },
  ]
  const failures: Failures = new Map()
  const arrivals: Arrivals = new Map()
  return control(cx, watched, async () => {
    const { source: name, sourceNamespace: namespace } = cx.shape
    const found = await cx.reader.get(CatalogSources, { name, namespace })
    const source = found.is === 'object' ? found.object : undefined
    const again: number[] = []
    for (const snapshot of await readNamespaces(cx)) {
      const subscriptions: Subscription[] = []
      for (const one of snapshot.subscriptions) {
        const late = untilWritten(cx, one, { snapshot, arrivals })
        if (late > 0 && late < Infinity) again.push(late)
        subscriptions.push(await tellSubscription(cx, one, { snapshot, source, late }))
      }
      if (subscriptions.some(isMissingPlan)) again.push(missed)
      const wait = source && (await advance(cx, { ...snapshot, subscriptions }, { source, failures }))
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
  snapshot: NamespaceSnapshot,
  { source, failures }: { source: CatalogSource; failures: Failures },
): Promise<number | undefined> {
  if (snapshot.operatorGroups !== 1 || snapshot.subscriptions.every(isPending)) return undefined
  const served = await servedBy(cx)
  if (served.is === 'not-ready') return undefined
  if (isLeftAlone(cx, snapshot, failures)) return retry
  const says = cx.faults.on.resolutionFailed
  const resolution =
    says === undefined
      ? resolve(cx.shape, snapshot, served.minor)
      : ({ is: 'unsatisfiable', why: says } as const)
  rememberStray(cx, snapshot, failures)
  if (resolution.is === 'unsatisfiable') {
    return fail(cx, snapshot, { reason: 'ConstraintsNotSatisfiable', message: resolution.why })
  }
  const resolved = await sayAll(cx, snapshot, { ResolutionFailed: undefined })
  const updates = resolution.releases.map(({ subscription, release }) => ({
    subscription: resolved.find(({ metadata }) => metadata.uid === subscription.metadata.uid) ?? subscription,
    release,
  }))
  const changed = updates.filter(({ subscription, release }) => isNews(snapshot, subscription, release))
  if (changed.length === 0) return undefined
  return unpackAndPlan(cx, { ...snapshot, subscriptions: resolved }, { updates, changed, source })
}

const annotationsIn = ({ subscriptions }: NamespaceSnapshot): string =>
  JSON.stringify(subscriptions.map(({ metadata }) => metadata.annotations ?? {}))

/** That a CSV went is no event to the resolver. */
function isLeftAlone(cx: OlmContext, snapshot: NamespaceSnapshot, failures: Failures): boolean {
  const failure = failures.get(snapshot.namespace)
  const { resolutionStale = false } = cx.faults.on
  if (resolutionStale === false || failure === undefined) return false
  const isGone = !snapshot.serviceVersions.some(({ metadata }) => metadata.name === failure.stray)
  const isAsked = annotationsIn(snapshot) !== failure.annotations
  const isTime = cx.clock.now().getTime() - failure.at >= resync
  return isGone && (resolutionStale === 'for-ever' || (!isAsked && !isTime))
}

function rememberStray(cx: OlmContext, snapshot: NamespaceSnapshot, failures: Failures): void {
  const stray = replacedIn(snapshot)
  if (stray === undefined) failures.delete(snapshot.namespace)
  else
    failures.set(snapshot.namespace, {
      at: cx.clock.now().getTime(),
      stray,
      annotations: annotationsIn(snapshot),
    })
}

/** The CSV that another one replaces: no Subscription refers to it any more. */
const replacedIn = ({ serviceVersions }: NamespaceSnapshot): string | undefined =>
  serviceVersions.find(({ metadata }) => serviceVersions.some(({ spec }) => spec?.replaces === metadata.name))
    ?.metadata.name

/** Not when the Subscription knows of it already; its plan may be gone. */
function isNews(snapshot: NamespaceSnapshot, { status }: Subscription, { entry }: Release): boolean {
  const isThere = snapshot.serviceVersions.some(({ metadata }) => metadata.name === entry.name)
  return !isThere && status?.currentCSV !== entry.name
}

interface Updates {
  updates: { subscription: Subscription; release: Release }[]
  changed: { subscription: Subscription; release: Release }[]
  source: CatalogSource
}

async function unpackAndPlan(
  cx: OlmContext,
  snapshot: NamespaceSnapshot,
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
    await makePlan(cx, snapshot, { updates, changed })
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

/** It is said of every Subscription in the namespace, whosever fault it is (ocp 2.1). */
async function fail(
  cx: OlmContext,
  snapshot: NamespaceSnapshot,
  why: { reason: string; message: string },
): Promise<number> {
  await sayAll(cx, snapshot, { ResolutionFailed: { status: 'True', ...why } })
  return retry
}

async function sayAll(cx: OlmContext, snapshot: NamespaceSnapshot, said: Said): Promise<Subscription[]> {
  const after: Subscription[] = []
  for (const one of snapshot.subscriptions) after.push(await changeStatus(cx, one, {}, said))
  return after
}

/** What the resolver makes of a namespace, of all its Subscriptions at once (ocp 2.3). */
type Resolution =
  | { is: 'updates'; releases: readonly { subscription: Subscription; release: Release }[] }
  | { is: 'unsatisfiable'; why: string }

/** Each Subscription's next release, by what the catalog shows on this minor of the platform. One that has none holds up no other. */
function resolve(shape: OlmShape, snapshot: NamespaceSnapshot, minor: string | undefined): Resolution {
  const releases: { subscription: Subscription; release: Release }[] = []
  for (const subscription of snapshot.subscriptions) {
    const entries = entriesFor(shape, subscription, minor)
    if (typeof entries === 'string') return { is: 'unsatisfiable', why: entries }
    const stray =
      replacedBy(snapshot, subscription) ??
      unwritten(snapshot, subscription) ??
      strayOf(shape, snapshot, subscription)
    if (stray !== undefined) return { is: 'unsatisfiable', why: notReferenced(subscription, stray) }
    const entry = nextFor(shape, snapshot, subscription, entries)
    if (entry !== undefined)
      releases.push({ subscription, release: releaseFor(snapshot, subscription, entry) })
  }
  return { is: 'updates', releases }
}

/** The channel that it follows, or why there is none. */
function entriesFor(
  shape: OlmShape,
  subscription: Subscription,
  minor: string | undefined,
): readonly EntryShape[] | string {
  const { name, channel } = subscription.spec ?? {}
  const found = contentOf(shape, minor).find((one) => one.package === name)
  const entries = found?.channels.find((one) => one.name === channel)?.entries
  return entries ?? nothingIn(subscription, found !== undefined)
}

function releaseFor(
  { namespace }: NamespaceSnapshot,
  { spec, status }: Subscription,
  entry: EntryShape,
): Release {
  const replaces = status?.installedCSV
  return { package: spec?.name ?? '', entry, namespace, ...(replaces !== undefined && { replaces }) }
}

function nextFor(
  shape: OlmShape,
  snapshot: NamespaceSnapshot,
  { spec, status }: Subscription,
  entries: readonly EntryShape[],
): EntryShape | undefined {
  const { installedCSV } = status ?? {}
  if (installedCSV === undefined) {
    return entries.find(({ name }) => name === spec?.startingCSV) ?? headOf(entries)
  }
  const present = snapshot.serviceVersions.find(({ metadata }) => metadata.name === installedCSV)
  const version = present?.spec?.version ?? entryNamed(shape, installedCSV)?.version ?? ''
  return nextEntry(entries, { name: installedCSV, version })
}

function nothingIn({ metadata, spec }: Subscription, isPackage: boolean): string {
  const { name = '', channel = '' } = spec ?? {}
  const where = isPackage ? `channel ${channel} of package ${name}` : `package ${name}`
  return (
    `constraints not satisfiable: no operators found in ${where} in the catalog referenced by subscription ${metadata.name}, ` +
    `subscription ${metadata.name} exists`
  )
}

/** Of this Subscription, while its own CSV replaces it. */
function replacedBy({ serviceVersions }: NamespaceSnapshot, { status }: Subscription): string | undefined {
  const own = serviceVersions.find(({ metadata }) => metadata.name === status?.installedCSV)
  const replaced = own?.spec?.replaces
  return serviceVersions.some(({ metadata }) => metadata.name === replaced) ? replaced : undefined
}

/** The CSV of an update that its Subscription does not name as installed yet. */
function unwritten({ serviceVersions }: NamespaceSnapshot, { status }: Subscription): string | undefined {
  const { currentCSV, installedCSV } = status ?? {}
  if (installedCSV === undefined || currentCSV === installedCSV) return undefined
  return serviceVersions.some(({ metadata }) => metadata.name === currentCSV) ? currentCSV : undefined
}

/** A CSV of the package that is there though its Subscription knows of none (ocp 7 #8). */
function strayOf(
  shape: OlmShape,
  snapshot: NamespaceSnapshot,
  { spec, status }: Subscription,
): string | undefined {
  if (status?.installedCSV !== undefined) return undefined
  const channels = contentOf(shape, undefined).find((one) => one.package === spec?.name)?.channels ?? []
  const names = new Set(channels.flatMap(({ entries }) => entries.map(({ name }) => name)))
  const present = snapshot.serviceVersions.map(({ metadata }) => metadata.name)
  return present.find((name) => names.has(name) && name !== status?.currentCSV)
}

function notReferenced({ metadata }: Subscription, stray: string): string {
  return (
    `constraints not satisfiable: clusterserviceversion ${stray} exists and is not referenced by a subscription, ` +
    `subscription ${metadata.name} requires at least one of the versions of its package, subscription ${metadata.name} exists`
  )
}

/** A plan has no phase for so long: it is created, and then its status is written, ms. */
const statusAfter = 200

interface Update {
  subscription: Subscription
  release: Release
}

/**
 * Makes the plan of a namespace: with all updates in it that are not there yet, Manual where one Subscription is, referenced by those that
 * get something new (ocp 2.3). Throws ApiError 409 where somebody wrote to it between the two writes: it stays without a phase, and the
 * next look makes another one.
 */
async function makePlan(
  cx: OlmContext,
  snapshot: NamespaceSnapshot,
  { updates, changed }: { updates: readonly Update[]; changed: readonly Update[] },
): Promise<void> {
  const generation = 1 + Math.max(0, ...snapshot.plans.map(({ spec }) => spec?.generation ?? 0))
  const created = await cx.writer.create(InstallPlans, planOf(cx, snapshot, { updates, generation }))
  await cx.clock.sleep(cx.faults.on.planStatusAfter ?? statusAfter, cx.signal)
  const { metadata, spec } = await cx.writer.mergePatch(
    InstallPlans,
    created.metadata,
    {
      ...(created.metadata.resourceVersion !== undefined && {
        metadata: { resourceVersion: created.metadata.resourceVersion },
      }),
      status: {
        phase: created.spec?.approved === true ? 'Installing' : 'RequiresApproval',
        catalogSources: [cx.shape.source],
        plan: updates.flatMap(({ release }) => stepsOf(release, cx.shape)),
        bundleLookups: [],
      },
    },
    'status',
  )
  const { name, uid = '' } = metadata
  const { apiVersion, kind } = InstallPlans
  for (const { subscription, release } of changed)
    await changeStatus(
      cx,
      subscription,
      {
        state: 'UpgradePending',
        currentCSV: release.entry.name,
        installPlanRef: { apiVersion, kind, name, namespace: snapshot.namespace, uid },
        installplan: { apiVersion, kind, name, uuid: uid },
        installPlanGeneration: spec?.generation ?? generation,
      },
      { BundleUnpacking: undefined, BundleUnpackFailed: undefined },
    )
}

function planOf(
  cx: OlmContext,
  { namespace, subscriptions }: NamespaceSnapshot,
  { updates, generation }: { updates: readonly Update[]; generation: number },
): InstallPlan {
  const isManual = subscriptions.some(({ spec }) => spec?.installPlanApproval === 'Manual')
  const labels = updates.map(({ release }) => [`operators.coreos.com/${release.package}.${namespace}`, ''])
  return {
    apiVersion: InstallPlans.apiVersion,
    kind: InstallPlans.kind,
    metadata: {
      name: `install-${nameSuffix(cx.random)}`,
      namespace,
      labels: Object.fromEntries(labels) as Record<string, string>,
      ownerReferences: subscriptions.map(({ apiVersion, kind, metadata }) => ({
        apiVersion,
        kind,
        name: metadata.name,
        uid: metadata.uid ?? '',
        controller: false,
      })),
    },
    spec: {
      approval: isManual ? 'Manual' : 'Automatic',
      approved: !isManual,
      clusterServiceVersionNames: updates.map(({ release }) => release.entry.name),
      generation,
    },
  }
}

type Status = NonNullable<Subscription['status']>
/** `null` takes a field away. */
type StatusChange = { [K in keyof Status]?: Status[K] | null } & { installplan?: object | null }

/** Ms until it says that its CSV is installed: 0 where it is to say so now, Infinity where there is no such CSV. */
function untilWritten(
  cx: OlmContext,
  { status = {} }: Subscription,
  { snapshot, arrivals }: { snapshot: NamespaceSnapshot; arrivals: Arrivals },
): number {
  const csv = snapshot.serviceVersions.find(({ metadata }) => metadata.name === status.currentCSV)
  if (csv === undefined) return Infinity
  const { name, uid = '' } = csv.metadata
  if (status.installedCSV === name) return 0
  const now = cx.clock.now().getTime()
  const due = arrivals.get(uid) ?? now + between(cx.random, written.least, written.most)
  arrivals.set(uid, due)
  return Math.max(0, due - now)
}

/**
 * What follows for a Subscription from what is there: its CSV, as soon as it exists in whatever phase, its plan, its catalog (ocp 2.1).
 * The answer is the Subscription as it is then.
 */
async function tellSubscription(
  cx: OlmContext,
  subscription: Subscription,
  {
    snapshot,
    source,
    late,
  }: { snapshot: NamespaceSnapshot; source: CatalogSource | undefined; late: number },
): Promise<Subscription> {
  const { status = {} } = subscription
  const plan = snapshot.plans.find(({ metadata }) => metadata.name === status.installPlanRef?.name)
  const isThere = late === 0
  const isLost = status.installPlanRef !== undefined && plan === undefined
  const state = isThere ? 'AtLatestKnown' : status.currentCSV === undefined ? null : 'UpgradePending'
  const isMissed = isLost && late === Infinity && missingFor(cx, subscription) >= missed
  const change: StatusChange = isMissed
    ? { installPlanRef: null, installplan: null, currentCSV: null, state: null }
    : { state, ...(isThere && { installedCSV: status.currentCSV }) }
  const health = catalogHealth(source)
  const said = { ...planConditions(plan, isLost), CatalogSourcesUnhealthy: health.condition }
  return changeStatus(cx, subscription, { ...change, catalogHealth: health.of }, said)
}

/** So long a plan that is gone is missed before another one is made, ms. */
const missed = 3000

/** Since when the plan is missed that it waits for; 0 where it is not. */
function missingFor(cx: OlmContext, subscription: Subscription): number {
  const said = condition(subscription, 'InstallPlanMissing')
  return said === undefined ? 0 : msSince(cx, said.lastTransitionTime)
}

/** Writes what differs, and the conditions that say something new. */
async function changeStatus(
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

/** It looks for the catalog's pod alone: one that does not answer is healthy to it (olm-real 6). */
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
  const lastUpdated = status?.connectionState?.lastConnect ?? creationTimestamp
  const of = [{ catalogSourceRef: { apiVersion, kind, name, namespace }, healthy: true, lastUpdated }]
  return { of, condition: allHealthy }
}

const allHealthy = {
  status: 'False',
  reason: 'AllCatalogSourcesHealthy',
  message: 'all available catalogsources are healthy',
} as const
