import {
  type CatalogChannel,
  type CatalogPackage,
  type Installed,
  nextIn,
} from '../../releases/catalog-path.ts'
import type { HyperConverged, PackageChannel } from '../../kube/kinds/operator-kinds.ts'
import { itemsOf } from '../../kube/known.ts'
import { platformOfOperator, type Releases } from '../../releases/releases.ts'
import {
  compareMinors,
  compareOperatorVersions,
  isInSkipRange,
  type OperatorVersion,
  operatorVersionOf,
  versionOfCsv,
} from '../../releases/release-versions.ts'
import { packageIn } from '../../upgrade/methods/operator-target.ts'
import type { EusClusterSnapshot } from './eus-snapshot.ts'
import {
  installedOperator,
  minorOfOperator,
  oneSubscription,
  type OperatorParts,
} from '../../openshift/operator-rules.ts'
import type { SubscriptionStatus } from '../../openshift/olm-status.ts'
import type { EusHop, ObjectRef, OperatorNow } from './eus-plan.ts'
import { knownMinors } from '../../releases/platform-releases.ts'

/** What is known of the operator's way through the minors that lie ahead of it. */
export interface OperatorPath {
  stops: readonly PathStop[]
  /** CSVs of which it is known that they lead on to the last stop: what is installed, and whatever may come between. */
  path: readonly string[]
  /** The first minor of which it is not known whether a release of it is reached; `none`: the catalog says that none is. */
  open?: { is: 'unknown' | 'none'; from: string; minor: string }
}

interface PathQuestion {
  /** Of the platform, ahead of the operator. */
  minors: readonly string[]
  catalog: readonly CatalogPackage[] | undefined
  releases: Pick<Releases, 'hyperconverged'>
}

/**
 * By the edges of a catalog file, else by what the cluster shows of its catalog (ocp 2.6). Undefined where no Subscription has installed anything. Pure. Throws
 * `blocked` for a catalog file without the package.
 */
export function operatorPath(snapshot: EusClusterSnapshot, question: PathQuestion): OperatorPath | undefined {
  const now = operatorNow(snapshot)
  if (now?.csv === undefined) return undefined
  const begin = { csv: now.csv, ...(now.channel !== undefined && { channel: now.channel }) }
  const { catalog } = question
  return catalog === undefined
    ? byShownCatalog(snapshot, begin, question)
    : byCatalogFile(packageIn(catalog, now.package, catalogOfTheEnd), begin, question)
}

interface Begin {
  csv: string
  channel?: string
}

const catalogOfTheEnd = 'with the catalog of the Subscription, of the minor at the end'

function byCatalogFile(pack: CatalogPackage, { csv, channel }: Begin, question: PathQuestion): OperatorPath {
  const at = { csv, version: versionOfCsv(csv)?.text }
  const { stops, missing } = catalogPath(pack, { at, channel }, question)
  const path = [...new Set([csv, ...stops.map((stop) => stop.csv)])]
  if (missing === undefined) return { stops, path }
  return { stops, path, open: { is: 'none', from: path.at(-1) ?? csv, minor: missing } }
}

/**
 * A channel has one head, and each of its entries leads there in the end; whether what is installed is among them is all that is shown. A catalog that has no
 * release of a minor yet says nothing.
 */
function byShownCatalog(
  snapshot: EusClusterSnapshot,
  { csv, channel }: Begin,
  question: PathQuestion,
): OperatorPath {
  const { minors, releases } = question
  let path: OperatorPath = { stops: [], path: [csv] }
  let set = channel
  for (const minor of minors) {
    const from = path.stops.at(-1)?.csv ?? csv
    const found = channelOf(snapshot, { minor, set, releases })
    const stop = found && headOf(found, minor)
    if (found === undefined || stop === undefined || !leadsOn(found, from))
      return { ...path, open: { is: 'unknown', from, minor } }
    path = { stops: [...path.stops, stop], path: [...new Set([...path.path, ...between(found, from, stop)])] }
    set = found.name
  }
  return path
}

