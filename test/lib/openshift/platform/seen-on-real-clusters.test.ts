import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../../src/lib/kube/clock.ts'
import type { Cluster } from '../../../../src/lib/kube/cluster.ts'
import { runText } from '../../run-text.ts'
import {
  ago,
  cluster as clusterOf,
  clusterOperators,
  hop,
  installed,
  layerIn,
  list,
  nodes,
  pool,
  renderedConfig,
  type Says,
  type Told,
  told,
} from './dumps.ts'

/** What dumps of real clusters had that no description of one had: figures and shapes are theirs, the data are made here. */
interface Parts extends NonNullable<Parameters<typeof clusterOf>[0]> {
  configs?: readonly object[]
}

const cluster = ({
  configs = ['master', 'worker'].map((of) => renderedConfig(of, 'a', '4.13.6')),
  more = {},
  ...parts
}: Parts = {}) =>
  clusterOf({
    co: { version: '4.14.1', versions: { 'machine-config': '4.13.6' } },
    ...parts,
    more: { 'mc.yaml': list(...configs), ...more },
  })

interface Numbers {
  update?: { operators?: { percent: number }; leftSeconds?: number; pace: string }
  pools: { name: string; following: string; nodes?: { phase: string; version?: string }[] }[]
}

const numbersOf = (document: Told) => document['platform'] as Numbers

const asks = (more: object) => ({ desiredUpdate: { image: '', force: false, ...more } })

const took = (version: string, minutes: number, day: number) => ({
  version,
  started: ago(`${day}d`),
  completed: new Date(Date.parse(ago(`${day}d`)) + minutes * 60_000).toISOString(),
})

describe('a pool is judged by the release of the configuration that it wants', () => {
  const done = [renderedConfig('master', 'a', '4.13.6'), renderedConfig('worker', 'a', '4.14.1')]

  test('workers may be through while a master keeps the operator machine-config from being updated', async () => {
    const message = 'failed to pull an image: i/o timeout'
    const stuck: Says = { type: 'NodeDegraded', status: 'True', message }
    const { document } = await told(
      cluster({
        configs: [...done, renderedConfig('master', 'b', '4.14.1')],
        pools: [
          pool('master', { wants: 'b', has: 'a', updated: 1, degraded: 1, says: [stuck] }),
          pool('worker'),
        ],
      }),
    )
    expect(layerIn(document, 'pool master')?.verdict).toBe('Degraded')
    expect(layerIn(document, 'pool worker')).toMatchObject({ verdict: 'Healthy', says: '3 of 3 updated' })
    const worker = numbersOf(document).pools.find(({ name }) => name === 'worker')
    expect(worker?.following).toBe('there')
    expect(worker?.nodes?.map(({ phase }) => phase)).toEqual(['updated', 'updated', 'updated'])
  })

  test.each([
    ['of the release before', renderedConfig('worker', 'a', '4.13.6')],
    ['not known', undefined],
  ])('%s: it follows after the control plane', async (_what, config) => {
    const { document } = await told(cluster({ configs: config ? [config] : [] }))
    expect(layerIn(document, 'pool worker')).toMatchObject({
      verdict: 'Updating',
      says: '3 nodes, at 4.13.6',
      waitsFor: 'the control plane: the pool follows to 4.14.1 after it',
    })
  })

  test.each([
    [false, '3 nodes, at 4.14.0'],
    [true, 'paused, outdated: 3 nodes, at 4.14.0, not updated to 4.14.1'],
  ])(
    'from an update that was never completed, and paused %s: its nodes say where they are',
    async (paused, says) => {
      const history = [hop, { version: '4.14.0', state: 'Partial', started: ago('3h') } as const, installed]
      const { document } = await told(
        cluster({
          cv: { history },
          pools: [pool('master'), pool('worker', { paused })],
          configs: [renderedConfig('worker', 'a', '4.14.0')],
        }),
      )
      expect(layerIn(document, 'pool worker')?.says).toBe(says)
    },
  )

  test('nodes of several releases: the oldest', async () => {
    const { document } = await told(
      cluster({
        pools: [pool('master'), pool('worker', { paused: true })],
        nodes: [...nodes('worker', 1, { current: 'c' }), ...nodes('worker', 3).slice(1)],
        configs: [renderedConfig('worker', 'a', '4.13.6'), renderedConfig('worker', 'c', '4.12.40')],
      }),
    )
    expect(layerIn(document, 'pool worker')?.says).toContain('at 4.12.40')
  })
})

