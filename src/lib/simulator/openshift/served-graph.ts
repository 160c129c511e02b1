import type { OpenShiftShape } from './shape.ts'

/** The graph as the update service answers it, in JSON: releases, edges between their places, and edges that carry a risk. */
export function servedGraph({ graph }: Pick<OpenShiftShape, 'graph'>): string {
  const place = new Map(graph.map(({ version }, index) => [version, index]))
  return JSON.stringify({
    version: 1,
    nodes: graph.map(({ version, image, channels }) => ({
      version,
      payload: image,
      metadata: { 'io.openshift.upgrades.graph.release.channels': channels.join(',') },
    })),
    edges: graph.flatMap(({ to }, from) => to.map((version) => [from, place.get(version)])),
    conditionalEdges: graph.flatMap(({ version, conditional = [] }) =>
      conditional.map(({ to, risk, message }) => ({
        edges: [{ from: version, to }],
        risks: [
          { name: risk, message, url: 'https://docs.example.com/risks', matchingRules: [{ type: 'Always' }] },
        ],
      })),
    ),
  })
}
