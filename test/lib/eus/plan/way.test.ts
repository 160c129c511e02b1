import { expect, test } from 'vitest'
import { chooseChannel, routeOf, type Whereabouts } from '../../../../src/lib/eus/plan/platform-path.ts'
import { makeEusPlan } from '../../../../src/lib/eus/plan/eus-planner.ts'
import { parseUpdateGraph } from '../../../../src/lib/releases/update-graph.ts'
import { rotationOf } from '../../../../src/lib/eus/plan/eus-snapshot.ts'
import { poolRolls } from '../../../../src/lib/eus/plan/eus-plan.ts'
import { evidenceOf, itemIn } from './evidence-of.ts'

const usual = { flavour: 'ocp', topology: 'usual' } as const
const route = (where: Partial<Whereabouts> & { here: string }) =>
  routeOf({ ...usual, began: where.here, ...where })

test.each([
  [{ here: '4.18' }, '4.20', ['4.19', '4.20'], 'control-plane-only'],
  [{ here: '4.19', began: '4.18' }, '4.20', ['4.20'], 'control-plane-only'],
  [{ here: '4.20', began: '4.18' }, '4.20', [], 'control-plane-only'],
  [{ here: '4.19' }, '4.20', ['4.20'], 'rolling'],
  [{ here: '4.22' }, '4.23', ['4.23'], 'rolling'],
  [{ here: '4.22', to: '5.2' }, '5.2', ['5.0', '5.1', '5.2'], 'control-plane-only'],
  [{ here: '4.18', topology: 'compact' }, '4.20', ['4.19', '4.20'], 'rolling'],
  [{ here: '4.19', flavour: 'okd' }, '4.20', ['4.20'], 'rolling'],
  [{ here: '4.19', flavour: 'okd', to: '4.21' }, '4.21', ['4.20', '4.21'], 'rolling'],
] as const)('from %j the way leads to %s over %j, %s', (where, to, minors, mode) => {
  expect(route(where)).toMatchObject({ to, minors, mode })
})

test('trap 17: pools that stayed at 4.18 are not tolerated by 4.21, whatever its parity', () => {
  expect(route({ here: '4.18', to: '4.22' })).toMatchObject({ intolerant: '4.21' })
  expect(route({ here: '4.20', began: '4.18', to: '4.22' })).toMatchObject({ intolerant: '4.21' })
  expect(route({ here: '5.2' })).toMatchObject({ to: '5.5' })
  expect(route({ here: '5.2' })).not.toHaveProperty('intolerant')
})

test.each([
  [{ here: '4.20', to: '4.18' }, 'no-such-path', 'there is no way back'],
  [{ here: '4.18', to: '4.99' }, 'no-such-path', 'does not know it'],
  [{ here: '5.5' }, 'no-target', 'no minor with extended support after 5.5'],
] as const)('%j is refused: %s', (where, reason, message) => {
  expect(() => route(where)).toThrow(
    expect.objectContaining({ exitCode: 2, reason, message: expect.stringContaining(message) }),
  )
})

const offered = ['candidate-4.18', 'eus-4.18', 'eus-4.20', 'fast-4.19', 'stable-4.18', 'stable-4.19']

test.each([
  // A window needs the channel that holds the minor in between.
  [
    { now: 'stable-4.18', to: '4.20', hops: 2 },
    { is: 'change', from: 'stable-4.18', to: 'eus-4.20' },
  ],
  // stable-4.20 does not contain 4.18.
  [
    { now: 'stable-4.20', to: '4.20', hops: 2 },
    { is: 'change', to: 'eus-4.20' },
  ],
  [{ now: 'eus-4.20', to: '4.20', hops: 2 }, { is: 'kept' }],
  [
    { now: 'fast-4.18', to: '4.19', hops: 1 },
    { is: 'change', to: 'fast-4.19' },
  ],
  // candidate-4.19 is not offered.
  [
    { now: 'candidate-4.18', to: '4.19', hops: 1 },
    { is: 'change', to: 'stable-4.19' },
  ],
  [
    { now: 'stable-4.18', to: '4.22', hops: 2 },
    { is: 'missing', wanted: 'eus-4.22' },
  ],
  [
    { now: undefined, to: '4.20', hops: 2 },
    { is: 'change', to: 'eus-4.20' },
  ],
] as const)('channel for %j: %j', (asked, choice) => {
  expect(chooseChannel({ flavour: 'ocp', offered, reaches: false, ...asked })).toMatchObject(choice)
})

test('a channel that offers the one hop that is to be made is kept', () => {
  const question = { flavour: 'ocp', offered, now: 'eus-4.20', to: '4.19', hops: 1 } as const
  expect(chooseChannel({ ...question, reaches: true })).toEqual({ is: 'kept' })
  expect(chooseChannel({ ...question, reaches: false })).toMatchObject({ to: 'stable-4.19' })
  expect(chooseChannel({ ...question, flavour: 'okd', now: 'stable-scos-4', reaches: false })).toEqual({
    is: 'kept',
  })
})

