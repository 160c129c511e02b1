import { describe, expect, test } from 'vitest'
import {
  ago,
  cluster,
  clusterOperators,
  clusterVersion,
  dump,
  hop,
  idle,
  installed,
  layerIn,
  list,
  nodes,
  pool,
  type Says,
  told,
} from './dumps.ts'

/** A row for each of "What oc sees on a real platform, and kvup did not": what was wrong of one cluster, by its number. */

describe('wrong 1: a pool is updated by its own counters for most of an update', () => {
  test('paused, it is outdated and will not follow; never healthy', async () => {
    const { document, text } = await told(
      cluster({
        pools: [pool('master'), pool('worker', { paused: true })],
        nodes: [...nodes('master', 3), ...nodes('worker', 3, { kubelet: 'v1.26.9' })],
      }),
    )
    expect(layerIn(document, 'pool worker')).toMatchObject({
      verdict: 'Waiting',
      says: expect.stringMatching(/^paused, outdated: 3 nodes, at 4\.13, not updated to 4\.14\.1$/u),
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
    expect(layerIn((await told(folder)).document, 'pool worker')?.says).toContain('paused, up to date')
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
    expect(text).toMatch(/machine-config is not available, dns is degraded, for 20 m/u)
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
      'the update to 4.14.1 was never completed; 4.13.6 was the last complete one',
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

const inWindow = () => {
  const history = [
    { version: '4.16.3', state: 'Partial', started: ago('1h') },
    { version: '4.15.9', started: ago('1d') },
    { version: '4.14.0', started: ago('70d') },
  ] as const
  return dump({
    'cv.yaml': JSON.stringify(clusterVersion({ history })),
    'co.yaml': list(...clusterOperators({ version: '4.15.9' })),
    'mcp.yaml': list(pool('master'), pool('worker', { paused: true })),
  })
}

describe('wrong 8: eus status outside of a window, and where one began', () => {
  const rc = { version: '4.14.0-rc.3', started: ago('20d') }
  const failing: Says = {
    type: 'Failing',
    status: 'True',
    since: ago('4m'),
    message: 'etcd is not available',
  }

  test.each([
    ['updates', [], 'the platform is updating from 4.14.0-rc.3 to 4.14.1'],
    ['fails', [failing], 'from 4.14.0-rc.3 to 4.14.1, and fails: etcd is not available'],
  ] as const)('while the platform %s, the target is not where it is', async (_name, says, words) => {
    const folder = cluster({ cv: { history: [hop, rc], says }, co: { version: '4.14.0-rc.3' } })
    const { text, document } = await told(folder, 'eus status')
    expect(text).toContain(words)
    expect(text).not.toContain('(platform 4.14.1')
    expect(document).toMatchObject({ open: false, at: '4.14.1', leaves: '4.14.0-rc.3' })
  })

  test('at rest it is at its release', async () => {
    expect((await told(cluster({ cv: idle, co: { version: '4.14.1' } }), 'eus status')).text).toContain(
      'no EUS upgrade is running (platform 4.14.1',
    )
  })

  test('without kubelets the history tells where a window began', async () => {
    const { document } = await told(inWindow(), 'eus status')
    expect(document).toMatchObject({ open: true, from: '4.14', to: '4.16' })
  })

  test('wrong 1: in a window nobody is told to unpause, first or later', async () => {
    for (const command of ['eus status', 'status']) {
      const { text, document } = await told(inWindow(), command)
      expect(text).not.toContain('"paused":false')
      expect(JSON.stringify(document)).not.toContain('\\"paused\\":false')
    }
    const { document } = await told(inWindow())
    expect(layerIn(document, 'pool worker')).toMatchObject({
      says: 'paused, outdated: 3 nodes, not updated to 4.16.3',
      expected: 'during an EUS upgrade',
    })
  })
})
