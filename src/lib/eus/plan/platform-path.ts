import type { Topology } from '../../openshift/eus-window.ts'
import { firstIntolerant, minorsTo, nextEus, platformMinor } from '../../releases/platform-releases.ts'
import { compareMinors, minorOfPlatform } from '../../releases/release-versions.ts'
import { usageError } from '../../kube/errors.ts'
import { someOf } from '../../kube/text.ts'
import type { ChannelChange, EusPlan, PlatformStop } from './eus-plan.ts'
import type { PlatformStatus } from '../../openshift/platform-status.ts'
import { newestOf, pathThrough, type UpdateGraph } from '../../releases/update-graph.ts'

/** What the way depends on; minors such as `4.18`. */
export interface Whereabouts {
  flavour: EusPlan['flavour']
  topology: Topology['is']
  /** Of the control plane. */
  here: string
  /** Of the paused pools' kubelets: older than `here` in the middle of a window. */
  began: string
  /** What was typed. */
  to?: string | undefined
}

/** From minor to minor. */
export interface Route {
  to: string
  /** Behind `here`, the target last; none where it is reached. */
  minors: readonly string[]
  mode: EusPlan['mode']
  /** Why the pools follow hop by hop; absent where they do not. */
  plainBecause?: string
  /** The first minor that does not tolerate the pools where they are: they have to follow before it. */
  intolerant?: string
}

/**
 * Where to and over what. Without a target: the next minor with extended support, on OKD, which has none, the next one. Whether pools may
 * stay behind is decided by what each control plane tolerates, never by even and odd (ocp 3.4). Throws `usage` for a target that is none.
 */
export function routeOf(whereabouts: Whereabouts): Route {
  const { here, began } = whereabouts
  const to = whereabouts.to ?? defaultTarget(whereabouts)
  const minors = to === here ? [] : minorsTo(here, to)
  if (minors === undefined) throw noPathTo(to, whereabouts)
  const plainBecause = whyPlain(whereabouts, to)
  if (plainBecause !== undefined) return { to, minors, mode: 'rolling', plainBecause }
  const behind = began === here ? minors : [here, ...minors]
  const intolerant = firstIntolerant(began, behind)
  return { to, minors, mode: 'control-plane-only', ...(intolerant !== undefined && { intolerant }) }
}

function defaultTarget({ flavour, here, began }: Whereabouts): string {
  const next = flavour === 'okd' ? platformMinor(here)?.next[0] : nextEus(began)
  if (next !== undefined) return next
  throw usageError(
    'no-target',
    `kvup knows no ${flavour === 'okd' ? 'minor' : 'minor with extended support'} after ${here}`,
    { remedy: 'name the minor with --to' },
  )
}

const ownPools: ReadonlySet<Topology['is']> = new Set(['usual', 'unknown'])

function whyPlain({ flavour, topology, began, here }: Whereabouts, to: string): string | undefined {
  if (began !== here) return undefined
  if (flavour === 'okd') return 'OKD has no EUS releases, and no procedure for paused pools'
  if (topology === 'compact') return 'all nodes belong to the master pool, which cannot be paused'
  if (topology === 'single-node') return 'the cluster has one node, so no pool can be paused'
  if (!ownPools.has(topology)) return 'a service manages its pools'
  const all = minorsTo(began, to) ?? []
  return all.length < 2 ? 'it is one minor: paused pools would reboot as often' : undefined
}

function noPathTo(to: string, { here }: Whereabouts): Error {
  const order = compareMinors(to, here)
  const why =
    platformMinor(to) === undefined
      ? `kvup does not know it`
      : order < 0
        ? `this cluster is at ${here}, and there is no way back`
        : `there is no upgrade path from ${here}`
  return usageError('no-such-path', `the platform cannot be updated to ${to}: ${why}`, {
    remedy: 'kvup eus plan      shows which releases you can reach',
  })
}

/** What a channel is chosen by. */
interface ChannelQuestion {
  flavour: 'ocp' | 'okd'
  /** The one that is set. */
  now: string | undefined
  /** Those that the present release is in; empty where that is not said. */
  offered: readonly string[]
  /** The minor that it has to lead to. */
  to: string
  /** Over how many minors: only the channels of extended support hold those in between (ocp 3.7). */
  hops: number
  /** The next hop is offered with the channel that is set. */
  reaches: boolean
}

/** A channel to set; `kept`: the one that is set will do; `missing`: none leads there yet. */
export type ChannelChoice =
  | { is: 'kept' }
  | ({ is: 'change' } & ChannelChange)
  | { is: 'missing'; wanted: string; offered: readonly string[] }

const named = /^(?<prefix>[a-z]+(?:-scos)?)-(?<minor>\d+\.\d+)$/u

