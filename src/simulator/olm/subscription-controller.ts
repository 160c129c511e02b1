import * as kube from '../kinds.ts'
import {
  between,
  control,
  foundIn,
  made,
  nameSuffix,
  sameStatus,
  seconds,
  soonest,
} from '../machinery/controller.ts'
import type { Release } from './operator-bundle.ts'
import { servedBy } from './catalog-source.ts'
import {
  type NamespaceSnapshot,
  type Olm,
  ownOnes,
  readNamespaces,
  type Said,
  saying,
} from './olm-context.ts'
import { stepsOf, unpack } from './bundle-unpacker.ts'
import { contentOf, entryNamed, headOf, nextEntry } from './catalog-content.ts'
import type { EntryShape, OlmShape } from './olm-shape.ts'
import { ownerReference } from '../machinery/owned-pods.ts'

/** OLM looks at everything again so often, whatever happens, ms. */
const resync = 900_000
/** That a CSV went is no event to the resolver: it looked again so long after it where other events came, ms. */
const afterGone = { least: 1000, most: 14_000 }
/** A namespace is not resolved again so soon after a plan was made, ms. */
const afterPlan = 2000
/** A Subscription names a new CSV as installed so long after it was made, as it was recorded, ms. */
const written = { least: 400, most: 14_000 }

/** The last resolution of a namespace. */
interface LastResolution {
  at: number
  /** What an event changes. */
  events: string
  annotations: string
  /** Its failure was about this CSV. */
  stray: string | undefined
  /** Before that it is not resolved again, and from `again` on whatever the events, ms of the clock. */
  quietUntil: number
  again: number
}

/** What the catalog operator remembers; times in ms of the clock. */
class Memory {
  readonly resolutions = new Map<string, LastResolution>()
  /** When a Subscription is to name a CSV as installed, by the uid of the CSV. */
  readonly arrivals = new Map<string, number>()
  /** When the phases of plans were seen first, by uid and phase. */
  readonly firstShown = new Map<string, number>()
}

/** The catalog operator: says of each Subscription where it stands, resolves each namespace and makes its plans. */
export function runSubscriptions(cx: Olm): Promise<void> {
  const { source: name, sourceNamespace: namespace } = cx.shape
  const watched = [
    { kind: kube.Subscriptions },
    { kind: kube.InstallPlans },
    { kind: kube.Csvs, where: ownOnes },
    { kind: kube.CatalogSources },
    { kind: kube.Jobs, where: { namespace } },
  ]
  const memory = new Memory()
  return control(cx, watched, async () => {
    const source = foundIn(await cx.reader.get(kube.CatalogSources, { name, namespace }))
    const again: number[] = []
    for (const snapshot of await readNamespaces(cx)) {
      const subscriptions: kube.Subscription[] = []
      for (const one of snapshot.subscriptions) {
        const late = untilNamed(cx, one, { snapshot, memory })
        const plan = planOf(snapshot, one)
        const shown = plan === undefined ? { phase: '', again: Infinity } : shownPhase(cx, plan, memory)
        again.push(late, shown.again)
        subscriptions.push(await follow(cx, one, { source, plan, late, phase: shown.phase }))
      }
      if (source) again.push(await advance(cx, { ...snapshot, subscriptions }, { source, memory }))
    }
    return soonest(again.filter((one) => one > 0))
  })
}

/** A plan that waits blocks everything newer where no other Subscription has something to do (ocp 2.3 #3). */
const isPending = ({ status }: kube.Subscription): boolean =>
  status?.installPlanRef !== undefined && status.state === 'UpgradePending'

/** In how many ms to look at the namespace again without an event. */
async function advance(
  cx: Olm,
  snapshot: NamespaceSnapshot,
  { source, memory: { resolutions } }: { source: kube.CatalogSource; memory: Memory },
): Promise<number> {
  const { namespace, operatorGroups, subscriptions } = snapshot
  if (operatorGroups !== 1 || subscriptions.every(isPending)) return Infinity
  const served = await servedBy(cx)
  if (served.is === 'not-ready') return Infinity
  const left = untilResolved(cx, snapshot, { source, last: resolutions.get(namespace) })
  if (left > 0) return left
  const at = cx.clock.now().getTime()
  const last: LastResolution = {
    at,
    events: eventsIn(cx, snapshot, source),
    annotations: annotationsIn(snapshot),
    stray: replacedIn(snapshot),
    quietUntil: at,
    again: at + resync,
  }
  const resolution = resolve(cx, snapshot, served.minor)
  const wait =
    resolution.is === 'updates'
      ? await carryOut(cx, snapshot, { updates: resolution.updates, source, last })
      : await refuse(cx, snapshot, resolution.why)
  last.again = at + wait
  resolutions.set(namespace, last)
  return wait
}