describe('a change of the architecture, on releases whose status does not name it', () => {
  const version = '4.18.0-ec.3'
  const history = [
    { version, state: 'Partial', started: ago('10m'), arch: 'multi' },
    { version, started: ago('9d') },
  ] as const
  const loaded = (architecture: string): Says => ({
    type: 'ReleaseAccepted',
    status: 'True',
    reason: 'PayloadLoaded',
    message: `Payload loaded version="${version}" image="quay.io/x@sha256:1" architecture="${architecture}"`,
  })
  const multi = 'OpenShift 4.18.0-ec.3 to Multi-Architecture'
  const other = 'OpenShift 4.18.0-ec.3 to another image of the same version'

  test.each([
    ['as it was asked for', { spec: asks({ architecture: 'Multi', version }) }, multi],
    ['as the release was loaded', { says: [loaded('Multi')] }, multi],
    ['loaded for one', { says: [loaded('amd64')] }, other],
  ])('%s', async (_how, cv, says) => {
    const { document } = await told(cluster({ cv: { history, ...cv }, co: { version } }))
    const [platform] = document.layers
    expect(platform?.says).toContain(says)
    expect(numbersOf(document).update).not.toHaveProperty('leftSeconds')
  })
})

describe('how long an update takes at least', () => {
  test('one that took a day, among those of an hour, is no least time; past the usual it is late all the same', async () => {
    const before = [took('4.13.6', 1188, 10), took('4.13.5', 80, 30), took('4.13.4', 82, 40)]
    const history = [{ ...hop, started: ago('53m') }, ...before, took('4.13.0', 40, 80)]
    const { document } = await told(cluster({ cv: { history }, co: { version: '4.13.6' } }))
    const { update } = numbersOf(document)
    expect(update?.pace).toBe('as-usual')
    expect(update?.leftSeconds).toBeLessThanOrEqual(82 * 60)
  })

  test.each([
    [32, 97],
    [33, 100],
    [30, 91],
    [4, 12],
  ])('%d of 33 operators: %d %', async (updated, percent) => {
    const names = clusterOperators({ version: '' }).map(({ metadata }) => metadata.name)
    const versions = Object.fromEntries(names.slice(0, updated).map((name) => [name, '4.14.1']))
    const { document } = await told(cluster({ co: { version: '4.13.6', versions } }))
    expect(numbersOf(document).update?.operators?.percent).toBe(percent)
  })
})

test('a channel that was changed is no obstacle of a plan: nothing is under way', async () => {
  const history = [{ version: '4.14.1', started: ago('20d') }, installed]
  const folder = (more: object) =>
    cluster({
      cv: { history, generation: 3, observed: 2, ...more },
      co: { version: '4.14.1' },
      configs: ['master', 'worker'].map((of) => renderedConfig(of, 'a', '4.14.1')),
    })
  expect((await told(folder({}), 'eus plan --to 4.16')).text).not.toContain('platform-not-steady')
  const asked = { spec: { desiredUpdate: { version: '4.14.2' } } }
  expect((await told(folder(asked), 'eus plan --to 4.16')).text).toContain('platform-not-steady')
})

