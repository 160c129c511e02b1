import type { PlatformStanding } from '../../facts/openshift/platform-standing.ts'
import { newestOf, wayThrough } from '../../releases/graph-way.ts'
import { minorOfPlatform } from '../../releases/platform-version.ts'
import type { UpdateGraph } from '../../releases/update-graph.ts'
import type { PlatformStop } from '../eus-plan.ts'

/** What the releases of the platform are chosen by. */
export interface Choosing {
  standing: PlatformStanding
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

function byGraph({ standing, minors, channel }: Choosing, graph: UpdateGraph): Chosen {
  const way = wayThrough(graph, standing.target ?? '', minors)
  if (way.is === 'none')
    return {
      stops: minors.map((minor) => ({ minor, stop: later(minor, channel) })),
      notes: [],
      unknown: [],
      closed: { is: 'not-in-graph', why: way.why },
    }
  const notes = [
    ...way.deadEnds.map((dead) => `${dead} is newer, but leads nowhere on this way: not chosen`),
    ...riskyNotes(graph, [standing.target ?? '', ...way.releases]),
  ]
  const stops = way.releases.map((version, i) => {
    const image = graph.nodes.get(version)?.image
    return {
      minor: minorOfPlatform(version),
      stop: {
        version,
        ...(image !== undefined && { image }),
        ...(i === 0 && channel !== undefined && { channel }),
        chosenBecause: becauseOfGraph(version, way.releases, i),
        done: false,
      },
    }
  })
  return { stops, notes, unknown: [] }
}

/** Newer releases that the graph offers under conditions only. */
function riskyNotes(graph: UpdateGraph, way: readonly string[]): readonly string[] {
  return way.slice(1).flatMap((chosen, i) => {
    const offers = graph.conditional.get(way[i] ?? '') ?? []
    return offers
      .filter(({ to }) => newestOf([to, chosen], minorOfPlatform(chosen))[0] === to && to !== chosen)
      .map(
        ({ to, risks }) =>
          `${to} is newer, and known to hurt some clusters (${risks.join(', ')}): not chosen`,
      )
  })
}

function becauseOfGraph(version: string, releases: readonly string[], at: number): string {
  const next = releases[at + 1]
  if (next === undefined) return `the newest of ${minorOfPlatform(version)} that the update graph leads to`
  return minorOfPlatform(next) === minorOfPlatform(version)
    ? `a patch that has to come first: ${next} is reached from it`
    : `the newest of ${minorOfPlatform(version)} that leads on to ${minorOfPlatform(next)}`
}

function byOffer(choosing: Choosing): Chosen {
  const { minors, standing, channel, staysBehind = false } = choosing
  const [first = '', ...rest] = minors
  const offer = offered(choosing, first)
  const all = [{ minor: first, stop: offer.stop }, ...rest.map((minor) => ({ minor, stop: later(minor) }))]
  return {
    stops: staysBehind ? all.map(unprovenBut(minors.at(-1))) : all,
    notes: conditionalNotes(standing, first),
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
  const told = `whether ${version} leads on to ${second}: ${onlyNextHop}; --graph-file tells the whole way`
  return { unknown: version === undefined ? [] : [told] }
}

export const onlyNextHop = 'the cluster knows only its next hop'

type ChosenStop = Chosen['stops'][number]

/** All but the one at the end. */
const unprovenBut =
  (last: string | undefined) =>
  ({ minor, stop }: ChosenStop): ChosenStop =>
    minor === last ? { minor, stop } : { minor, stop: { ...stop, unproven: true } }

/** Of a list that belongs to another channel nothing can be said of the next one. */
function offered(
  { standing, channel }: Choosing,
  minor: string,
): { stop: PlatformStop } & Pick<Chosen, 'closed'> {
  const { available } = standing
  if (available === undefined)
    return {
      stop: later(minor, channel),
      closed: {
        is: 'not-retrieved',
        why: 'the cluster has no list of updates: it could not ask the update service',
      },
    }
  const texts = available.flatMap(({ version }) => (version === undefined ? [] : [version]))
  const [version] = newestOf(texts, minor)
  if (version === undefined)
    return {
      stop: later(minor, channel),
      closed: { is: 'not-offered', why: notOffered(texts, standing, minor) },
    }
  const image = available.find((release) => release.version === version)?.image
  const count = newestOf(texts, minor).length
  return {
    stop: {
      version,
      ...(image !== undefined && { image }),
      ...(channel !== undefined && { channel }),
      chosenBecause: `${count === 1 ? 'the only release' : `the newest of ${count} releases`} of ${minor} that this cluster is offered now`,
      done: false,
    },
  }
}

function notOffered(offers: readonly string[], { channel, target }: PlatformStanding, minor: string): string {
  const patches = newestOf(offers, minorOfPlatform(target ?? ''))
  const first = patches[0] === undefined ? '' : `; ${patches[0]} is, and may lead there`
  return `no release of ${minor} is offered to ${target ?? 'this release'} in channel ${channel ?? '(none)'}${first}`
}

function later(minor: string, channel?: string): PlatformStop {
  return {
    ...(channel !== undefined && { channel }),
    chosenBecause: `decided when it is there: the newest of ${minor} that is recommended then and leads on`,
    done: false,
  }
}

function conditionalNotes({ conditional }: PlatformStanding, minor: string): string[] {
  return conditional.flatMap(({ release, recommended }) => {
    if (release.version === undefined || minorOfPlatform(release.version) !== minor) return []
    if (recommended.is === 'yes') return []
    const { reason, message } = recommended
    return [`${release.version} is offered with a known risk (${reason}): not chosen. ${message}`.trim()]
  })
}