/** The channel whose head belongs to that minor; of several the one that is set, else the one with the newest head. */
export function channelOf(
  { lifecycle }: Pick<EusClusterSnapshot, 'lifecycle'>,
  { minor, set, releases }: { minor: string; set: string | undefined; releases: PathQuestion['releases'] },
): PackageChannel | undefined {
  const [manifest] = itemsOf(lifecycle.packageManifests)
  const fitting = (manifest?.status?.channels ?? []).filter(({ currentCSV }) => {
    const version = versionOfCsv(currentCSV)
    return version !== undefined && platformOfOperator(version, releases) === minor
  })
  return fitting.find(({ name }) => name === set) ?? fitting.toSorted(newestChannelFirst)[0]
}

function newestChannelFirst(a: PackageChannel, b: PackageChannel): number {
  const [one, other] = [a, b].map(({ currentCSV }) => versionOfCsv(currentCSV))
  return one && other ? compareOperatorVersions(other, one) : 0
}

function headOf({ name, currentCSV }: PackageChannel, minor: string): PathStop | undefined {
  const version = versionOfCsv(currentCSV)?.text
  if (currentCSV === undefined || version === undefined) return undefined
  return { minor, csv: currentCSV, version, ...(name !== undefined && { channel: name }) }
}

function leadsOn({ entries = [], currentCSVDesc }: PackageChannel, from: string): boolean {
  const range = currentCSVDesc?.annotations?.['olm.skipRange']
  const version = versionOfCsv(from)
  const isSkipped = range !== undefined && version !== undefined && isInSkipRange(version, range)
  return isSkipped || entries.some(({ name }) => name === from)
}

/** Entries later than where it stands, up to the head. */
function between(
  { entries = [] }: PackageChannel,
  from: string,
  { csv, version }: PathStop,
): readonly string[] {
  const [begin, end] = [versionOfCsv(from), operatorVersionOf(version)]
  const passed = entries.flatMap(({ name = '' }) => {
    const at = versionOfCsv(name)
    const isPassed =
      at && begin && end && compareOperatorVersions(at, begin) > 0 && compareOperatorVersions(at, end) < 0
    return isPassed ? [name] : []
  })
  return [...passed, csv]
}

/** A release of the operator on its way. */
export interface PathStop {
  /** Of the platform: the hop in which it is installed. */
  minor: string
  csv: string
  version: string
  /** To be resolved in. */
  channel?: string
}

type Rows = Pick<Releases, 'hyperconverged'>

/** Where a way begins: what is installed, and the channel that is set. */
interface Beginning {
  at: Installed
  channel: string | undefined
}

/**
 * Through these minors of the platform, one after the other: in each to the newest release that still leads on (ocp 9.15), by the edges that OLM takes from a catalog
 * of that minor (ocp 2.6): later minors are not in it yet. `missing`: the first minor that no release leads to. Pure.
 */
export function catalogPath(
  pack: CatalogPackage,
  begin: Beginning,
  { minors, releases }: { minors: readonly string[]; releases: Rows },
): { stops: readonly PathStop[]; missing?: string } {
  const ordered = { ...pack, channels: pack.channels.toSorted(nearestHeadFirst) }
  for (let count = minors.length; count >= 0; count--) {
    const stops = through(ordered, begin, { minors: minors.slice(0, count), releases })
    const missing = minors[count]
    if (stops !== undefined) return { stops, ...(missing !== undefined && { missing }) }
  }
  return { stops: [] }
}

/** Of channels that lead to a release that which goes no further than it has to: in others OLM would offer later minors at once. */
function nearestHeadFirst(a: CatalogChannel, b: CatalogChannel): number {
  const [one, other] = [a, b].map(({ entries }) => newestIn(entries.map(({ version }) => version)))
  return one && other ? compareOperatorVersions(one, other) : 0
}

const newestIn = (texts: readonly (string | undefined)[]): OperatorVersion | undefined =>
  texts
    .flatMap((text) => operatorVersionOf(text) ?? [])
    .toSorted(compareOperatorVersions)
    .at(-1)