test('which VMs keep many nodes: one line, with three of them', async () => {
  const draining = nodes('worker', 12, {
    desired: 'b',
    state: 'Working',
    drain: 'drain',
    lastDrain: 'uncordon',
    cordoned: true,
  })
  const { text } = await told(
    cluster({
      pools: [pool('master'), pool('worker', { machines: 12, updated: 0, wants: 'b', has: 'a' })],
      nodes: [...nodes('master', 3), ...draining],
    }),
  )
  const lines = text
    .split('\n')
    .filter((line) => line.includes('kvup does not know which VMs block the drain of'))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('which VMs block the drain of nodes worker-0, worker-1, worker-10 and 9 more')
})

/** Operators as an installation makes them: those that are named have not reported yet. */
const silent = (...names: readonly string[]) => {
  const operators = structuredClone(clusterOperators({ version: '4.14.1' }))
  for (const operator of operators) {
    operator.metadata.creationTimestamp = ago('25m')
    if (names.includes(operator.metadata.name)) operator.status = {} as typeof operator.status
  }
  return operators
}

describe('an installation is no failing update', () => {
  const failing: Says = {
    type: 'Failing',
    status: 'True',
    since: ago('2m'),
    reason: 'MultipleErrors',
    message: 'Multiple errors are preventing progress: * Cluster operators authentication are not available',
  }
  const install = (span: string, operators: readonly object[]) =>
    cluster({
      cv: { history: [{ version: '4.14.1', state: 'Partial', started: ago(span) }], says: [failing] },
      configs: [],
      more: { 'co.yaml': list(...operators) },
    })

  test('operators come up one after the other, and it says of itself that it fails', async () => {
    const { document, text } = await told(install('26m', silent('authentication', 'console')))
    expect(document.overall.verdict).toBe('Updating')
    expect(layerIn(document, 'platform')).toMatchObject({
      verdict: 'Updating',
      says: 'installation of OpenShift 4.14.1',
      since: ago('26m'),
      expected: 'expected for up to an hour during installation',
    })
    expect(layerIn(document, 'operators')).toMatchObject({
      verdict: 'Updating',
      says: 'authentication is not available, console is not available',
    })
    expect(layerIn(document, 'pool worker')?.verdict).toBe('Healthy')
    expect(numbersOf(document).update).not.toHaveProperty('leftSeconds')
    expect(text).not.toContain(' fails')
  })

  test('after an hour it fails', async () => {
    const { document } = await told(install('61m', silent('authentication')))
    expect(layerIn(document, 'platform')).toMatchObject({
      verdict: 'Degraded',
      says: expect.stringContaining('installation of OpenShift 4.14.1 fails'),
    })
    expect(layerIn(document, 'operators')?.verdict).toBe('Degraded')
  })

  test.each([
    ['4m', 'Updating'],
    ['6m', 'Stalled'],
    ['25m', 'Degraded'],
  ])('an operator that an update brings and that says nothing for %s: %s', async (span, verdict) => {
    const operators = silent('console')
    for (const { metadata } of operators) metadata.creationTimestamp = ago(span)
    const { document } = await told(cluster({ more: { 'co.yaml': list(...operators) } }))
    expect(layerIn(document, 'operators')).toMatchObject({ verdict, since: ago(span) })
  })

  test('many operators: the worst six, and how many more', async () => {
    const { document } = await told(
      install('2h', silent(...clusterOperators({ version: '' }).map(({ metadata }) => metadata.name))),
    )
    const operators = layerIn(document, 'operators')
    expect(operators?.says).toMatch(/^authentication is not available, .*, and 27 more$/u)
    expect(operators?.notes).toHaveLength(7)
    expect(operators?.notes?.at(-1)).toBe('and 27 more operators')
  })
})

const alertOf = (alertname: string, severity: string, since: string) => ({
  labels: { alertname, severity, namespace: 'openshift-monitoring' },
  annotations: {},
  state: 'firing',
  activeAt: since,
  value: '1e+00',
})

