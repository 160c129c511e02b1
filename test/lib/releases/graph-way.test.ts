import { expect, test } from 'vitest'
import { parseUpdateGraph, pathThrough } from '../../../src/lib/releases/update-graph.ts'
import fixture from './graph-way.json' with { type: 'json' }

/** `4.18.21 > 4.19.14 > 4.20.3`: each arrow an edge. */
function graphOf(...paths: readonly string[]) {
  const pairs = paths.flatMap((path) => {
    const releases = path.split(' > ')
    return releases.slice(1).map((to, i) => [releases[i] ?? '', to] as const)
  })
  const versions = [...new Set(pairs.flat())]
  return {
    nodes: versions.map((version) => ({
      version,
      payload: `quay.io/release@sha256:${version}`,
      metadata: { 'io.openshift.upgrades.graph.release.channels': 'candidate-4.20, eus-4.20' },
    })),
    edges: pairs.map(([from, to]) => [versions.indexOf(from), versions.indexOf(to)]),
  }
}

const read = (graph: object) => parseUpdateGraph(JSON.stringify(graph), 'graph.json')
const minors = ['4.19', '4.20']

test('ocp 5.1: the newest release of the minor in between has no way on; the newest that has one is taken', () => {
  const graph = read(
    graphOf(
      '4.18.21 > 4.19.9 > 4.20.3',
      '4.18.21 > 4.19.14 > 4.20.3',
      '4.19.14 > 4.20.5',
      '4.18.21 > 4.19.16',
    ),
  )
  expect(pathThrough(graph, '4.18.21', minors)).toEqual({
    is: 'path',
    releases: ['4.19.14', '4.20.5'],
    deadEnds: ['4.19.16'],
  })
  expect(graph.nodes.get('4.19.14')).toMatchObject({ channels: ['candidate-4.20', 'eus-4.20'] })
})

test('4.9 is not newer than 4.10, and 4.19.9 not than 4.19.14', () => {
  const graph = read(graphOf('4.18.1 > 4.19.9 > 4.20.0', '4.18.1 > 4.19.14 > 4.20.0'))
  expect(pathThrough(graph, '4.18.1', minors)).toMatchObject({ releases: ['4.19.14', '4.20.0'] })
})

test('a patch comes first only where nothing leads on without', () => {
  const first = read(graphOf('4.18.1 > 4.18.21 > 4.19.14 > 4.20.3'))
  expect(pathThrough(first, '4.18.1', minors)).toMatchObject({ releases: ['4.18.21', '4.19.14', '4.20.3'] })
  const straight = read(
    graphOf('4.18.1 > 4.19.14 > 4.19.16 > 4.20.5', '4.18.1 > 4.19.9 > 4.20.3', '4.18.1 > 4.18.21 > 4.19.16'),
  )
  expect(pathThrough(straight, '4.18.1', minors)).toMatchObject({ releases: ['4.19.9', '4.20.3'] })
})

test('says how far it is possible, and does not take a conditional edge', () => {
  const graph = read({
    ...graphOf('4.18.21 > 4.19.14', '4.20.3 > 4.20.5'),
    conditionalEdges: [
      { edges: [{ from: '4.19.14', to: '4.20.5' }], risks: [{ name: 'NodesLoseDns', message: 'they do' }] },
    ],
  })
  expect(pathThrough(graph, '4.18.21', minors)).toEqual({
    is: 'none',
    farthest: '4.19.14',
    why: 'there is no recommended update from 4.19.14 to a release of 4.20',
  })
  expect(graph.conditional.get('4.19.14')).toEqual([{ to: '4.20.5', risks: ['NodesLoseDns'] }])
  expect(pathThrough(graph, '4.17.0', minors)).toMatchObject({ is: 'none', farthest: '4.17.0' })
})

test.each(fixture.refused)('%j is refused: %s', (text, why) => {
  expect(() => parseUpdateGraph(text, 'graph.json')).toThrow(
    expect.objectContaining({ exitCode: 2, reason: 'graph-invalid', message: expect.stringContaining(why) }),
  )
})
