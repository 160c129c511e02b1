// One table for one page: a row of it stands beside the words that it makes.
/* oxlint-disable max-lines, unicorn/consistent-function-scoping */
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
  renderedConfig,
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
      cluster({
        pools: [pool('master'), pool('worker', { paused: true })],
        nodes: [...nodes('master', 3), ...nodes('worker', 3, { kubelet: 'v1.26.9' })],
      }),
    )
    expect(layerIn(document, 'pool worker')).toMatchObject({
      verdict: 'Waiting',
      says: expect.stringMatching(/^paused, outdated: 3 nodes, at 4\.13, will not follow to 4\.14\.1$/u),
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

interface Numbers {
  update?: {
    operators?: object
    manifestsPercent?: number
    pace: string
    leftSeconds?: number
    overdueSeconds?: number
    usual: object
  }
  pools: { name: string; nodes?: object[]; drains?: object[]; machines: number; unavailable: number }[]
  findings: { severity: string; impact: string; summary: string; runbook?: string; since?: string }[]
  offers?: object
  last?: object
  alerts?: object[]
}

const numbersOf = (document: Told) => document['platform'] as Numbers

describe('wrong 11 and missing 3, 4: how far an update is, in numbers, and how long it takes', () => {
  const versions = { etcd: '4.14.1', 'config-operator': '4.14.1' }
  const progressing: Says = { type: 'Progressing', status: 'True', since: ago('10m'), message: 'rolls' }
  const co = { version: '4.13.6', versions, says: { 'kube-apiserver': [progressing] } }

  test('operators updated, updating, waiting, and per cent, while it fails too', async () => {
    const failing: Says = { type: 'Failing', status: 'True', since: ago('4m'), message: 'etcd fails' }
    const message = 'Unable to apply 4.14.1: etcd fails'
    for (const says of [[], [failing, { type: 'Progressing', status: 'True', message } as Says]]) {
      const { document, text } = await told(cluster({ cv: { history: [hop, installed], says }, co }))
      expect(numbersOf(document).update).toMatchObject({
        operators: {
          total: 33,
          updated: 2,
          updating: ['kube-apiserver'],
          waiting: 30,
          percent: 6,
          outdated: expect.arrayContaining([{ name: 'kube-apiserver', version: '4.13.6' }]),
        },
      })
      expect(text).toContain('operators: 2 of 33 updated (6%), updating now: kube-apiserver, 30 waiting')
    }
  })

  const took = (version: string, minutes: number, day: number) => ({
    version,
    started: ago(`${day}d`),
    completed: new Date(Date.parse(ago(`${day}d`)) + minutes * 60_000).toISOString(),
  })
  const before = [
    took('4.13.6', 90, 10),
    took('4.13.5', 4920, 30),
    took('4.13.4', 81, 40),
    took('4.12.1', 40, 80),
  ]

  test('by the last and the median, not the extremes; one figure, and "at least"', async () => {
    const history = [{ ...hop, started: ago('20m') }, ...before]
    const { document, text } = await told(cluster({ cv: { history }, co }))
    const { update } = numbersOf(document)
    expect(update).toMatchObject({
      pace: 'as-usual',
      usual: { seconds: 5400, by: 'own-updates', updates: 3, lastSeconds: 5400, medianSeconds: 5400 },
    })
    expect(update?.leftSeconds).toBeGreaterThan(3600)
    expect(update?.leftSeconds).toBeLessThan(5400)
    expect(text).toMatch(/at least 1h26m left \(its last update took 1h30m, the median of 3 1h30m\)/u)
    const plan = await told(
      cluster({ cv: { ...idle, history: [took('4.14.1', 90, 9), ...before] } }),
      'eus plan --to 4.15',
    )
    expect(plan.text).toContain('takes: 1h10m to 2h45m')
  })

  test.each([
    ['20m', ago('1m'), 'as-usual', 'Updating'],
    ['2h', ago('1m'), 'slow', 'Updating'],
    ['2h', ago('31m'), 'stalled', 'Stalled'],
    ['34h', ago('1m'), 'stalled', 'Stalled'],
  ])('under way for %s, with a change %s: %s', async (span, since, pace, verdict) => {
    const moved: Says = { type: 'Progressing', status: 'True', since, message: 'rolls' }
    const history = [{ ...hop, started: ago(span) }, ...before]
    const says: Says[] = [
      { type: 'Progressing', status: 'True', since: ago(span), message: 'Working towards 4.14.1' },
    ]
    const folder = cluster({ cv: { history, says }, co: { ...co, says: { 'kube-apiserver': [moved] } } })
    const { document } = await told(folder)
    expect(numbersOf(document).update?.pace).toBe(pace)
    expect(layerIn(document, 'platform')?.verdict).toBe(verdict)
  })
})

const vmi = (name: string, on: string, spec: object = {}, migratable: object = { status: 'True' }) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace: 'demo', uid: `vmi-${name}`, labels: { app: 'web' }, resourceVersion: '1' },
  spec: { evictionStrategy: 'LiveMigrate', domain: {}, ...spec },
  status: { phase: 'Running', nodeName: on, conditions: [{ type: 'LiveMigratable', ...migratable }] },
})

