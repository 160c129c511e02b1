import type { Subscription } from '../../lib/kube/kinds/operator-kinds.ts'
import { contentOf, entryNamed, headOf, nextEntry } from './catalog-content.ts'
import type { NamespaceSnapshot } from './olm-context.ts'
import type { EntryShape, OlmShape } from './olm-shape.ts'
import type { Release } from './operator-bundle.ts'

/** What the resolver makes of a namespace, of all its Subscriptions at once (ocp 2.3). */
export type Resolution =
  | { is: 'updates'; releases: readonly { subscription: Subscription; release: Release }[] }
  | { is: 'unsatisfiable'; why: string }

/** Each Subscription's next release, by what the catalog shows on this minor of the platform. One that has none holds up no other. */
export function resolve(shape: OlmShape, snapshot: NamespaceSnapshot, minor: string | undefined): Resolution {
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

/** The CSV that another one of the namespace replaces: no Subscription refers to it any more. */
export const replacedIn = ({ serviceVersions }: NamespaceSnapshot): string | undefined =>
  serviceVersions.find(({ metadata }) => serviceVersions.some(({ spec }) => spec?.replaces === metadata.name))
    ?.metadata.name

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