/** By what the cluster offers (`status.desired.channels`), not by arithmetic: a channel appears weeks after its releases (ocp 3.7). */
export function chooseChannel(question: ChannelQuestion): ChannelChoice {
  const { now, offered } = question
  if (isGood(question)) return { is: 'kept' }
  const wanted = wantedOf(question)
  const channel = wanted.find((name) => offered.includes(name))
  if (channel === undefined) return { is: 'missing', wanted: wanted[0] ?? '', offered: inOrder(offered) }
  if (channel === now) return { is: 'kept' }
  return { is: 'change', ...(now !== undefined && { from: now }), to: channel }
}

/** OKD has one channel for all minors. */
function isGood({ flavour, now, to, hops, reaches }: ChannelQuestion): boolean {
  if (flavour === 'okd' || hops === 0 || (hops === 1 && reaches)) return true
  const set = named.exec(now ?? '')?.groups
  return set?.['minor'] === to && (hops < 2 || set['prefix'] !== 'stable')
}

/** The best first. */
function wantedOf({ now, to, hops }: ChannelQuestion): readonly string[] {
  const prefix = named.exec(now ?? '')?.groups?.['prefix'] ?? 'stable'
  const prefixes = new Set([...(hops > 1 ? ['eus'] : []), prefix, 'stable'])
  return [...prefixes].map((one) => `${one}-${to}`)
}

function inOrder(channels: readonly string[]): readonly string[] {
  return channels.toSorted((a, b) => compareMinors(minorIn(a), minorIn(b)))
}

const minorIn = (channel: string): string => named.exec(channel)?.groups?.['minor'] ?? '0.0'

/** What the releases of the platform are chosen by. */
interface Choosing {
  platformStatus: PlatformStatus
  /** Ahead of the control plane, the target last. */
  minors: readonly string[]
  graph?: UpdateGraph | undefined
  /** To be set before; the list of the cluster is then another one. */
  channel?: string | undefined
  /** Pools wait for the end: a release that leads nowhere would keep them waiting. */
  staysBehind?: boolean
}

export interface Chosen {
  /** One for each minor; the patch that has to come first, if any, before them. */
  stops: readonly { minor: string; stop: PlatformStop }[]
  notes: readonly string[]
  unknown: readonly string[]
  /** Pools would stay behind, and nobody knows whether the release that comes first leads on; undefined where that is known. */
  unproven?: { release: string; to: string }
  /** Why the way is not open; absent where it is, as far as is known. */
  closed?: { is: 'not-in-graph' | 'not-offered' | 'not-retrieved'; why: string }
}

/**
 * With a graph the whole way: of each minor the newest that leads on. Without, the first hop by what the cluster itself is offered, the
 * later ones when they are there: its list tells of the next hop only (ocp 2.6, 5.1).
 */
export function choosePlatform(choosing: Choosing): Chosen {
  if (choosing.minors.length === 0) return { stops: [], notes: [], unknown: [] }
  return choosing.graph ? byGraph(choosing, choosing.graph) : byOffer(choosing)
}

function byGraph({ platformStatus, minors, channel }: Choosing, graph: UpdateGraph): Chosen {
  const path = pathThrough(graph, platformStatus.target ?? '', minors)
  if (path.is === 'none')
    return {
      stops: minors.map((minor) => ({ minor, stop: later(minor, channel) })),
      notes: [],
      unknown: [],
      closed: { is: 'not-in-graph', why: path.why },
    }
  const notes = [
    ...path.deadEnds.map((dead) => `${dead} is newer but has no update path to the target`),
    ...riskyNotes(graph, [platformStatus.target ?? '', ...path.releases]),
  ]
  const stops = path.releases.map((version, i) => {
    const image = graph.nodes.get(version)?.image
    return {
      minor: minorOfPlatform(version),
      stop: {
        version,
        ...(image !== undefined && { image }),
        ...(i === 0 && channel !== undefined && { channel }),
        chosenBecause: becauseOfGraph(version, path.releases, i),
        done: false,
      },
    }
  })
  return { stops, notes, unknown: [] }
}

/** Newer releases that the graph offers under conditions only. */
function riskyNotes(graph: UpdateGraph, path: readonly string[]): readonly string[] {
  return path.slice(1).flatMap((chosen, i) => {
    const offers = graph.conditional.get(path[i] ?? '') ?? []
    return offers
      .filter(({ to }) => newestOf([to, chosen], minorOfPlatform(chosen))[0] === to && to !== chosen)
      .map(({ to, risks }) => `${to} is newer, but has known risks (${risks.join(', ')}): not chosen`)
  })
}

function becauseOfGraph(version: string, releases: readonly string[], at: number): string {
  const next = releases[at + 1]
  if (next === undefined) return `the newest of ${minorOfPlatform(version)} in the update graph`
  return minorOfPlatform(next) === minorOfPlatform(version)
    ? `a patch on the path to ${next}`
    : `the newest of ${minorOfPlatform(version)} that has an update path to ${minorOfPlatform(next)}`
}