const budget = (name: string, status: object, more: object = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'demo', uid: `pdb-${name}`, resourceVersion: '1', ...more },
  spec: { maxUnavailable: 1, selector: { matchLabels: { 'kubevirt.io': 'virt-launcher' } } },
  status,
})

const syncFailed = {
  disruptionsAllowed: 0,
  conditions: [
    {
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'SyncFailed',
      message: 'virtualmachineinstances.kubevirt.io does not implement the scale subresource',
    },
  ],
}

describe('missing 1: which VMs keep a node of a degraded or updating pool from being drained', () => {
  const stuck: Says = {
    type: 'NodeDegraded',
    status: 'True',
    message:
      'Node worker-0 is reporting: "failed to drain node: worker-0 after 1 hour. Please see machine-config-controller logs for more information"',
  }
  const failed = pool('worker', {
    degraded: 1,
    unavailable: 1,
    updated: 1,
    wants: 'b',
    has: 'a',
    says: [stuck],
  })
  const rolls = pool('worker', { unavailable: 1, updated: 1, wants: 'b', has: 'a' })
  const draining = [
    ...nodes('master', 3),
    ...nodes('worker', 1, {
      desired: 'b',
      state: 'Working',
      drain: 'drain',
      lastDrain: 'uncordon',
      cordoned: true,
    }),
  ]
  const on = (worker: object, vms: readonly object[]) =>
    cluster({
      cv: idle,
      co: { version: '4.14.1' },
      pools: [pool('master'), worker],
      nodes: draining,
      more: { 'vms.yaml': list(...vms) },
    })

  test.each([
    ['degraded', failed],
    ['updating', rolls],
  ])('%s, by a budget that cannot count launchers', async (_name, worker) => {
    const folder = on(worker, [vmi('web-1', 'worker-0'), vmi('web-2', 'worker-1'), budget('web', syncFailed)])
    const { document, text } = await told(folder)
    const layer = layerIn(document, 'pool worker')
    expect(layer?.notes).toContain(
      'node worker-0 cannot be drained: VM demo/web-1 may not be evicted: PodDisruptionBudget web allows no disruption: virtualmachineinstances.kubevirt.io does not implement the scale subresource',
    )
    expect(layer?.help?.[0]).toMatch(
      /^kubectl -n demo describe poddisruptionbudget web {5}give it minAvailable/u,
    )
    expect(text).toContain('VM demo/web-1 may not be evicted')
    expect(text).not.toContain('web-2')
    expect(numbersOf(document).pools.find(({ name }) => name === 'worker')?.drains).toEqual([
      {
        node: 'worker-0',
        vms: [
          expect.objectContaining({ vm: 'demo/web-1', by: 'budget', budget: 'demo/web', cannotCount: true }),
        ],
      },
    ])
    expect(numbersOf(document).findings).toContainEqual(
      expect.objectContaining({
        impact: 'update-stalled',
        objects: ['node/worker-0', 'virtualmachineinstance/demo/web-1', 'poddisruptionbudget/demo/web'],
      }),
    )
  })

  test('by a VM that is to be live-migrated and cannot', async () => {
    const why = {
      status: 'False',
      reason: 'DisksNotLiveMigratable',
      message: 'cannot migrate VMI: PVC root is not shared',
    }
    const { document } = await told(
      on(rolls, [vmi('db', 'worker-0', {}, why), budget('other', { disruptionsAllowed: 1 })]),
    )
    const layer = layerIn(document, 'pool worker')
    expect(layer?.notes).toContain(
      'node worker-0 cannot be drained: VM demo/db cannot be live-migrated: cannot migrate VMI: PVC root is not shared',
    )
    expect(layer?.help?.[0]).toMatch(/^kvup workloads unblock --all --dry-run=client/u)
  })

  test.each([
    [
      'a VM that is shut down instead',
      [vmi('a', 'worker-0', { evictionStrategy: 'None' }, { status: 'False' })],
    ],
    [
      'a VM that migrates if it can',
      [vmi('a', 'worker-0', { evictionStrategy: 'LiveMigrateIfPossible' }, { status: 'False' })],
    ],
    [
      'a budget of KubeVirt itself',
      [
        vmi('a', 'worker-0'),
        budget(
          'kubevirt-disruption-budget-x',
          { disruptionsAllowed: 0 },
          {
            ownerReferences: [
              {
                apiVersion: 'kubevirt.io/v1',
                kind: 'VirtualMachineInstance',
                name: 'a',
                uid: 'u',
                controller: true,
              },
            ],
          },
        ),
      ],
    ],
  ])('%s is not in the way', async (_name, objects) => {
    const unrelated = budget('fine', { disruptionsAllowed: 2 })
    const { text } = await told(on(rolls, [...objects, unrelated]))
    expect(text).not.toContain('cannot be drained')
  })

  test('a budget that only bears the name of KubeVirt’s own is', async () => {
    const copied = budget('kubevirt-disruption-budget-x', { disruptionsAllowed: 0 })
    expect((await told(on(rolls, [vmi('a', 'worker-0'), copied]))).text).toContain('cannot be drained')
  })

  test('where VMs or budgets were not saved, that is said', async () => {
    const { text } = await told(on(rolls, []))
    expect(text).toContain('which VMs keep node worker-0 from being drained is not known')
  })
})