async function refuse(cx: Olm, { subscriptions }: NamespaceSnapshot, message: string): Promise<number> {
  await sayAll(cx, subscriptions, {
    ResolutionFailed: { status: 'True', reason: 'ConstraintsNotSatisfiable', message },
  })
  return resync
}

/** Unpacks what is new and makes a plan of it; changes `last` where it made one. In how many ms to look again. */
async function carryOut(
  cx: Olm,
  snapshot: NamespaceSnapshot,
  {
    updates: found,
    source,
    last,
  }: { updates: readonly Update[]; source: kube.CatalogSource; last: LastResolution },
): Promise<number> {
  const resolved = await sayAll(cx, snapshot.subscriptions, { ResolutionFailed: undefined })
  const updates = found.map(({ subscription, release }) => ({
    subscription: resolved.find(({ metadata }) => metadata.uid === subscription.metadata.uid) ?? subscription,
    release,
  }))
  const changed = updates.filter(({ subscription, release }) => isNews(snapshot, subscription, release))
  if (changed.length === 0) {
    // What failed once is said until there is nothing to unpack any more, beside the plan too (recording live3-unpack-channel-automatic).
    await sayAll(cx, resolved, { BundleUnpacking: undefined, BundleUnpackFailed: undefined })
    return resync
  }
  const now = { ...snapshot, subscriptions: resolved }
  const unpacked = await unpack(
    cx,
    changed.map(({ release }) => release),
    source,
  )
  if (unpacked.is === 'under-way') {
    await sayAll(cx, now.subscriptions, { BundleUnpacking: unpackingNow })
    return unpacked.again
  }
  if (unpacked.is === 'done') {
    await makePlan(cx, now, { updates, changed })
    last.quietUntil = cx.clock.now().getTime() + afterPlan
    return afterPlan
  }
  const message = unpacked.why
  const news = changed.map(({ subscription }) => subscription)
  await sayAll(cx, news, {
    BundleUnpacking: undefined,
    BundleUnpackFailed: { status: 'True', reason: 'BundleUnpackFailed', message },
  })
  return resync
}

/** What the resolver is told of: Subscriptions, plans and catalogs. That a CSV changes or goes is none of it (olm-real 3). */
function eventsIn(cx: Olm, { subscriptions, plans }: NamespaceSnapshot, source: kube.CatalogSource): string {
  const revisions = [...subscriptions, ...plans, source].map(({ metadata }) => metadata.resourceVersion)
  return JSON.stringify([revisions, cx.faults.on.resolutionFailed, cx.faults.on.resolutionStale])
}

const annotationsIn = ({ subscriptions }: NamespaceSnapshot): string =>
  JSON.stringify(subscriptions.map(({ metadata }) => metadata.annotations ?? {}))

function untilResolved(
  cx: Olm,
  snapshot: NamespaceSnapshot,
  { source, last }: { source: kube.CatalogSource; last: LastResolution | undefined },
): number {
  if (last === undefined) return 0
  const now = cx.clock.now().getTime()
  if (now < last.quietUntil) return last.quietUntil - now
  const { resolutionStale = false } = cx.faults.on
  const { stray } = last
  const isGone =
    stray !== undefined && !snapshot.serviceVersions.some(({ metadata }) => metadata.name === stray)
  if (isGone && resolutionStale === 'for-ever') return resync
  if (isGone && resolutionStale)
    return annotationsIn(snapshot) === last.annotations ? Math.max(0, last.at + resync - now) : 0
  if (isGone && last.again > now + afterGone.most)
    last.again = now + between(cx.random, afterGone.least, afterGone.most)
  return eventsIn(cx, snapshot, source) === last.events ? Math.max(0, last.again - now) : 0
}

/** Not when the Subscription knows of it already; its plan may be gone. */
function isNews(snapshot: NamespaceSnapshot, { status }: kube.Subscription, { entry }: Release): boolean {
  const isThere = snapshot.serviceVersions.some(({ metadata }) => metadata.name === entry.name)
  return !isThere && status?.currentCSV !== entry.name
}

/** Said of all Subscriptions in the namespace; those that get something new keep it until all is resolved again. */
const unpackingNow = { status: 'True', reason: 'UnpackingInProgress' } as const

