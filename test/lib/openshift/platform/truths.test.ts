import { describe, expect, test } from 'vitest'
import { Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { readSaved } from '../../../../src/lib/kube/saved/saved-file.ts'
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
  type Told,
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

const foreign = {
  'rules.json': JSON.stringify({ status: 'success', data: { groups: [{ name: 'x', rules: [] }] } }),
  'etcd/endpoint_health.json': JSON.stringify([{ endpoint: 'https://10.0.0.4:2379', health: true }]),
  'pods/current.yaml': 'I1120 12:00:00 not: [yaml',
  'empty.json': '',
}

describe('wrong 4: files of others in a folder', () => {
  test('are read around, and said', async () => {
    const folder = cluster({ cv: idle, co: { version: '4.14.1' }, more: foreign })
    const { code, document, text } = await told(folder)
    expect(code).toBe(0)
    expect(layerIn(document, 'platform')?.verdict).toBe('Healthy')
    expect(document['saved']).toMatchObject({
      asOf: '2026-11-20T12:00:00.000Z',
      passedOver: [
        { file: 'empty.json', why: expect.stringContaining('empty') },
        { file: 'etcd/endpoint_health.json', why: 'it holds no Kubernetes objects' },
        { file: 'pods/current.yaml', why: expect.stringContaining('line 1') },
        { file: 'rules.json', why: 'it holds no Kubernetes objects' },
      ],
    })
    expect(text).toContain('passed over empty.json')
    expect(text).toContain('passed over 1 more')
  })

  test('a folder with nothing else, and a single file, are refused as before', async () => {
    await expect(readSaved(dump(foreign), 'platform')).rejects.toThrow(/empty\.json:1: it is empty/u)
    const file = `${dump(foreign)}/rules.json`
    await expect(readSaved(file, 'platform')).rejects.toThrow(/lacks apiVersion/u)
  })
})

describe('wrong 7: a dump of one kind is judged by it, and the rest is not known', () => {
  test.each([
    [
      'pools',
      { 'mcp.yaml': list(pool('master'), pool('worker', { paused: true, has: 'b' })) },
      'pool worker',
    ],
    ['operators', { 'co.yaml': list(...clusterOperators({ version: '4.14.1' })) }, 'operators'],
  ])('%s', async (_name, files, title) => {
    const { code, document, text, err } = await told(dump(files))
    expect(code).toBe(0)
    expect(layerIn(document, 'platform')).toMatchObject({ verdict: 'Unknown' })
    expect(layerIn(document, title)?.verdict).not.toBe('Unknown')
    expect(text + err).not.toContain('rbac')
    const status = await told(dump(files), 'eus status')
    expect(status.code).not.toBe(7)
    expect(status.text + status.err).not.toContain('rbac')
  })
})

const image = 'quay-io-openshift-release-dev-ocp-v4-0-art-dev-sha256-0a1b'
const inGather = (kind: string) => `must-gather.local.1/${image}/cluster-scoped-resources/${kind}`

/** As `oc adm must-gather` lays it down: an object in a file of its own, or the list of all. */
const gathered = (cv: Parameters<typeof clusterVersion>[0], at: string) => ({
  'must-gather.local.1/timestamp': `2026-11-20 11:58:01.5 +0000 UTC m=+0.1\n${at} +0000 UTC m=+90.1\n`,
  'must-gather.local.1/event-filter.html': '<html>',
  [`must-gather.local.1/${image}/version`]: 'openshift/must-gather\n4.14.1\n',
  [`must-gather.local.1/${image}/monitoring/prometheus/rules.json`]: foreign['rules.json'],
  [inGather('config.openshift.io/clusterversions/version.yaml')]:
    `---\n${JSON.stringify(clusterVersion(cv))}`,
  [inGather('config.openshift.io/clusteroperators.yaml')]: list(...clusterOperators({ version: '4.14.1' })),
  [inGather('config.openshift.io/oauths.yaml')]: 'not: [read',
  [inGather('machineconfiguration.openshift.io/machineconfigpools/master.yaml')]: JSON.stringify(
    pool('master'),
  ),
  [inGather('machineconfiguration.openshift.io/machineconfigpools/worker.yaml')]: JSON.stringify(
    pool('worker'),
  ),
  [`must-gather.local.1/${image}/namespaces/openshift-cnv/core/pods.yaml`]: JSON.stringify({
    apiVersion: 'v1',
    kind: 'PodList',
    items: [{ metadata: { name: 'virt-api-1', namespace: 'openshift-cnv', resourceVersion: '5' } }],
  }),
  [`must-gather.local.1/${image}/namespaces/openshift-cnv/pods/virt-api-1/virt-api-1.yaml`]: JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'virt-api-1', namespace: 'openshift-cnv', resourceVersion: '6' },
  }),
  [`must-gather.local.1/${image}/namespaces/openshift-cnv/pods/virt-api-1/x/logs/current.log`]: 'a log',
})