describe('missing 2: nodes by pool, with phase, version and reason', () => {
  const worker = (name: string, how: Parameters<typeof nodes>[2]) => ({ name, how })
  const rows = [
    [worker('updated', { current: 'b' }), { phase: 'updated', version: '4.14.1', ready: true }],
    [worker('pending', {}), { phase: 'pending', version: '4.13.6' }],
    [
      worker('draining', {
        desired: 'b',
        state: 'Working',
        drain: 'drain',
        lastDrain: 'uncordon',
        cordoned: true,
      }),
      { phase: 'draining', cordoned: true },
    ],
    [
      worker('updating', { desired: 'b', state: 'Working', drain: 'drain', cordoned: true }),
      { phase: 'updating' },
    ],
    [
      worker('rebooting', {
        desired: 'b',
        state: 'Rebooting',
        ready: 'Unknown',
        why: 'Kubelet stopped posting node status.',
      }),
      { phase: 'rebooting', ready: false, reason: 'Kubelet stopped posting node status.' },
    ],
    [
      worker('degraded', { desired: 'b', state: 'Degraded', reason: 'disk is full' }),
      { phase: 'degraded', reason: 'disk is full' },
    ],
    [
      worker('lost', { current: 'b', ready: 'False', why: 'PLEG is not healthy' }),
      { phase: 'updated', ready: false, reason: 'PLEG is not healthy' },
    ],
  ] as const

  const machines = rows.flatMap(([{ how }], at) => nodes('worker', at + 1, how).slice(-1))
  const folder = (paused: boolean, count = rows.length) =>
    cluster({
      cv: idle,
      co: { version: '4.14.1' },
      pools: [
        pool('master'),
        pool('worker', { machines: count, updated: 1, unavailable: 4, wants: 'b', has: 'a', paused }),
      ],
      nodes: machines,
      more: {
        'mc.yaml': list(renderedConfig('worker', 'a', '4.13.6'), renderedConfig('worker', 'b', '4.14.1')),
      },
    })

  test.each(rows.map(([{ name }, expected], at) => [name, expected, at] as const))(
    '%s',
    async (_name, expected, at) => {
      const { document } = await told(folder(false))
      const found = numbersOf(document).pools.find(({ name }) => name === 'worker')
      expect(found?.nodes?.[at]).toMatchObject(expected)
      expect(found?.unavailable).toBe(4)
    },
  )

  test('paused: what would be pending is paused', async () => {
    const found = numbersOf((await told(folder(true))).document).pools.find(({ name }) => name === 'worker')
    expect(found?.nodes?.[1]).toMatchObject({ phase: 'paused' })
  })

  test('names whole, ten at most, the rest counted', async () => {
    const many = cluster({
      cv: idle,
      co: { version: '4.14.1' },
      pools: [
        pool('master'),
        pool('worker', { machines: 14, updated: 0, unavailable: 14, wants: 'b', has: 'a' }),
      ],
      nodes: nodes('worker', 14, { desired: 'b', state: 'Working', cordoned: true }),
    })
    const { text } = await told(many)
    expect(text.match(/node worker-\d+ is updating, cordoned/gu)).toHaveLength(10)
    expect(text).toContain('and 4 more nodes')
  })
})