/** It is said of every Subscription in the namespace, whosever fault it is (ocp 2.1). */
async function sayAll(cx: Olm, subscriptions: readonly kube.Subscription[], said: Said) {
  const after: kube.Subscription[] = []
  for (const one of subscriptions) after.push(await changeStatus(cx, one, {}, said))
  return after
}

/** A plan has no phase for so long: it is created, and then its status is written, ms. */
const statusAfter = 200

/** A Subscription, and what it is to get. */
interface Update {
  subscription: kube.Subscription
  release: Release
}

/**
 * Makes the plan of a namespace: with all updates in it that are not there yet, Manual where one Subscription is, referenced by those that
 * get something new (ocp 2.3). Throws ApiError 409 where somebody wrote to it between the two writes: it stays without a phase, and the
 * next look makes another one.
 */
async function makePlan(
  cx: Olm,
  snapshot: NamespaceSnapshot,
  { updates, changed }: { updates: readonly Update[]; changed: readonly Update[] },
): Promise<void> {
  const generation = 1 + Math.max(0, ...snapshot.plans.map(({ spec }) => spec?.generation ?? 0))
  const plan = await cx.writer.create(kube.InstallPlans, newPlan(cx, snapshot, { updates, generation }))
  await cx.clock.sleep(cx.faults.on.planStatusAfter ?? statusAfter, cx.signal)
  const { name, uid = '', resourceVersion } = plan.metadata
  const status = {
    phase: plan.spec?.approved === true ? 'Installing' : 'RequiresApproval',
    catalogSources: [cx.shape.source],
    plan: updates.flatMap(({ release }) => stepsOf(release, cx.shape)),
    bundleLookups: [],
  }
  const change = { ...(resourceVersion !== undefined && { metadata: { resourceVersion } }), status }
  await cx.writer.mergePatch(kube.InstallPlans, plan.metadata, change, 'status')
  const { apiVersion, kind } = kube.InstallPlans
  for (const { subscription, release } of changed)
    await changeStatus(cx, subscription, {
      state: 'UpgradePending',
      currentCSV: release.entry.name,
      installPlanRef: { apiVersion, kind, name, namespace: snapshot.namespace, uid },
      installplan: { apiVersion, kind, name, uuid: uid },
      installPlanGeneration: generation,
    })
  const updated = new Set(changed.map(({ subscription }) => subscription.metadata.uid))
  const others = snapshot.subscriptions.filter((one) => !updated.has(one.metadata.uid))
  await sayAll(cx, others, { BundleUnpacking: undefined })
}

function newPlan(
  cx: Olm,
  { namespace, subscriptions }: NamespaceSnapshot,
  { updates, generation }: { updates: readonly Update[]; generation: number },
): kube.InstallPlan {
  const isManual = subscriptions.some(({ spec }) => spec?.installPlanApproval === 'Manual')
  const labels = updates.map(({ release }) => [`operators.coreos.com/${release.package}.${namespace}`, ''])
  return made(kube.InstallPlans, {
    metadata: {
      name: `install-${nameSuffix(cx.random)}`,
      namespace,
      labels: Object.fromEntries(labels) as Record<string, string>,
      ownerReferences: subscriptions.map((one) => ownerReference(one, false)),
    },
    spec: {
      approval: isManual ? 'Manual' : 'Automatic',
      approved: !isManual,
      clusterServiceVersionNames: updates.map(({ release }) => release.entry.name),
      generation,
    },
  })
}

type Status = NonNullable<kube.Subscription['status']>
/** `null` takes a field away. */
type StatusChange = { [K in keyof Status]?: Status[K] | null } & { installplan?: object | null }