function byOffer(choosing: Choosing): Chosen {
  const { minors, platformStatus, channel, staysBehind = false } = choosing
  const [first = '', ...rest] = minors
  const offer = offeredStop(choosing, first)
  const all = [{ minor: first, stop: offer.stop }, ...rest.map((minor) => ({ minor, stop: later(minor) }))]
  return {
    stops: staysBehind ? all.map(unprovenBut(minors.at(-1))) : all,
    notes: conditionalNotes(platformStatus, first),
    ...whetherItLeadsOn(choosing, offer.stop),
    ...(channel === undefined && offer.closed && { closed: offer.closed }),
  }
}

/** Where pools follow, a release that leads nowhere keeps nobody waiting. */
function whetherItLeadsOn(
  { minors: [first, second], staysBehind }: Choosing,
  { version }: PlatformStop,
): Pick<Chosen, 'unknown' | 'unproven'> {
  if (second === undefined) return { unknown: [] }
  if (staysBehind)
    return { unknown: [], unproven: { release: version ?? `a release of ${first}`, to: second } }
  const told = `whether ${version} has an update path to ${second}: ${onlyNextHop}; --graph-file shows the whole upgrade path`
  return { unknown: version === undefined ? [] : [told] }
}

export const onlyNextHop = 'the cluster knows only its next update'

type ChosenStop = Chosen['stops'][number]

/** All but the one at the end. */
const unprovenBut =
  (last: string | undefined) =>
  ({ minor, stop }: ChosenStop): ChosenStop =>
    minor === last ? { minor, stop } : { minor, stop: { ...stop, unproven: true } }

/** Of a list that belongs to another channel nothing can be said of the next one. */
function offeredStop(
  { platformStatus, channel }: Choosing,
  minor: string,
): { stop: PlatformStop } & Pick<Chosen, 'closed'> {
  const { available } = platformStatus
  if (available === undefined)
    return {
      stop: later(minor, channel),
      closed: {
        is: 'not-retrieved',
        why: `the cluster has no list of updates: ${platformStatus.notRetrieved ?? 'it does not say why'}`,
      },
    }
  const texts = available.flatMap(({ version }) => (version === undefined ? [] : [version]))
  const [version] = newestOf(texts, minor)
  if (version === undefined)
    return {
      stop: later(minor, channel),
      closed: { is: 'not-offered', why: notOffered(texts, platformStatus, minor) },
    }
  const image = available.find((release) => release.version === version)?.image
  const count = newestOf(texts, minor).length
  return {
    stop: {
      version,
      ...(image !== undefined && { image }),
      ...(channel !== undefined && { channel }),
      chosenBecause: `${count === 1 ? 'the only release' : `the newest of ${count} releases`} of ${minor} that the cluster is offered now`,
      done: false,
    },
  }
}

function notOffered(offers: readonly string[], { channel, target }: PlatformStatus, minor: string): string {
  const patches = newestOf(offers, minorOfPlatform(target ?? ''))
  const first = patches[0] === undefined ? '' : `; ${patches[0]} is, and may have a path there`
  return `no release of ${minor} is offered to ${target ?? 'this release'} in channel ${channel ?? '(none)'}${first}`
}

const later = (minor: string, channel?: string): PlatformStop => ({
  ...(channel !== undefined && { channel }),
  chosenBecause: `chosen later: the newest of ${minor} with a recommended update path`,
  done: false,
})

interface RiskyRelease {
  version: string
  recommended: Exclude<PlatformStatus['conditional'][number]['recommended'], { is: 'yes' }>
}

/** So many are told one by one, the newest first. */
const shownRisky = 2

function conditionalNotes({ conditional }: PlatformStatus, minor: string): string[] {
  const risky = conditional.flatMap(({ release: { version }, risks, recommended }) =>
    version !== undefined && minorOfPlatform(version) === minor && recommended.is !== 'yes'
      ? [{ version, risks, recommended }]
      : [],
  )
  const order = newestOf(
    risky.map(({ version }) => version),
    minor,
  )
  const first = order
    .slice(0, shownRisky)
    .flatMap((version) => risky.find((one) => one.version === version) ?? [])
  const rest = risky.length - first.length
  const names = [...new Set(risky.flatMap(({ risks }) => risks))]
  return [
    ...first.map(riskNote),
    ...(rest > 0
      ? [`${rest} more releases of ${minor} are offered with risks (${someOf(names)}): not chosen`]
      : []),
  ]
}

/** That nobody could tell whether a risk applies is another thing than that it does. */
function riskNote({ version, recommended: { is, reason, message } }: RiskyRelease): string {
  const how = is === 'no' ? `a known risk (${reason})` : `a risk (${reason}), which may apply here`
  return `${version} is offered with ${how}: not chosen. ${message}`.trim()
}