test('missing 5: each finding has severity and impact, its own time, and a runbook where there is one', async () => {
  const answersNothing: Says = {
    type: 'Available',
    status: 'False',
    since: ago('25m'),
    message: 'no endpoints',
  }
  const { document } = await told(
    cluster({
      co: { version: '4.13.6', says: { console: [answersNothing] } },
      pools: [pool('master'), pool('worker', { paused: true })],
    }),
  )
  const { findings } = numbersOf(document)
  expect(findings[0]).toMatchObject({
    severity: 'error',
    impact: 'api-availability',
    summary: 'operator console is not available: no endpoints',
    since: ago('25m'),
    runbook: expect.stringMatching(/^https:\/\/github\.com\/openshift\/runbooks\//u),
  })
  expect(findings).toContainEqual(
    expect.objectContaining({
      severity: 'warning',
      impact: 'update-stalled',
      summary: 'outdated nodes in the paused pool worker will not be updated to 4.14.1',
    }),
  )
})

describe('missing 6: alerts of a dump', () => {
  const alert = (alertname: string, severity: string, state = 'firing') => ({
    labels: { alertname, severity, namespace: 'openshift-etcd' },
    annotations: {},
    state,
    activeAt: ago('20m'),
    value: '1e+00',
  })
  const answer = {
    status: 'success',
    data: {
      alerts: [
        alert('etcdNoLeader', 'critical'),
        alert('Watchdog', 'none'),
        alert('X', 'warning', 'pending'),
      ],
    },
  }
  const folder = (text: string) =>
    cluster({ cv: idle, co: { version: '4.14.1' }, more: { 'alerts.json': text } })

  test('are told, and critical ones on the screen', async () => {
    const { document, text } = await told(folder(JSON.stringify(answer)))
    expect(numbersOf(document).alerts).toEqual([
      { name: 'etcdNoLeader', severity: 'critical', namespace: 'openshift-etcd' },
    ])
    expect(numbersOf(document).findings[0]).toMatchObject({
      severity: 'critical',
      summary: 'alert etcdNoLeader fires in namespace openshift-etcd',
    })
    expect(text).toContain('critical alerts fire: etcdNoLeader')
  })

  test('an answer in HTML is no answer: nothing is known, and it is passed over', async () => {
    const { document } = await told(folder('<html>log in</html>'))
    expect(numbersOf(document)).not.toHaveProperty('alerts')
    expect(document['saved']).toMatchObject({ passedOver: [{ file: 'alerts.json' }] })
  })
})

describe('missing 7 and 8: targets within the minor, and their risks folded', () => {
  const risk = (name: string) => ({
    name,
    message: `${name} hurts. `.repeat(40),
    url: 'https://example.com',
    matchingRules: [{ type: 'PromQL' }],
  })
  const offer = (version: string, status: 'True' | 'False' | 'Unknown', ...names: string[]) => ({
    release: { version, image: 'quay.io/x@sha256:1' },
    risks: names.map(risk),
    conditions: [
      {
        type: 'Recommended',
        status,
        reason: names[0],
        message: `${names[0]} hurts`,
        lastTransitionTime: ago('1d'),
      },
    ],
  })
  const status = {
    availableUpdates: [{ version: '4.14.9' }, { version: '4.14.32' }, { version: '4.15.3' }],
    conditionalUpdates: [
      offer('4.14.33', 'Unknown', 'SlowDisks'),
      offer('4.14.40', 'False', 'LostLeases', 'SlowDisks'),
      offer('4.14.34', 'True', 'LostLeases'),
      offer('4.14.35', 'False', 'LostLeases'),
      offer('4.15.9', 'False', 'LostLeases'),
    ],
  }
  const folder = () => cluster({ cv: { ...idle, status }, co: { version: '4.14.1' } })

  test('the newest two and a count, by risk; exposure unknown is no known risk', async () => {
    const { document } = await told(folder())
    expect(numbersOf(document).offers).toEqual({
      recommended: ['4.14.32', '4.14.9'],
      conditional: [
        { version: '4.14.40', risks: ['LostLeases', 'SlowDisks'], exposure: 'exposed' },
        { version: '4.14.35', risks: ['LostLeases'], exposure: 'exposed' },
      ],
      moreConditional: 2,
      byRisk: { LostLeases: 3, SlowDisks: 2 },
    })
    const { text } = await told(folder(), 'status', ['-o', 'wide'])
    expect(text).toContain('updates in this minor: 4.14.32, 4.14.9')
    expect(text).toContain('and 2 more with risks: LostLeases in 3, SlowDisks in 2')
    expect(text.length).toBeLessThan(3000)
  })

  test('in a plan: folded too, and "not known" for an exposure that nobody could tell', async () => {
    const more = Array.from({ length: 47 }, (_, at) =>
      offer(`4.15.${at + 10}`, at % 2 === 0 ? 'Unknown' : 'False', 'LostLeases'),
    )
    const many = { ...status, conditionalUpdates: more }
    const { text } = await told(
      cluster({ cv: { ...idle, status: many }, co: { version: '4.14.1' } }),
      'eus plan --to 4.15',
    )
    expect(text.match(/4\.15\.\d+ is offered with/gu)?.length).toBe(2)
    expect(text).toContain('whether that applies here is not known')
    expect(text).toContain('45 more')
  })
})

test('missing 9 and 10: when the last update was completed and how long it took, and pools without machines', async () => {
  const history = [
    { version: '4.14.1', started: '2026-11-01T08:00:00Z', completed: '2026-11-01T11:31:00Z' },
    installed,
  ]
  const folder = cluster({
    cv: { history },
    co: { version: '4.14.1' },
    pools: [pool('master'), pool('worker'), pool('infra', { machines: 0 })],
  })
  const { document, text } = await told(folder, 'status', ['-o', 'wide'])
  expect(numbersOf(document).last).toEqual({
    version: '4.14.1',
    completed: '2026-11-01T11:31:00Z',
    tookSeconds: 12_660,
  })
  expect(numbersOf(document).pools).toContainEqual(expect.objectContaining({ name: 'infra', machines: 0 }))
  expect(text).toContain('the last update, to 4.14.1, was completed at 2026-11-01T11:31:00Z and took 3h31m')
  expect(text).toContain('pools without machines: infra')
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
    ['updates', [], 'the platform is on its way from 4.14.0-rc.3 to 4.14.1'],
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
      'no window is open (platform 4.14.1',
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
      says: 'paused, outdated: 3 nodes, will not follow to 4.16.3',
      expected: 'in an EUS window',
    })
  })
})
