import { messageOf, usageError } from '../kube/errors.ts'
import { shellWord } from '../kube/shell-line.ts'
import {
  comparePlatforms,
  platformMinorOf,
  type PlatformVersion,
  platformVersionOf,
} from './release-versions.ts'

/** Which release leads to which, as the update service of OpenShift tells it of a channel (ocp 3.7). */
export interface UpdateGraph {
  origin: string
  nodes: ReadonlyMap<string, GraphNode>
  /** Recommended, by the version that they lead from. */
  edges: ReadonlyMap<string, readonly string[]>
  /** Known to hurt some clusters: named, never chosen. */
  conditional: ReadonlyMap<string, readonly ConditionalEdge[]>
}

interface GraphNode {
  version: string
  /** The release image, by digest. */
  image?: string
  channels: readonly string[]
}

type ConditionalEdge = Readonly<{ to: string; risks: readonly string[] }>

/** Reads a graph in the format of the update service. Throws `usage` that names what is wrong with it. */
export function parseUpdateGraph(text: string, origin: string): UpdateGraph {
  const read = record(parsedJson(text, origin), 'it is no JSON object', origin)
  const nodes = list(read['nodes'], 'nodes', origin).map((node, i) => nodeOf(node, i, origin))
  const edges = new Map<string, string[]>()
  for (const [i, pair] of list(read['edges'], 'edges', origin).entries()) {
    const [from, to] = Array.isArray(pair) ? pair.map((at: unknown) => nodes[Number(at)]?.version) : []
    if (from === undefined || to === undefined)
      throw wrong(origin, `edges[${i}] is no pair of places in nodes`)
    edges.set(from, [...(edges.get(from) ?? []), to])
  }
  const conditional = conditionalOf(read['conditionalEdges'] ?? [], origin)
  return { origin, nodes: new Map(nodes.map((node) => [node.version, node])), edges, conditional }
}

function parsedJson(text: string, origin: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw wrong(origin, `it is no JSON: ${messageOf(cause)}`)
  }
}

type Fields = Readonly<Record<string, unknown>>

function nodeOf(value: unknown, index: number, origin: string): GraphNode {
  const { version, payload, metadata } = record(value, `nodes[${index}] is no object`, origin)
  if (typeof version !== 'string' || platformVersionOf(version) === undefined)
    throw wrong(origin, `nodes[${index}].version is no release such as 4.18.21`)
  const channels = (metadata as Fields | undefined)?.['io.openshift.upgrades.graph.release.channels']
  return {
    version,
    ...(typeof payload === 'string' && payload !== '' && { image: payload }),
    channels: typeof channels === 'string' ? channels.split(',').map((name) => name.trim()) : [],
  }
}

function conditionalOf(value: unknown, origin: string): Map<string, ConditionalEdge[]> {
  const found = new Map<string, ConditionalEdge[]>()
  for (const group of list(value, 'conditionalEdges', origin)) {
    const { edges, risks } = record(group, 'conditionalEdges has an entry that is no object', origin)
    const names = list(risks ?? [], 'conditionalEdges.risks', origin).map(riskName)
    for (const edge of list(edges, 'conditionalEdges.edges', origin)) {
      const { from, to } = record(edge, 'conditionalEdges.edges has an entry that is no object', origin)
      if (typeof from !== 'string' || typeof to !== 'string')
        throw wrong(origin, 'an entry of conditionalEdges.edges has no from and to')
      found.set(from, [...(found.get(from) ?? []), { to, risks: names }])
    }
  }
  return found
}

function riskName(risk: unknown): string {
  const name = (risk as Fields | null)?.['name']
  return typeof name === 'string' ? name : 'a risk without a name'
}

function record(value: unknown, why: string, origin: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw wrong(origin, why)
}

function list(value: unknown, name: string, origin: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw wrong(origin, `${name} is no list`)
}

