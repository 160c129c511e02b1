import type { Subscription } from '../../cluster/kinds/operator-lifecycle.ts'
import type { Release } from './bundle-objects.ts'
import { contentOf, entryNamed } from './catalog-content.ts'
import { headOf, nextEntry } from './graph.ts'
import type { NamespaceLook } from './namespace-look.ts'
import type { EntryShape, OlmShape } from './shape.ts'

/** What the resolver makes of a namespace, of all its Subscriptions at once (ocp 2.3). */
export type Resolution =
  | { is: 'updates'; releases: readonly { subscription: Subscription; release: Release }[] }
  | { is: 'unsatisfiable'; why: string }

/** Each Subscription's next release, by what the catalog shows on this minor of the platform. One that has none holds up no other. */
export function resolve(shape: OlmShape, look: NamespaceLook, minor: string | undefined): Resolution {
  const releases: { subscription: Subscription; release: Release }[] = []
  for (const subscription of look.subscriptions) {
    const entries = entriesFor(shape, subscription, minor)
    if (typeof entries === 'string') return { is: 'unsatisfiable', why: entries }
    const stray = strayOf(shape, look, subscription)
    if (stray !== undefined) return { is: 'unsatisfiable', why: notReferenced(subscription, stray) }
    const entry = nextFor(shape, look, subscription, entries)
    if (entry !== undefined) releases.push({ subscription, release: releaseFor(look, subscription, entry) })
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
  { namespace }: NamespaceLook,
  { spec, status }: Subscription,
  entry: EntryShape,
): Release {
  const replaces = status?.installedCSV
  return { package: spec?.name ?? '', entry, namespace, ...(replaces !== undefined && { replaces }) }
}

function nextFor(
  shape: OlmShape,
  look: NamespaceLook,
  { spec, status }: Subscription,
  entries: readonly EntryShape[],
): EntryShape | undefined {
  const { installedCSV } = status ?? {}
  if (installedCSV === undefined) {
    return entries.find(({ name }) => name === spec?.startingCSV) ?? headOf(entries)
  }
  const present = look.serviceVersions.find(({ metadata }) => metadata.name === installedCSV)
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

/** A CSV of the package that is there though its Subscription knows of none (ocp 7 #8). */
function strayOf(shape: OlmShape, look: NamespaceLook, { spec, status }: Subscription): string | undefined {
  if (status?.installedCSV !== undefined) return undefined
  const channels = contentOf(shape, undefined).find((one) => one.package === spec?.name)?.channels ?? []
  const names = new Set(channels.flatMap(({ entries }) => entries.map(({ name }) => name)))
  const present = look.serviceVersions.map(({ metadata }) => metadata.name)
  return present.find((name) => names.has(name) && name !== status?.currentCSV)
}

function notReferenced({ metadata }: Subscription, stray: string): string {
  return (
    `constraints not satisfiable: clusterserviceversion ${stray} exists and is not referenced by a subscription, ` +
    `subscription ${metadata.name} requires at least one of the versions of its package, subscription ${metadata.name} exists`
  )
}