/** Ms until it names its CSV as installed: 0 where it is to do so now, Infinity where there is no such CSV. */
function untilNamed(
  cx: Olm,
  { status = {} }: kube.Subscription,
  { snapshot, memory: { arrivals } }: { snapshot: NamespaceSnapshot; memory: Memory },
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

/** What a look at a Subscription shows: its plan with the phase that it is to say of it, and in how many ms it is to name its CSV. */
interface SubscriptionView {
  source: kube.CatalogSource | undefined
  plan: kube.InstallPlan | undefined
  phase: string
  late: number
}

/**
 * What follows for a Subscription from what is there: its CSV, as soon as it exists in whatever phase, its plan, its catalog (ocp 2.1).
 * The answer is the Subscription as it is then.
 */
function follow(
  cx: Olm,
  subscription: kube.Subscription,
  view: SubscriptionView,
): Promise<kube.Subscription> {
  const { status = {} } = subscription
  const { source, plan, phase, late } = view
  const { currentCSV } = status
  const isLost = status.installPlanRef !== undefined && plan === undefined
  // A plan that only waited is forgotten; of one whose CSV was named no other is made (olm-real 4).
  const isForgotten = isLost && late === Infinity && status.installedCSV !== currentCSV
  const health = catalogHealth(source)
  const isMissing = isLost && !isForgotten
  return changeStatus(
    cx,
    subscription,
    { ...(isForgotten ? forgotten : stateOf(currentCSV, late === 0)), catalogHealth: health.of },
    {
      InstallPlanMissing: isMissing ? { status: 'True', reason: 'ReferencedInstallPlanNotFound' } : undefined,
      InstallPlanPending:
        plan === undefined || phase === 'Complete' || phase === 'Failed'
          ? undefined
          : { status: 'True', reason: phase === '' ? 'InstallPlanNotYetReconciled' : phase },
      InstallPlanFailed: plan && phase === 'Failed' ? failed(plan) : undefined,
      CatalogSourcesUnhealthy: health.condition,
    },
  )
}

const forgotten = { installPlanRef: null, installplan: null, currentCSV: null, state: null }

function stateOf(currentCSV: string | undefined, isThere: boolean): StatusChange {
  if (currentCSV === undefined) return { state: null }
  return isThere ? { state: 'AtLatestKnown', installedCSV: currentCSV } : { state: 'UpgradePending' }
}

const failed = ({ status: { message } = {} }: kube.InstallPlan): Said[string] => ({
  status: 'True',
  reason: 'InstallComponentFailed',
  ...(message !== undefined && { message }),
})

/** Writes what differs, and the conditions that say something new. */
async function changeStatus(cx: Olm, subscription: kube.Subscription, change: StatusChange, said: Said = {}) {
  const { status = {}, metadata } = subscription
  const now = seconds(cx)
  const conditions = saying(status.conditions, said, now)
  if (sameStatus(status, change) && conditions === status.conditions) return subscription
  const next = { ...change, conditions, lastUpdated: now }
  return cx.writer.mergePatch(kube.Subscriptions, metadata, { status: next }, 'status')
}

const planOf = ({ plans }: NamespaceSnapshot, { status }: kube.Subscription): kube.InstallPlan | undefined =>
  plans.find(({ metadata }) => metadata.name === status?.installPlanRef?.name)

/** From when to when, ms since a plan came to a phase, a Subscription still says the phase before: once after the right one was said already (olm-real). */
const relapses: Readonly<Record<string, { from: number; to: number; says: string }>> = {
  Installing: { from: 2000, to: 2400, says: 'RequiresApproval' },
  Complete: { from: 400, to: 800, says: 'Installing' },
  Failed: { from: 800, to: 1200, says: 'Installing' },
}

/** The phase of a plan as its Subscription is to say it now, and in how many ms that is to change. */
function shownPhase(
  { clock }: Olm,
  { metadata, spec, status }: kube.InstallPlan,
  { firstShown }: Memory,
): { phase: string; again: number } {
  const phase = status?.phase ?? ''
  const { from, to, says } = relapses[phase] ?? { from: 0, to: 0, says: '' }
  if (says === '' || (phase === 'Installing' && spec?.approval !== 'Manual'))
    return { phase, again: Infinity }
  const key = `${metadata.uid ?? ''}/${phase}`
  const now = clock.now().getTime()
  const since = firstShown.get(key) ?? now
  firstShown.set(key, since)
  const passed = now - since
  if (passed < from) return { phase, again: from - passed }
  return passed < to ? { phase: says, again: to - passed } : { phase, again: Infinity }
}

/** It looks for the catalog's pod alone: one that does not answer is healthy to it (olm-real 6). */
function catalogHealth(source: kube.CatalogSource | undefined): {
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

/** What the resolver makes of a namespace, of all its Subscriptions at once (ocp 2.3). */
type Resolution = { is: 'updates'; updates: readonly Update[] } | { is: 'unsatisfiable'; why: string }

/** Each Subscription's next release, by what the catalog shows on this minor of the platform. One that has none holds up no other. */
function resolve({ shape, faults }: Olm, snapshot: NamespaceSnapshot, minor: string | undefined): Resolution {
  const { resolutionFailed } = faults.on
  if (resolutionFailed !== undefined) return { is: 'unsatisfiable', why: resolutionFailed }
  const updates: Update[] = []
  for (const subscription of snapshot.subscriptions) {
    const entries = entriesFor(shape, subscription, minor)
    if (typeof entries === 'string') return { is: 'unsatisfiable', why: entries }
    const entry = nextFor(shape, snapshot, subscription, entries)
    const why = whyUnsatisfiable(shape, snapshot, { subscription, entry })
    if (why !== undefined) return { is: 'unsatisfiable', why }
    const replaces = subscription.status?.installedCSV
    const { namespace } = snapshot
    const release = { package: subscription.spec?.name ?? '', namespace, replaces }
    if (entry !== undefined) updates.push({ subscription, release: { ...release, entry } })
  }
  return { is: 'updates', updates }
}

function entriesFor(shape: OlmShape, subscription: kube.Subscription, minor: string | undefined) {
  const { name, channel } = subscription.spec ?? {}
  const found = contentOf(shape, minor).find((one) => one.package === name)
  const entries = found?.channels.find((one) => one.name === channel)?.entries
  return entries ?? nothingIn(subscription, found !== undefined)
}

function nextFor(
  shape: OlmShape,
  snapshot: NamespaceSnapshot,
  { spec, status }: kube.Subscription,
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

function nothingIn({ metadata, spec }: kube.Subscription, isPackage: boolean): string {
  const { name = '', channel = '' } = spec ?? {}
  const where = isPackage ? `channel ${channel} of package ${name}` : `package ${name}`
  return (
    `constraints not satisfiable: no operators found in ${where} in the catalog referenced by subscription ${metadata.name}, ` +
    `subscription ${metadata.name} exists`
  )
}

/** The CSV that another one of the namespace replaces: no Subscription refers to it any more. */
const replacedIn = ({ serviceVersions }: NamespaceSnapshot): string | undefined =>
  serviceVersions.find(({ metadata }) => serviceVersions.some(({ spec }) => spec?.replaces === metadata.name))
    ?.metadata.name

const isThere = ({ serviceVersions }: NamespaceSnapshot, name: string | undefined): name is string =>
  serviceVersions.some(({ metadata }) => metadata.name === name)

/** A CSV stands there that no Subscription refers to: it is replaced but not gone, or it is not named as installed yet, or its Subscription knows of none (ocp 7 #8). */
function whyUnsatisfiable(
  shape: OlmShape,
  snapshot: NamespaceSnapshot,
  next: { subscription: kube.Subscription; entry: EntryShape | undefined },
): string | undefined {
  const { metadata, spec, status: { currentCSV, installedCSV } = {} } = next.subscription
  if (installedCSV !== undefined) {
    const replaced = snapshot.serviceVersions.find((csv) => csv.metadata.name === installedCSV)?.spec
      ?.replaces
    const unnamed = currentCSV === installedCSV ? undefined : currentCSV
    const stray = isThere(snapshot, replaced) ? replaced : unnamed
    return isThere(snapshot, stray) ? notReferenced(shape, next, stray) : undefined
  }
  const channels = contentOf(shape, undefined).find((one) => one.package === spec?.name)?.channels ?? []
  const names = new Set(channels.flatMap(({ entries }) => entries.map(({ name }) => name)))
  const present = snapshot.serviceVersions.map((csv) => csv.metadata.name)
  const own = present.find((name) => names.has(name) && name !== currentCSV)
  const { name } = metadata
  return (
    own &&
    `constraints not satisfiable: ${orphan(own)}, subscription ${name} requires at least one of the versions of its package, subscription ${name} exists`
  )
}

const orphan = (csv: string): string =>
  `clusterserviceversion ${csv} exists and is not referenced by a subscription`

/** In every hop, in these words (recordings chain-manual at 505 s, with a further release in the catalog, and scenarios-manual at 749 s). */
function notReferenced(
  { source, sourceNamespace }: OlmShape,
  { subscription, entry }: { subscription: kube.Subscription; entry: EntryShape | undefined },
  stray: string,
): string {
  const { metadata, spec, status } = subscription
  const existing = (csv: string): string => `@existing/${metadata.namespace}//${csv}`
  const own = existing(status?.installedCSV ?? '')
  const isOffered = entry !== undefined && entry.name !== stray
  const offered = isOffered ? [`${source}/${sourceNamespace}/${spec?.channel}/${entry.name}`] : []
  const all = [existing(stray), own, ...offered]
  const from = `${all.slice(0, -1).join(', ')} and ${all.at(-1)} originate from package ${spec?.name}`
  const { name } = metadata
  const needs = isOffered ? `at least one of ${offered.join()} or ${own}` : own
  return `constraints not satisfiable: ${from}, ${orphan(stray)}, subscription ${name} exists, subscription ${name} requires ${needs}`
}
