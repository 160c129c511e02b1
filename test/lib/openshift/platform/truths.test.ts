import { describe, expect, test } from 'vitest'
import {
  ago,
  clusterOperators,
  clusterVersion,
  dump,
  layerIn,
  list,
  nodes,
  pool,
  type Says,
  told,
} from './dumps.ts'

/** A row for each of "What oc sees on a real platform, and kvup did not": first what was wrong, by its number. */
const installed = { version: '4.13.6', started: ago('80d') }
const hop = { version: '4.14.1', state: 'Partial', started: ago('2h') } as const

interface Parts {
  cv?: Parameters<typeof clusterVersion>[0]
  co?: Parameters<typeof clusterOperators>[0]
  pools?: readonly object[]
  nodes?: readonly object[]
  more?: Readonly<Record<string, string>>
}

/** A cluster on its way from 4.13.6 to 4.14.1, but for what is said; each part is a file of `oc get -o yaml`. */
const cluster = ({
  cv = { history: [hop, installed] },
  co = { version: '4.13.6', versions: { etcd: '4.14.1' } },
  pools = [pool('master'), pool('worker')],
  nodes: machines = [...nodes('master', 3), ...nodes('worker', 3)],
  more = {},
}: Parts = {}) =>
  dump({
    'cv.yaml': JSON.stringify(clusterVersion(cv)),
    'co.yaml': list(...clusterOperators(co)),
    'mcp.yaml': list(...pools),
    'node.yaml': list(...machines),
    ...more,
  })

const idle = { history: [{ version: '4.14.1', started: ago('20d') }, installed] }

describe('wrong 1: a pool is updated by its own counters for most of an update', () => {
  test('paused, it is outdated and will not follow; never healthy', async () => {
    const { document, text } = await told(
      cluster({ pools: [pool('master'), pool('worker', { paused: true })] }),
    )
    expect(layerIn(document, 'pool worker')).toMatchObject({
      verdict: 'Waiting',
      says: expect.stringMatching(/^paused, outdated: 3 nodes, at 4\.13\.6, will not follow to 4\.14\.1$/u),
    })
    expect(text).toContain('paused, outdated')
    expect(text).not.toContain('nothing to do')
  })

  test('unpaused, it follows after the control plane', async () => {
    const { document } = await told(cluster())
    for (const name of ['pool master', 'pool worker'])
      expect(layerIn(document, name)).toMatchObject({
        verdict: 'Updating',
        waitsFor: 'the control plane: the pool follows to 4.14.1 after it',
      })
  })

  test('once machine-config is updated, its counters are about the new release', async () => {
    const folder = cluster({ co: { version: '4.14.1' } })
    expect(layerIn((await told(folder)).document, 'pool worker')).toMatchObject({ verdict: 'Healthy' })
  })

  test('paused in a patch of the same minor, with the target reached: by its own word, and only then with nothing to do', async () => {
    const folder = cluster({
      cv: idle,
      co: { version: '4.14.1' },
      pools: [pool('master'), pool('worker', { paused: true })],
    })
    expect(layerIn((await told(folder)).document, 'pool worker')?.says).toContain('paused with nothing to do')
  })

  test('paused behind a platform that is done, its kubelets tell', async () => {
    const folder = cluster({
      cv: idle,
      co: { version: '4.14.1' },
      pools: [pool('master'), pool('worker', { paused: true })],
      nodes: [...nodes('master', 3), ...nodes('worker', 3, { kubelet: 'v1.26.7' })],
    })
    const { document } = await told(folder)
    expect(layerIn(document, 'pool worker')?.says).toContain('paused, outdated: 3 nodes, at 4.13')
  })
})

describe('wrong 2: an age is that of the condition that is told', () => {
  test('Failing turned True a moment ago, in an update of two hours', async () => {
    const message = 'Cluster operator machine-config is not available'
    const failing: Says = {
      type: 'Failing',
      status: 'True',
      since: ago(3),
      reason: 'ClusterOperatorNotAvailable',
      message,
    }
    const { document } = await told(cluster({ cv: { history: [hop, installed], says: [failing] } }))
    const platform = layerIn(document, 'platform')
    expect(platform).toMatchObject({ verdict: 'Degraded', since: ago(3) })
    expect(platform?.says).toContain(message)
    expect(document.overall.because).toContain(message)
  })

  test('of several operators the age is that of the one that is told first', async () => {
    const unavailable: Says = {
      type: 'Available',
      status: 'False',
      since: ago(1224),
      reason: 'MachineConfigPoolFailed',
      message: 'pool master is degraded',
    }
    const degraded: Says = { type: 'Degraded', status: 'True', since: ago(5), message: 'a pod restarts' }
    const { document, text } = await told(
      cluster({ co: { version: '4.13.6', says: { 'machine-config': [unavailable], dns: [degraded] } } }),
    )
    const operators = layerIn(document, 'operators')
    expect(operators).toMatchObject({ object: 'clusteroperator/machine-config', since: ago(1224) })
    expect(text).toMatch(/machine-config is not available, dns is degraded, for 20m/u)
  })
})