function through(
  pack: CatalogPackage,
  begin: Beginning,
  { minors, releases }: { minors: readonly string[]; releases: Rows },
): readonly PathStop[] | undefined {
  const [minor, ...rest] = minors
  if (minor === undefined) return []
  const observed = upTo(pack, minor, releases)
  for (const path of pathsInto(observed, begin, { minor, releases })) {
    const [end] = path.slice(-1)
    if (end === undefined) continue
    const further = through(pack, { at: end, channel: end.channel }, { minors: rest, releases })
    if (further !== undefined) return [...path, ...further]
  }
  return undefined
}

/** As the catalog of that minor has it. */
function upTo({ channels, ...pack }: CatalogPackage, minor: string, releases: Rows): CatalogPackage {
  return {
    ...pack,
    channels: channels.map(({ name, entries }) => ({
      name,
      entries: entries.filter(({ version }) => {
        const of = minorOfOperator(version, releases)
        return of !== undefined && compareMinors(of, minor) <= 0
      }),
    })),
  }
}

/** To each release of that minor, the newest first; releases of earlier minors may come before it. */
function pathsInto(
  { channels }: CatalogPackage,
  begin: Beginning,
  { minor, releases }: { minor: string; releases: Rows },
): readonly (readonly PathStop[])[] {
  const found = new Map<string, readonly PathStop[]>([[begin.at.csv, hereAlready(begin, minor, releases)]])
  let edge: readonly (readonly PathStop[])[] = [[]]
  while (edge.length > 0) {
    const next = edge.flatMap((path) => furtherFrom(path, begin, { channels, releases }))
    edge = next.filter((path) => !found.has(lastOf(path)))
    for (const path of edge) if (!found.has(lastOf(path))) found.set(lastOf(path), path)
  }
  return [...found.values()]
    .filter((path) => path.at(-1)?.minor === minor)
    .toSorted(newestReleaseFirst)
    .map((path) => path.map((stop) => ({ ...stop, minor })))
}

/** Its release is of that minor already: to stay is a way as well. */
function hereAlready({ at }: Beginning, minor: string, releases: Rows): readonly PathStop[] {
  const { csv, version } = at
  return version === undefined || minorOfOperator(version, releases) !== minor
    ? []
    : [{ minor, csv, version }]
}

const lastOf = (path: readonly PathStop[]): string => path.at(-1)?.csv ?? ''

/** In the channel that is set first, as long as that leads on. */
function furtherFrom(
  path: readonly PathStop[],
  begin: Beginning,
  { channels, releases }: Pick<CatalogPackage, 'channels'> & { releases: Rows },
): readonly (readonly PathStop[])[] {
  const last = path.at(-1)
  const at: Installed = last ?? begin.at
  const set = last === undefined ? begin.channel : last.channel
  const ordered = channels.toSorted((a, b) => Number(b.name === set) - Number(a.name === set))
  return ordered.flatMap((channel) => {
    const entry = nextIn(channel, at)
    const minor = minorOfOperator(entry?.version, releases)
    if (entry?.version === undefined || minor === undefined || path.some(({ csv }) => csv === entry.name))
      return []
    return [[...path, { minor, csv: entry.name, version: entry.version, channel: channel.name }]]
  })
}

function newestReleaseFirst(a: readonly PathStop[], b: readonly PathStop[]): number {
  const [one, other] = [a, b].map((path) => operatorVersionOf(path.at(-1)?.version))
  return one && other ? compareOperatorVersions(other, one) : 0
}

/** What the rules of the operator are asked of. */
export const operatorParts = ({ lifecycle, hyperconverged }: EusClusterSnapshot): OperatorParts => ({
  ...lifecycle,
  hyperconverged,
})

/** The one Subscription of the package, if it is one. */
const subscriptionOf = ({ lifecycle }: EusClusterSnapshot): SubscriptionStatus | undefined =>
  oneSubscription(lifecycle)

/** Undefined without a Subscription, or with several. */
export function operatorNow(snapshot: EusClusterSnapshot): OperatorNow | undefined {
  const subscriptionStatus = subscriptionOf(snapshot)
  const [object] = itemsOf(snapshot.lifecycle.subscriptions)
  if (subscriptionStatus === undefined || object === undefined) return undefined
  const { namespace, name, channel, approval, installed } = subscriptionStatus
  const version = installedOperator(operatorParts(snapshot))
  return {
    package: subscriptionStatus.package,
    subscription: { namespace, name, uid: object.metadata.uid ?? '' },
    ...(channel !== undefined && { channel }),
    approval,
    ...(version !== undefined && { version }),
    ...(installed !== undefined && { csv: installed }),
  }
}