/** The same of a day of that November, in a folder of its own. */
const gatheredOn = (day: string) =>
  Object.fromEntries(
    Object.entries(gathered(idle, `2026-11-${day} 12:07:11`)).map(([name, text]) => [`${day}/${name}`, text]),
  )

describe('a must-gather', () => {
  test('is read as it lies, as of its own timestamp', async () => {
    const folder = dump(gathered(idle, '2026-11-20 12:07:11.25'))
    const { code, document } = await told(folder)
    expect(code).toBe(0)
    expect(document.takenAt).toBe('2026-11-20T12:07:11.000Z')
    expect(document).not.toHaveProperty('earlier')
    expect(layerIn(document, 'platform')?.says).toBe('OpenShift 4.14.1')
    expect(layerIn(document, 'pool worker')?.verdict).toBe('Healthy')
    expect(document['saved']).toMatchObject({ passedOver: [{ file: expect.stringContaining('rules.json') }] })
  })

  test.each(['clusterversions/version.yaml', 'clusteroperators.yaml', 'machineconfigpools'])(
    'without %s: that is not known, and the rest is told',
    async (missing) => {
      const files = Object.entries(gathered(idle, '2026-11-20 12:07:11')).filter(
        ([name]) => !name.includes(missing),
      )
      const { code, document } = await told(dump(Object.fromEntries(files)))
      expect(code).toBe(0)
      expect(document.layers.filter(({ verdict }) => verdict === 'Unknown').length).toBeGreaterThan(0)
      expect(document.overall.verdict).toBe('Healthy')
    },
  )

  test('pods of a namespace that was not gathered are not known, not none', async () => {
    const { reader } = await readSaved(dump(gathered(idle, '2026-11-20 12:07:11')), 'platform')
    expect(await reader.list(Pods, { namespace: 'openshift-cnv' })).toHaveLength(1)
    await expect(reader.list(Pods, { namespace: 'kubevirt' })).rejects.toThrow(/does not hold/u)
  })
})

describe('wrong 12: dumps of two days in one folder', () => {
  const failing: Says = { type: 'Failing', status: 'True', since: ago('21d'), message: 'an operator fails' }
  const old = (name: string) => ({
    [`${name}cv.yaml`]: JSON.stringify({
      ...clusterVersion({ history: [{ ...hop, started: ago('21d') }, installed], says: [failing] }),
      metadata: { name: 'version', generation: 3, resourceVersion: '100' },
    }),
    [`${name}node.yaml`]: list(...nodes('worker', 3, { heartbeat: ago('20d'), revision: '101' })),
  })

  test.each(['before/', 'before-'])('are judged apart, each by its own moment: %s', async (name) => {
    const folder = cluster({ cv: idle, co: { version: '4.14.1' }, more: old(name) })
    const { document, text } = await told(folder)
    expect(document.takenAt).toBe('2026-11-20T12:00:00.000Z')
    expect(layerIn(document, 'platform')?.verdict).toBe('Healthy')
    const [earlier, ...others] = document['earlier'] as Told[]
    expect(others).toEqual([])
    expect(earlier).toMatchObject({ asOf: '2026-10-31T12:00:00.000Z', overall: { verdict: 'Degraded' } })
    expect(text).toContain('as of 2026-10-31T12:00:00.000Z, another dump in the same folder')
    expect(text).not.toContain('for 21d')
    expect(text).toMatch(/degraded: OpenShift 4\.13\.6 to 4\.14\.1 fails: an operator fails, for 24h/u)
  })

  test('two must-gathers of two days are told by their timestamps, though nothing else would', async () => {
    const { document } = await told(dump({ ...gatheredOn('19'), ...gatheredOn('20') }))
    expect(document.takenAt).toBe('2026-11-20T12:07:11.000Z')
    expect(document['earlier']).toMatchObject([{ asOf: '2026-11-19T12:07:11.000Z' }])
  })

  test('files that do not contradict one another are one dump, wherever they lie', async () => {
    const folder = dump({
      'a/cv.yaml': JSON.stringify(clusterVersion(idle)),
      'b/mcp.yaml': list(pool('master'), pool('worker')),
      'c/mcp-again.yaml': list(pool('master')),
    })
    expect((await told(folder)).document).not.toHaveProperty('earlier')
  })
})
