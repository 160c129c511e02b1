import {
  comparePlatforms,
  platformMinorOf,
  type PlatformVersion,
  platformVersionOf,
} from './platform-version.ts'
import type { UpdateGraph } from './update-graph.ts'

/** A way through the graph, release by release, and what is newer but leads nowhere. */
export interface GraphWay {
  is: 'way'
  releases: readonly string[]
  /** Newer releases than the chosen ones that have no way to the target (ocp 5.1). */
  deadEnds: readonly string[]
}

/** How far one gets, where there is no way. */
export interface NoGraphWay {
  is: 'none'
  /** The newest release that can be reached, minor by minor. */
  farthest: string
  why: string
}

/**
 * The releases to go through: of each minor the newest that still leads on, for the newest of all may have no edge into the next. Where no
 * release of the next minor can be reached from here, a newer patch of this one comes first. Recommended edges only. Pure.
 */
export function wayThrough(
  graph: UpdateGraph,
  from: string,
  minors: readonly string[],
): GraphWay | NoGraphWay {
  if (!graph.nodes.has(from))
    return { is: 'none', farthest: from, why: `${graph.origin} does not know ${from}` }
  const releases = shortest(graph, from, minors)
  if (releases !== undefined) return { is: 'way', releases, deadEnds: deadEndsOf(graph, from, releases) }
  const reached = minors.findLastIndex((_, i) => shortest(graph, from, minors.slice(0, i + 1)) !== undefined)
  const farthest = shortest(graph, from, minors.slice(0, reached + 1))?.at(-1) ?? from
  const missing = minors[reached + 1] ?? ''
  return {
    is: 'none',
    farthest,
    why: `no recommended update leads from ${farthest} to a release of ${missing}`,
  }
}

/** Minor by minor; with a patch in between only where that leads nowhere. */
function shortest(
  graph: UpdateGraph,
  from: string,
  minors: readonly string[],
): readonly string[] | undefined {
  return walk(graph, from, minors, 'straight') ?? walk(graph, from, minors, 'with-patches')
}

type Manner = 'straight' | 'with-patches'

function walk(
  graph: UpdateGraph,
  from: string,
  minors: readonly string[],
  manner: Manner,
): readonly string[] | undefined {
  const [minor, ...rest] = minors
  if (minor === undefined) return []
  return (
    first(offered(graph, from, minor), (to) => walk(graph, to, rest, manner)) ??
    (manner === 'straight' ? undefined : afterPatch(graph, from, minors))
  )
}

function afterPatch(
  graph: UpdateGraph,
  from: string,
  minors: readonly string[],
): readonly string[] | undefined {
  const here = platformVersionOf(from)
  const [minor = '', ...rest] = minors
  if (here === undefined) return undefined
  return first(offered(graph, from, platformMinorOf(here)), (patch) =>
    first(offered(graph, patch, minor), (to) => walk(graph, to, rest, 'with-patches')),
  )
}

function first(
  releases: readonly string[],
  further: (release: string) => readonly string[] | undefined,
): readonly string[] | undefined {
  for (const release of releases) {
    const rest = further(release)
    if (rest !== undefined) return [release, ...rest]
  }
  return undefined
}

const offered = (graph: UpdateGraph, from: string, minor: string): readonly string[] =>
  newestOf(graph.edges.get(from) ?? [], minor)

/** Those of a minor, the newest first; what is no release is left out. */
export function newestOf(versions: readonly string[], minor: string): readonly string[] {
  return versions
    .map((text) => platformVersionOf(text))
    .filter((one): one is PlatformVersion => one !== undefined && platformMinorOf(one) === minor)
    .toSorted((a, b) => comparePlatforms(b, a))
    .map(({ text }) => text)
}

function deadEndsOf(graph: UpdateGraph, from: string, releases: readonly string[]): string[] {
  return releases.slice(0, -1).flatMap((release, i) => {
    const chosen = platformVersionOf(release)
    if (chosen === undefined) return []
    const all = offered(graph, releases[i - 1] ?? from, platformMinorOf(chosen))
    return all.slice(0, Math.max(0, all.indexOf(release)))
  })
}