/** The platform's minor that the operator belongs to (night E8); undefined where no version or no row of the table tells. */
export const operatorMinorNow = (
  snapshot: EusClusterSnapshot,
  releases: Pick<Releases, 'hyperconverged'>,
): string | undefined => minorOfOperator(installedOperator(operatorParts(snapshot)), releases)

/** Which HyperConverged and KubeVirt a plan is about; several are a finding. */
export function objectsOf({ hyperconverged, kubevirts }: EusClusterSnapshot): {
  hyperconverged?: ObjectRef
  kubevirt?: ObjectRef
} {
  const [hco] = itemsOf(hyperconverged)
  const [kubevirt] = itemsOf(kubevirts)
  return {
    ...(hco && { hyperconverged: refOf('hyperconvergeds', hco) }),
    ...(kubevirt && { kubevirt: refOf('kubevirts', kubevirt) }),
  }
}

function refOf(resource: string, { metadata }: Pick<HyperConverged, 'metadata'>): ObjectRef {
  return { resource, namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid ?? '' }
}

/**
 * The release of this minor that the operator has still to get to, as a CSV: what OLM resolved, or the head of the channel. Undefined where all of what is installed
 * runs and nothing of the minor comes after it: that its version belongs to the minor says nothing of that (night E4).
 */
export function releaseLeft(snapshot: EusClusterSnapshot, minor: string, releases: Rows): string | undefined {
  const subscriptionStatus = subscriptionOf(snapshot)
  const { installed = '', latest = installed, channel } = subscriptionStatus ?? {}
  const isOfMinor = (csv: string) => {
    const version = operatorVersionOf(versionOfCsv(csv)?.text)
    return version !== undefined && platformOfOperator(version, releases) === minor
  }
  const left = [latest, installedHead(snapshot, channel)].find((csv) => csv !== installed && isOfMinor(csv))
  if (left !== undefined) return left
  const runs = operatorNow(snapshot)?.version
  return runs !== versionOfCsv(installed)?.text && isOfMinor(installed) ? installed : undefined
}

function installedHead({ lifecycle }: EusClusterSnapshot, channel: string | undefined): string {
  const channels = itemsOf(lifecycle.packageManifests).flatMap(({ status }) => status?.channels ?? [])
  return channels.find(({ name }) => name === channel)?.currentCSV ?? ''
}

const named = /^(?<before>(?:.*[^\d.])?)\d+\.\d+(?<patch>\.\d+)?$/u

/** `stable-v1.17`, `1.17.3`: one of many, in which no later minor of the operator appears (ocp 1.1). Not `stable`, in which each does. */
export const isOfOneMinor = (channel: string | undefined): boolean => named.test(channel ?? '')

/**
 * What the channel of a minor of the platform is called, next to that of another: `stable-v1.18` for 4.22, where `stable-v1.17` is set. Undefined where no row knows which operator belongs to
 * it, or where channels bear whole releases.
 */
export function channelFor(
  minor: string,
  set: string | undefined,
  releases: Pick<Releases, 'hyperconverged'>,
): string | undefined {
  const { before, patch } = named.exec(set ?? '')?.groups ?? {}
  const operator = knownMinors(releases).findLast(({ platform }) => platform === minor)?.operator
  return before === undefined || patch !== undefined || operator === undefined
    ? undefined
    : `${before}${operator}`
}

/** The channel that is set behind a hop: the last that it changes to, or the one that was set before it. */
export const channelBehind = (
  operators: EusHop['operators'],
  before: string | undefined,
): string | undefined => changedTo(operators) ?? before

/** Undefined where the hop leaves the channel as it is. */
const changedTo = (operators: EusHop['operators']): string | undefined =>
  operators.findLast(({ channel }) => channel !== undefined)?.channel