describe('alerts of an update', () => {
  const alerts = JSON.stringify({
    data: {
      alerts: [
        alertOf('PodDisruptionBudgetAtLimit', 'warning', ago('24h')),
        alertOf('KubePodNotReady', 'warning', ago('6m')),
        alertOf('AlertmanagerReceiversNotConfigured', 'warning', ago('24h')),
        alertOf('UpdateAvailable', 'info', ago('1m')),
      ],
    },
  })

  test('those that came up since it began, and those about drains; not what fired before', async () => {
    const { document, text } = await told(cluster({ more: { 'alerts.json': alerts } }))
    expect(text).toContain('alerts that affect the update: PodDisruptionBudgetAtLimit, KubePodNotReady\n')
    const { findings } = numbersOf(document) as Numbers & { findings: object[] }
    expect(findings).toContainEqual(
      expect.objectContaining({ objects: ['alert/PodDisruptionBudgetAtLimit'], impact: 'update-speed' }),
    )
    expect(findings).toContainEqual(
      expect.objectContaining({ objects: ['alert/KubePodNotReady'], since: ago('6m') }),
    )
  })

  test('at rest only who wants to know more reads of them', async () => {
    const history = [{ version: '4.14.1', started: ago('20d') }, installed]
    const folder = cluster({ cv: { history }, co: { version: '4.14.1' }, more: { 'alerts.json': alerts } })
    expect((await told(folder)).text).not.toContain('affect the update')
  })
})

const release = (version: string) => ({ version, image: `quay.io/x@sha256:${version}` })
const risk = (version: string, status: string) => ({
  release: release(version),
  risks: [{ name: 'SomeRisk', message: 'breaks' }],
  conditions: [{ type: 'Recommended', status, reason: 'X', message: 'x' }],
})

test('a release whose risks do not apply here is offered once, as recommended', async () => {
  const history = [{ version: '4.14.1', started: ago('20d') }, installed]
  const status = {
    availableUpdates: [release('4.14.9'), release('4.14.8')],
    conditionalUpdates: [risk('4.14.9', 'True'), risk('4.14.7', 'False')],
  }
  const { document } = await told(cluster({ cv: { history, status }, co: { version: '4.14.1' } }))
  expect(document['platform']).toMatchObject({
    offers: {
      recommended: ['4.14.9', '4.14.8'],
      conditional: [{ version: '4.14.7', risks: ['SomeRisk'], exposure: 'exposed' }],
      moreConditional: 0,
      byRisk: { SomeRisk: 1 },
    },
  })
})

describe('nodes of workers that follow', () => {
  const history = [
    { version: '4.14.1', started: ago('5h'), completed: ago('90m') },
    { version: '4.13.6', started: ago('80d') },
  ]
  const lost = { ready: 'False', why: 'PLEG is not healthy' } as const
  const folder = () =>
    cluster({
      cv: { history },
      co: { version: '4.14.1' },
      pools: [pool('master'), pool('worker', { machines: 3, updated: 1, wants: 'b', has: 'a' })],
      nodes: [
        ...nodes('worker', 1, { current: 'b', ...lost }),
        ...nodes('worker', 3, { desired: 'b', state: 'Working', ...lost }).slice(2),
      ],
      configs: [renderedConfig('worker', 'a', '4.13.6'), renderedConfig('worker', 'b', '4.14.1')],
    })

  test('a node that is not ready is told with its time; one that is being updated may be down', async () => {
    const { document } = await told(folder())
    const { findings } = document['platform'] as { findings: { objects: string[]; since?: string }[] }
    const ofNodes = findings.filter(({ objects: [object = ''] }) => object.startsWith('node/'))
    expect(ofNodes).toMatchObject([{ objects: ['node/worker-0'], since: ago('30d') }])
  })
})

test('what only reads KubeVirt says which command judges a dump of the platform', async () => {
  const { err } = await runText(['check', '--from', cluster()], {
    cluster: {} as Cluster,
    clock: systemClock,
  })
  expect(err).toContain('it holds no KubeVirt')
  expect(err).toMatch(/kvup status --from \S*kvup-dump-\S+ +(?:# )?judges the platform/u)
})
