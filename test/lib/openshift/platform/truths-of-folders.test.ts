import { relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Cluster } from '../../../../src/lib/kube/cluster.ts'
import { systemClock } from '../../../../src/lib/kube/clock.ts'
import { Nodes } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts, VirtualMachines } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Subscriptions } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { runText } from '../../../lib/run-text.ts'
import { ClusterVersions } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { readSaved } from '../../../../src/lib/kube/saved/saved-file.ts'
import {
  ago,
  cluster,
  clusterOperators,
  clusterVersion,
  dump,
  idle,
  layerIn,
  list,
  nodes,
  pool,
  told,
} from './dumps.ts'

const offline = { cluster: {} as Cluster, clock: systemClock }

/** A row for each of "What oc sees on a real platform, and kvup did not": what was wrong of dumps and folders, by its number. */

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
        { file: 'etcd/endpoint_health.json', why: 'it has no Kubernetes objects' },
        { file: 'pods/current.yaml', why: expect.stringContaining('line 1') },
        { file: 'rules.json', why: 'it has no Kubernetes objects' },
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
    expect(layerIn(document, 'platform')?.says).toBe('OpenShift 4.14.1')
    expect(layerIn(document, 'pool worker')?.verdict).toBe('Healthy')
    expect(document['saved']).toMatchObject({ passedOver: [{ file: expect.stringContaining('rules.json') }] })
  })

  test('that is named by a path from here has its timestamp too', async () => {
    const folder = dump(gathered(idle, '2026-11-20 12:07:11'))
    const saved = await readSaved(`./${relative(process.cwd(), folder)}/`, 'platform')
    expect(saved.takenAt).toEqual(new Date('2026-11-20T12:07:11Z'))
  })

  test('by two images is of one moment, although each saw another state of a node', async () => {
    const folder = dump({
      ...gathered(idle, '2026-11-20 12:07:11'),
      [inGather('core/nodes.yaml')]: list(...nodes('worker', 1, { revision: '100' })),
      'must-gather.local.1/cnv/cluster-scoped-resources/core/nodes.yaml': list(
        ...nodes('worker', 1, { revision: '101' }),
      ),
      'must-gather.local.1/cnv/namespaces/openshift-cnv/kubevirt.io/kubevirts.yaml': JSON.stringify({
        apiVersion: 'kubevirt.io/v1',
        kind: 'KubeVirt',
        metadata: { name: 'kubevirt', namespace: 'openshift-cnv', resourceVersion: '7' },
      }),
    })
    const { reader } = await readSaved(folder, 'platform')
    expect(await reader.list(KubeVirts)).toHaveLength(1)
    expect(await reader.list(ClusterVersions)).toHaveLength(1)
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
    await expect(reader.list(Pods, { namespace: 'kubevirt' })).rejects.toThrow(/does not contain/u)
  })
})

const old = (name: string) => ({
  [`${name}node.yaml`]: list(...nodes('worker', 3, { heartbeat: ago('20d'), revision: '101' })),
})

const setting = (value: string) =>
  JSON.stringify({
    apiVersion: 'example.com/v1',
    kind: 'Setting',
    metadata: { name: 'a' },
    spec: { value },
  })

const inCnv = (apiVersion: string, kind: string, name: string, more: object = {}) =>
  JSON.stringify({ apiVersion, kind, metadata: { name, namespace: 'openshift-cnv' }, ...more })

describe('wrong 12: a folder of several moments or clusters is no cluster', () => {
  const ofOther = structuredClone(clusterOperators({ version: '4.14.1' }))
  const owner = { apiVersion: 'config.openshift.io/v1', kind: 'ClusterVersion', name: 'version', uid: 'x' }
  for (const { metadata } of ofOther) Object.assign(metadata, { ownerReferences: [owner] })
  test.each([
    ['in a folder of their own', () => cluster({ cv: idle, more: old('before/') }), /more than one moment/u],
    ['beside one another', () => cluster({ cv: idle, more: old('before-') }), /more than one moment/u],
    [
      'gathered on two days, though nothing contradicts',
      () => dump({ ...gatheredOn('19'), ...gatheredOn('20') }),
      /kvup status --from \S+\/20\/must-gather\.local\.1\S* +(?:# )?reads the newest/u,
    ],
    [
      'of two ClusterVersions',
      () => cluster({ cv: idle, more: { 'co.yaml': list(...ofOther) } }),
      /two clusters/u,
    ],
  ])('%s: exit 2, and what to do', async (_, folder, why) => {
    const { code, err } = await runText(['status', '--from', folder()], offline)
    expect(code).toBe(2)
    expect(err).toMatch(why)
  })

  test('files that do not contradict one another are one, wherever they lie; what kvup never asks for contradicts nothing', async () => {
    const folder = dump({
      'a/cv.yaml': JSON.stringify(clusterVersion(idle)),
      'b/mcp.yaml': list(pool('master'), pool('worker')),
      'c/mcp-again.yaml': list(pool('master')),
      'a.json': setting('1'),
      'b.json': setting('2'),
    })
    expect((await told(folder)).code).toBe(0)
  })
})

test('the must-gather of OpenShift Virtualization is read alone, and beside that of OpenShift', async () => {
  const virtualization = 'must-gather.local.2/cnv'
  const ofNamespace = `${virtualization}/namespaces/openshift-cnv`
  const files = {
    [`${virtualization}/timestamp`]: '2026-11-20 12:20:00.5 +0000 UTC m=+0.1\n',
    [`${ofNamespace}/crs/kubevirts.kubevirt.io/kubevirt.yaml`]: inCnv(
      'kubevirt.io/v1',
      'KubeVirt',
      'kubevirt',
    ),
    [`${ofNamespace}/crs/other.example.com/x.yaml`]: 'not: [read',
    [`${ofNamespace}/kubevirt.io/virtualmachines/custom/db.yaml`]: inCnv(
      'kubevirt.io/v1',
      'VirtualMachine',
      'db',
    ),
    [`${virtualization}/cluster-scoped-resources/nodes.config.openshift.io/x.yaml`]: 'not: [read',
    [`${ofNamespace}/subscriptions`]: ['hco', 'other']
      .map((name) =>
        [
          'apiVersion: operators.coreos.com/v1alpha1',
          'kind: Subscription',
          `metadata: { name: ${name} }`,
        ].join('\n'),
      )
      .join('\n---------------\n'),
    [inGather('core/nodes.yaml')]: list(...nodes('worker', 1, { revision: '100' })),
    [`${virtualization}/cluster-scoped-resources/core/nodes.yaml`]: list(
      ...nodes('worker', 1, { revision: '101' }),
    ),
  }
  const alone = Object.fromEntries(Object.entries(files).filter(([name]) => name.startsWith(virtualization)))
  for (const folder of [dump(alone), dump({ ...gathered(idle, '2026-11-20 12:07:11'), ...files })]) {
    const { reader, takenAt, passedOver = [] } = await readSaved(folder)
    expect(takenAt).toEqual(new Date('2026-11-20T12:20:00Z'))
    expect(passedOver.filter(({ file }) => file.includes('cnv'))).toEqual([])
    expect(await reader.list(KubeVirts)).toHaveLength(1)
    expect(await reader.list(VirtualMachines)).toHaveLength(1)
    expect(await reader.list(Subscriptions)).toHaveLength(2)
    const [seen] = await reader.list(Nodes)
    expect(seen?.metadata.resourceVersion).toBe('101')
  }
})
