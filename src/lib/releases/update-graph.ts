import { usageError } from '../system/errors.ts'
import { platformVersionOf } from './platform-version.ts'

/** Which release leads to which, as the update service of OpenShift tells it of a channel (ocp 3.7). */
export interface UpdateGraph {
  /** Where it was read from, for messages. */
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

interface ConditionalEdge {
  to: string
  risks: readonly string[]
}

/** Reads a graph in the format of the update service. Throws `usage` that names what is wrong with it. */
export function parseUpdateGraph(text: string, origin: string): UpdateGraph {
  const read = record(parsedJson(text, origin), 'it is no JSON object', origin)
  const listed = list(read['nodes'], 'nodes', origin).map((node, i) => nodeOf(node, i, origin))
  const edges = new Map<string, string[]>()
  for (const [i, pair] of list(read['edges'], 'edges', origin).entries()) {
    const [from, to] = endsOf(pair, listed, { i, origin })
    edges.set(from, [...(edges.get(from) ?? []), to])
  }
  return {
    origin,
    nodes: new Map(listed.map((node) => [node.version, node])),
    edges,
    conditional: conditionalOf(read['conditionalEdges'], origin),
  }
}

function parsedJson(text: string, origin: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw wrong(origin, `it is no JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

function nodeOf(value: unknown, index: number, origin: string): GraphNode {
  const { version, payload, metadata } = record(value, `nodes[${index}] is no object`, origin)
  if (typeof version !== 'string' || platformVersionOf(version) === undefined)
    throw wrong(origin, `nodes[${index}].version is no release such as 4.18.21`)
  const notes = typeof metadata === 'object' && metadata !== null ? metadata : {}
  const channels = (notes as Record<string, unknown>)['io.openshift.upgrades.graph.release.channels']
  return {
    version,
    ...(typeof payload === 'string' && payload !== '' && { image: payload }),
    channels: typeof channels === 'string' ? channels.split(',').map((name) => name.trim()) : [],
  }
}

function endsOf(
  pair: unknown,
  nodes: readonly GraphNode[],
  { i, origin }: { i: number; origin: string },
): [string, string] {
  const [from, to] = Array.isArray(pair) ? pair.map((at: unknown) => nodes[Number(at)]?.version) : []
  if (from === undefined || to === undefined) throw wrong(origin, `edges[${i}] is no pair of places in nodes`)
  return [from, to]
}

function conditionalOf(value: unknown, origin: string): Map<string, ConditionalEdge[]> {
  const found = new Map<string, ConditionalEdge[]>()
  for (const group of value === undefined ? [] : list(value, 'conditionalEdges', origin)) {
    const { edges, risks } = record(group, 'conditionalEdges holds no object', origin)
    const names = list(risks ?? [], 'conditionalEdges.risks', origin).map(riskName)
    for (const edge of list(edges, 'conditionalEdges.edges', origin)) {
      const { from, to } = record(edge, 'conditionalEdges.edges holds no object', origin)
      if (typeof from !== 'string' || typeof to !== 'string')
        throw wrong(origin, 'an edge of conditionalEdges has no from and to')
      found.set(from, [...(found.get(from) ?? []), { to, risks: names }])
    }
  }
  return found
}

function riskName(risk: unknown): string {
  const { name } = (risk ?? {}) as { name?: unknown }
  return typeof name === 'string' ? name : 'a risk without a name'
}

function record(value: unknown, why: string, origin: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw wrong(origin, why)
}

function list(value: unknown, name: string, origin: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw wrong(origin, `${name} is no list`)
}

function wrong(origin: string, why: string): Error {
  return usageError('graph-invalid', `${origin} is no update graph: ${why}`, {
    remedy:
      'the update service serves one: https://api.openshift.com/api/upgrades_info/graph?channel=eus-4.20&arch=amd64',
  })
}