test('ocp 2.6: the cluster knows its next hop alone; what is offered with a risk is named and not chosen', async () => {
  const { hops, notes, findings } = makeEusPlan(await evidenceOf('4.18-to-4.20'))
  expect(hops.map(({ platform }) => platform.version)).toEqual(['4.19.14', undefined])
  expect(hops[0]?.platform.image).toMatch(/@sha256:[0-9a-f]{64}$/u)
  expect(notes[0]).toContain('4.19.17 is offered with a known risk (VSphereVolumesLeak): not chosen')
  const unknown = findings.find(({ id }) => id === 'path-unknown')
  expect(unknown).toMatchObject({
    level: 'not-checked',
    summary: expect.stringContaining('4.19.14 has an update path to 4.20'),
  })
  expect(unknown?.remedy).toEqual([
    "curl -fo graph.json 'https://api.openshift.com/api/upgrades_info/graph?channel=eus-4.20&arch=amd64'     fetches the graph of OpenShift on amd64",
    'kvup eus plan --graph-file graph.json     plans again, with the whole upgrade path',
  ])
  expect(hops.map(({ platform }) => platform.unproven)).toEqual([true, undefined])
})

test('a patch that has to come first is a hop of its own, and the gates stand before the minor', async () => {
  const snapshot = await evidenceOf('4.18-to-4.20')
  const versions = ['4.18.21', '4.18.24', '4.19.17', '4.20.1']
  const nodes = versions.map((version) => ({ version, payload: `quay.io/release@sha256:${version}` }))
  const edges = [
    [0, 1],
    [1, 2],
    [2, 3],
  ]
  const graph = parseUpdateGraph(JSON.stringify({ nodes, edges }), 'graph.json')
  const { hops } = makeEusPlan(snapshot, { graph })
  expect(hops.map(({ minor, platform }) => [minor, platform.version])).toEqual([
    ['4.18', '4.18.24'],
    ['4.19', '4.19.17'],
    ['4.20', '4.20.1'],
  ])
  expect(hops.map(({ adminGates }) => adminGates.length)).toEqual([0, 1, 0])
  expect(hops.map(({ outdatedMustBeZero }) => outdatedMustBeZero)).toEqual([false, true, false])
  expect(hops[0]?.operators).toMatchObject([{ version: '4.18.9', done: true }])
})

test('how far it is possible is said where the graph has no way', async () => {
  const graph = parseUpdateGraph(
    '{"nodes":[{"version":"4.18.21"},{"version":"4.19.14"}],"edges":[[0,1]]}',
    'graph.json',
  )
  const { findings } = makeEusPlan(await evidenceOf('4.18-to-4.20'), { graph })
  expect(findings.find(({ id }) => id === 'no-path-in-graph')?.summary).toBe(
    'there is no recommended update from 4.19.14 to a release of 4.20',
  )
})

test('an update that is under way is the first hop, and ends where it goes to', async () => {
  const snapshot = await evidenceOf('4.18-to-4.20')
  const cv = itemIn(snapshot.platform.clusterVersion)
  Object.assign(cv.status ?? {}, {
    desired: { version: '4.19.14', image: 'x' },
    history: [
      { state: 'Partial', version: '4.19.14', startedTime: '2026-11-20T08:00:00Z' },
      ...(cv.status?.history ?? []),
    ],
    availableUpdates: [],
  })
  cv.status?.conditions?.forEach((one) => {
    if (one.type === 'Progressing') one.status = 'True'
  })
  const { hops, from, began } = makeEusPlan(snapshot, { to: '4.20' })
  expect({ from, began }).toEqual({ from: '4.19.14', began: '4.19' })
  expect(hops[0]).toMatchObject({ minor: '4.19', platform: { version: '4.19.14', done: false } })
})

test('ocp 3.6: the certificate is replaced after four fifths of its life', () => {
  const signer = { begins: '2026-06-01T00:00:00Z', ends: '2027-06-01T00:00:00Z' }
  expect(rotationOf(signer).toISOString()).toBe('2027-03-20T00:00:00.000Z')
})

test('pools roll one after the other, so many machines at a time', () => {
  const pool = { name: 'worker', machines: 10, maxUnavailable: 1, paused: false }
  const one = poolRolls([pool])
  expect(poolRolls([{ ...pool, maxUnavailable: '20%' }])).toEqual({ low: one.low / 2, high: one.high / 2 })
  expect(poolRolls([{ ...pool, maxUnavailable: '5%' }])).toEqual(one)
  expect(poolRolls([pool, pool])).toEqual({ low: one.low * 2, high: one.high * 2 })
  expect(poolRolls([])).toEqual({ low: 0, high: 0 })
})

test('what the graph offers under conditions is named, and not chosen', async () => {
  const versions = ['4.18.21', '4.19.14', '4.20.3']
  const graph = parseUpdateGraph(
    JSON.stringify({
      nodes: versions.map((version) => ({ version })),
      edges: [
        [0, 1],
        [1, 2],
      ],
      conditionalEdges: [
        {
          edges: [
            { from: '4.18.21', to: '4.19.9' },
            { from: '4.19.14', to: '4.20.5' },
          ],
          risks: [{ name: 'NodesLoseDns' }],
        },
      ],
    }),
    'graph.json',
  )
  const { hops, notes } = makeEusPlan(await evidenceOf('4.18-to-4.20'), { graph })
  expect(hops.map(({ platform }) => platform.version)).toEqual(['4.19.14', '4.20.3'])
  expect(notes.filter((note) => note.includes('NodesLoseDns'))).toEqual([
    '4.20.5 is newer, but has known risks (NodesLoseDns): not chosen',
  ])
})