const gone = (seconds: number): Says => ({
  type: 'Available',
  status: 'False',
  since: ago(seconds),
  reason: 'KubeStorageVersionMigrator_Deploying',
  message: 'KubeStorageVersionMigratorAvailable: Waiting for Deployment',
})

describe('wrong 3: not available has patience, and a cause', () => {
  const name = 'kube-storage-version-migrator'
  const rows = [
    [1, 'Updating', 10],
    [299, 'Updating', 10],
    [300, 'Stalled', 4],
    [1199, 'Stalled', 4],
    [1200, 'Degraded', 3],
  ] as const
  test.each(rows)('for %d s: %s', async (seconds, verdict, code) => {
    for (const cv of [idle, { history: [hop, installed] }]) {
      const folder = cluster({ cv, co: { version: '4.14.1', says: { [name]: [gone(seconds)] } } })
      const { document, code: exit } = await told(folder, 'status', ['--exit-code'])
      expect(layerIn(document, 'operators')).toMatchObject({
        verdict,
        says: `${name} is not available`,
        notes: [`${name}: KubeStorageVersionMigratorAvailable: Waiting for Deployment`],
      })
      expect(exit).toBe(code)
    }
  })

  test.each([
    [299, 'Updating'],
    [2399, 'Updating'],
    [2400, 'Degraded'],
  ])('degraded for %d s in an update: %s', async (seconds, verdict) => {
    const degraded: Says = {
      type: 'Degraded',
      status: 'True',
      since: ago(seconds),
      reason: 'X',
      message: 'rolls out',
    }
    const { document } = await told(cluster({ co: { version: '4.13.6', says: { network: [degraded] } } }))
    expect(layerIn(document, 'operators')?.verdict).toBe(verdict)
  })

  test('one that does not say since when is not given any patience', async () => {
    const [dns] = clusterOperators({ version: '4.14.1' })
    const status = { conditions: [{ type: 'Available', status: 'False' }] }
    const folder = cluster({ cv: idle, more: { 'co.yaml': list({ ...dns, status }) } })
    expect(layerIn((await told(folder)).document, 'operators')?.verdict).toBe('Degraded')
  })
})

test('wrong 5: a newer generation alone, as after a change of the channel, is no update', async () => {
  const folder = cluster({ cv: { ...idle, generation: 3, observed: 2 }, co: { version: '4.14.1' } })
  const { document, code } = await told(folder, 'status', ['--exit-code'])
  expect(layerIn(document, 'platform')).toMatchObject({ verdict: 'Healthy', says: 'OpenShift 4.14.1' })
  expect({ verdict: document.overall.verdict, code }).toEqual({ verdict: 'Healthy', code: 0 })
})

describe('wrong 6: no list of updates is read with RetrievedUpdates', () => {
  test.each([
    ['NoChannel', 'The update channel has not been configured.'],
    [
      'VersionNotFound',
      'Unable to retrieve available updates: currently reconciling cluster version 4.14.1 not found in the "stable-4.14" channel',
    ],
    [
      'RemoteFailed',
      'Unable to retrieve available updates: Get "https://api.openshift.com": dial tcp: i/o timeout',
    ],
  ])('False, %s: in the words of the cluster', async (reason, message) => {
    const says: Says[] = [{ type: 'RetrievedUpdates', status: 'False', reason, message }]
    const { text } = await told(
      cluster({ cv: { ...idle, says }, co: { version: '4.14.1' } }),
      'eus plan --to 4.16',
    )
    expect(text).toContain(message)
    expect(text).not.toContain('could not ask the update service')
  })

  test('True: none are offered, which is an answer', async () => {
    const { text } = await told(cluster({ cv: idle, co: { version: '4.14.1' } }), 'eus plan --to 4.16')
    expect(text).toContain('no release of 4.15 is offered to 4.14.1')
  })
})

describe('wrong 9 and 10: what an update leaves, and what it changes', () => {
  test('from a release that was never reached in full', async () => {
    const history = [
      { version: '4.14.2', state: 'Partial', started: ago('1h') },
      { version: '4.14.1', state: 'Partial', started: ago('3h') },
      installed,
    ] as const
    const { document } = await told(cluster({ cv: { history } }))
    const platform = layerIn(document, 'platform')
    expect(platform?.says).toBe('OpenShift incomplete 4.14.1 to 4.14.2')
    expect(platform?.notes).toContain(
      'the update to 4.14.1 was never completed; 4.13.6 was the last that was reached in full',
    )
  })

  test('of the architecture alone', async () => {
    const version = '4.18.0-ec.3'
    const history = [
      { version, state: 'Partial', started: ago('10m'), arch: 'multi' },
      { version, started: ago('9d') },
    ] as const
    const { document, text } = await told(
      cluster({ cv: { history, architecture: 'Multi' }, co: { version } }),
    )
    expect(layerIn(document, 'platform')).toMatchObject({
      verdict: 'Updating',
      says: 'OpenShift 4.18.0-ec.3 to Multi-Architecture',
    })
    expect(text).not.toContain('4.18.0-ec.3 to 4.18.0-ec.3')
  })
})