const wrong = (origin: string, why: string): Error =>
  usageError('graph-invalid', `${origin} is no update graph: ${why}`, { remedy: fetchesGraph() })

/** What fetches the graph of the channel that leads to this minor; only even minors have a channel of their own for EUS. */
export function fetchesGraph(minor = '4.20', file = 'graph.json'): string {
  const channel = Number(minor.split('.')[1]) % 2 === 0 ? `eus-${minor}` : `stable-${minor}`
  return `curl -fo ${shellWord(file)} 'https://api.openshift.com/api/upgrades_info/graph?channel=${channel}&arch=amd64'     fetches the graph of OpenShift on amd64`
}

/** `deadEnds`: newer releases than the chosen ones that have no way to the target (ocp 5.1). */
type GraphPath =
  | { is: 'path'; releases: readonly string[]; deadEnds: readonly string[] }
  | { is: 'none'; farthest: string; why: string }

/**
 * The releases to go through: of each minor the newest that still leads on, for the newest of all may have no edge into the next. Where no
 * release of the next minor can be reached from here, a newer patch of this one comes first. Recommended edges only. Pure.
 */
export function pathThrough(graph: UpdateGraph, from: string, minors: readonly string[]): GraphPath {
  if (!graph.nodes.has(from))
    return { is: 'none', farthest: from, why: `${graph.origin} does not know ${from}` }
  const releases = shortest(graph, from, minors)
  if (releases !== undefined) return { is: 'path', releases, deadEnds: deadEndsOf(graph, from, releases) }
  const reached = minors.findLastIndex((_, i) => shortest(graph, from, minors.slice(0, i + 1)) !== undefined)
  const farthest = shortest(graph, from, minors.slice(0, reached + 1))?.at(-1) ?? from
  const missing = minors[reached + 1] ?? ''
  return {
    is: 'none',
    farthest,
    why: `there is no recommended update from ${farthest} to a release of ${missing}`,
  }
}

/** Minor by minor; with a patch in between only where that leads nowhere. */
const shortest = (graph: UpdateGraph, from: string, minors: readonly string[]): Releases | undefined =>
  walk(graph, from, minors, 'straight') ?? walk(graph, from, minors, 'with-patches')

type Releases = readonly string[]

function walk(
  graph: UpdateGraph,
  from: string,
  minors: readonly string[],
  manner: 'straight' | 'with-patches',
): Releases | undefined {
  const [minor, ...rest] = minors
  if (minor === undefined) return []
  const enter = (release: string) =>
    first(offered(graph, release, minor), (to) => walk(graph, to, rest, manner))
  const straight = enter(from)
  const here = platformVersionOf(from)
  if (straight !== undefined || manner === 'straight' || here === undefined) return straight
  return first(offered(graph, from, platformMinorOf(here)), enter)
}

function first(releases: Releases, further: (release: string) => Releases | undefined): Releases | undefined {
  for (const release of releases) {
    const rest = further(release)
    if (rest !== undefined) return [release, ...rest]
  }
  return undefined
}

const offered = (graph: UpdateGraph, from: string, minor: string): readonly string[] =>
  newestOf(graph.edges.get(from) ?? [], minor)

/** Those of a minor, the newest first; what is no release is left out. */
export const newestOf = (versions: readonly string[], minor: string): readonly string[] =>
  versions
    .map((text) => platformVersionOf(text))
    .filter((one): one is PlatformVersion => one !== undefined && platformMinorOf(one) === minor)
    .toSorted((a, b) => comparePlatforms(b, a))
    .map(({ text }) => text)

const deadEndsOf = (graph: UpdateGraph, from: string, releases: readonly string[]): string[] =>
  releases.slice(0, -1).flatMap((release, i) => {
    const chosen = platformVersionOf(release)
    if (chosen === undefined) return []
    const all = offered(graph, releases[i - 1] ?? from, platformMinorOf(chosen))
    return all.slice(0, Math.max(0, all.indexOf(release)))
  })
