import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { systemClock } from '../../../src/lib/kube/clock.ts'
import { Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts, VirtualMachines } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ClusterVersions } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { Subscriptions } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { readSaved } from '../../../src/lib/kube/saved/saved-file.ts'
import type { StatusReport } from '../../../src/lib/status/status-report.ts'
import { runText } from '../run-text.ts'

const offline = { cluster: {} as Cluster, clock: systemClock }
type Files = Readonly<Record<string, string>>

const platform = JSON.parse(readFileSync('test/examples/rollouts/idle.json', 'utf8')) as KubeObject[]
const of = (kind: string, name = '') =>
  platform.filter((one) => one.kind === kind && one.metadata.name.startsWith(name))
const list = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
const object = (apiVersion: string, kind: string, metadata: object, more: object = {}) =>
  JSON.stringify({ apiVersion, kind, metadata, ...more })
/** Its workers, as they were seen at another time. */
function workers(resourceVersion: string, lastHeartbeatTime = '2026-11-20T12:00:00Z'): string {
  const nodes = structuredClone(of('Node', 'worker')) as (KubeObject & {
    status?: { conditions: object[] }
  })[]
  for (const { metadata, status } of nodes) {
    Object.assign(metadata, { resourceVersion })
    Object.assign(status?.conditions[0] ?? {}, { lastHeartbeatTime })
  }
  return list(nodes)
}

function dump(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'kvup-dump-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
const whole = (more: Files = {}) => dump({ 'all.yaml': list(platform), ...more })

interface Told extends Pick<StatusReport, 'layers' | 'overall'> {
  takenAt: string
  saved?: { passedOver?: { file: string; why: string }[] }
  platform?: { alerts?: object[] }
}

async function told(folder: string) {
  const { code, out, err } = await runText(['status', '--from', folder], offline)
  const json = await runText(['status', '--from', folder, '-o', 'json'], offline)
  const document = JSON.parse(json.out) as Told
  const verdicts = Object.fromEntries((document.layers ?? []).map(({ title, verdict }) => [title, verdict]))
  return { code, text: out + err, document, verdicts, passedOver: document.saved?.passedOver ?? [] }
}

const foreign = {
  'rules.json': JSON.stringify({ status: 'success', data: { groups: [{ name: 'x', rules: [] }] } }),
  'etcd/endpoint_health.json': JSON.stringify([{ endpoint: 'https://10.0.0.4:2379', health: true }]),
  'pods/current.yaml': 'I1120 12:00:00 not: [yaml',
  'empty.json': '',
}

describe('files of others', () => {
  test('in a folder are read around, and said', async () => {
    const { code, verdicts, passedOver, text } = await told(whole(foreign))
    expect([code, verdicts['platform']]).toEqual([0, 'Healthy'])
    expect(passedOver).toMatchObject([
      { file: 'empty.json', why: expect.stringContaining('empty') },
      { file: 'etcd/endpoint_health.json', why: 'it has no Kubernetes objects' },
      { file: 'pods/current.yaml', why: expect.stringContaining('line 1') },
      { file: 'rules.json' },
    ])
    expect(text).toContain('passed over 1 more')
  })

  test('alone, or as a single file, are refused', async () => {
    await expect(readSaved(dump(foreign), 'platform')).rejects.toThrow(/empty\.json:1: it is empty/u)
    await expect(readSaved(`${dump(foreign)}/rules.json`, 'platform')).rejects.toThrow(/lacks apiVersion/u)
  })
})

test.each([
  ['MachineConfigPool', 'pool worker'],
  ['ClusterOperator', 'operators'],
])('a dump of each %s alone is judged by it, and the rest is not known', async (kind, title) => {
  const objects = structuredClone(of(kind)) as (KubeObject & { spec: object })[]
  for (const { metadata, spec } of objects)
    if (metadata.name === 'worker') Object.assign(spec, { paused: true, configuration: { name: 'b' } })
  const folder = dump({ 'a.yaml': list(objects) })
  const { code, verdicts, text } = await told(folder)
  expect([code, verdicts['platform']]).toEqual([0, 'Unknown'])
  expect(verdicts[title]).not.toBe('Unknown')
  const eus = await runText(['eus', 'status', '--from', folder], offline)
  expect(eus.code).not.toBe(7)
  expect(text + eus.out + eus.err).not.toContain('rbac')
})

test('what only reads KubeVirt says which command judges a dump of the platform', async () => {
  const { err } = await runText(['check', '--from', whole()], offline)
  expect(err).toMatch(
    /it has no KubeVirt[\s\S]*kvup status --from \S*kvup-dump-\S+ +(?:# )?shows the platform/u,
  )
})

const image = 'quay-io-openshift-release-dev-ocp-v4-0-art-dev-sha256-0a1b'
const inGather = (kind: string) => `must-gather.local.1/${image}/cluster-scoped-resources/${kind}`
const ofNamespace = `must-gather.local.1/${image}/namespaces/openshift-cnv`
const pod = { name: 'virt-api-1', namespace: 'openshift-cnv' }

/** As `oc adm must-gather` lays it down: an object in a file of its own, or the list of all. */
const gathered = (at = '2026-11-20 12:07:11', more: Files = {}) => ({
  'must-gather.local.1/timestamp': `2026-11-20 11:58:01.5 +0000 UTC m=+0.1\n${at} +0000 UTC m=+90.1\n`,
  'must-gather.local.1/event-filter.html': '<html>',
  [`must-gather.local.1/${image}/version`]: 'openshift/must-gather\n4.14.1\n',
  [`must-gather.local.1/${image}/monitoring/prometheus/rules.json`]: foreign['rules.json'],
  [inGather('config.openshift.io/clusterversions/version.yaml')]:
    `---\n${JSON.stringify(of('ClusterVersion')[0])}`,
  [inGather('config.openshift.io/clusteroperators.yaml')]: list(of('ClusterOperator')),
  [inGather('config.openshift.io/oauths.yaml')]: 'not: [read',
  ...Object.fromEntries(
    of('MachineConfigPool').map((one) => [
      inGather(`machineconfiguration.openshift.io/machineconfigpools/${one.metadata.name}.yaml`),
      JSON.stringify(one),
    ]),
  ),
  [`${ofNamespace}/core/pods.yaml`]: JSON.stringify({
    apiVersion: 'v1',
    kind: 'PodList',
    items: [{ metadata: { ...pod, resourceVersion: '5' } }],
  }),
  [`${ofNamespace}/pods/virt-api-1/virt-api-1.yaml`]: object('v1', 'Pod', { ...pod, resourceVersion: '6' }),
  [`${ofNamespace}/pods/virt-api-1/x/logs/current.log`]: 'a log',
  ...more,
})

const firing = (state: string) => ({
  labels: { alertname: 'etcdNoLeader', severity: 'critical', namespace: 'openshift-etcd' },
  annotations: {},
  state,
  activeAt: '2026-11-20T11:40:00Z',
  value: '1e+00',
})
const alerting = (...alerts: object[]) => ({ name: 'x', type: 'alerting', state: 'firing', alerts })
const recording = { name: 'record', type: 'recording', query: 'up' }
const named = (name: string) => ({ name, namespace: 'openshift-cnv' })
const subscription = (name: string) =>
  `apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: { name: ${name} }`
const onDay = (day: string) =>
  Object.entries(gathered(`2026-11-${day} 12:07:11`)).map(([name, text]) => [`${day}/${name}`, text] as const)
const setting = (value: string) => object('example.com/v1', 'Setting', { name: 'a' }, { spec: { value } })

describe('a must-gather', () => {
  test('is read as it lies, as of its own timestamp, by whatever path it is named', async () => {
    const folder = dump(gathered('2026-11-20 12:07:11.25'))
    const { code, document, verdicts, passedOver } = await told(folder)
    expect([code, document.takenAt]).toEqual([0, '2026-11-20T12:07:11.000Z'])
    expect(verdicts).toMatchObject({ platform: 'Healthy', 'pool worker': 'Healthy' })
    expect(passedOver).toMatchObject([{ file: expect.stringContaining('rules.json') }])
    const { takenAt, reader } = await readSaved(`./${relative(process.cwd(), folder)}/`, 'platform')
    expect(takenAt).toEqual(new Date('2026-11-20T12:07:11Z'))
    expect(await reader.list(Pods, { namespace: 'openshift-cnv' })).toHaveLength(1)
    await expect(reader.list(Pods, { namespace: 'kubevirt' })).rejects.toThrow(/does not contain/u)
  })

  test.each(['clusterversions/version.yaml', 'clusteroperators.yaml', 'machineconfigpools'])(
    'without %s: that is not known, and the rest is told',
    async (missing) => {
      const files = Object.entries(gathered()).filter(([name]) => !name.includes(missing))
      const { code, document, verdicts } = await told(dump(Object.fromEntries(files)))
      expect([code, document.overall?.verdict]).toEqual([0, 'Healthy'])
      expect(Object.values(verdicts)).toContain('Unknown')
    },
  )

  const etcd = { name: 'etcdNoLeader', severity: 'critical', namespace: 'openshift-etcd' }

  test.each<readonly [string, object[], object[] | undefined]>([
    [
      'those that fire',
      [recording, alerting(firing('firing')), alerting(firing('pending')), alerting()],
      [etcd],
    ],
    ['rules of which none fires', [alerting()], []],
    ['rules that only record tell nothing of alerts', [recording], undefined],
  ])('has its alerts in the rules of its Prometheus: %s', async (_, rules, alerts) => {
    const text = JSON.stringify({ status: 'success', data: { groups: [{ name: 'etcd', rules }] } })
    const files = gathered(undefined, {
      [`must-gather.local.1/${image}/monitoring/prometheus/rules.json`]: text,
    })
    const { document, passedOver } = await told(dump(files))
    expect(document.platform?.alerts).toEqual(alerts)
    expect(passedOver).toHaveLength(alerts === undefined ? 1 : 0)
  })

  test('of OpenShift Virtualization is read alone, and beside that of OpenShift, although each saw another state of a node', async () => {
    const virtualization = 'must-gather.local.2/cnv'
    const own = `${virtualization}/namespaces/openshift-cnv`
    const files = {
      [`${virtualization}/timestamp`]: '2026-11-20 12:20:00.5 +0000 UTC m=+0.1\n',
      [`${own}/crs/kubevirts.kubevirt.io/kubevirt.yaml`]: object(
        'kubevirt.io/v1',
        'KubeVirt',
        named('kubevirt'),
      ),
      [`${own}/crs/other.example.com/x.yaml`]: 'not: [read',
      [`${own}/kubevirt.io/virtualmachines/custom/db.yaml`]: object(
        'kubevirt.io/v1',
        'VirtualMachine',
        named('db'),
      ),
      [`${virtualization}/cluster-scoped-resources/nodes.config.openshift.io/x.yaml`]: 'not: [read',
      [`${own}/subscriptions`]: ['hco', 'other'].map(subscription).join('\n---------------\n'),
      [`${virtualization}/cluster-scoped-resources/core/nodes.yaml`]: workers('101'),
    }
    for (const folder of [
      dump(files),
      dump(gathered(undefined, { ...files, [inGather('core/nodes.yaml')]: workers('100') })),
    ]) {
      const { reader, takenAt, passedOver = [] } = await readSaved(folder)
      expect(takenAt).toEqual(new Date('2026-11-20T12:20:00Z'))
      expect(passedOver.filter(({ file }) => file.includes('cnv'))).toEqual([])
      const counts = [KubeVirts, VirtualMachines, Subscriptions].map(
        async (kind) => (await reader.list<KubeObject>(kind)).length,
      )
      expect(await Promise.all(counts)).toEqual([1, 1, 2])
      expect((await reader.list(Nodes))[0]?.metadata.resourceVersion).toBe('101')
    }
    const { reader } = await readSaved(dump({ ...gathered(), ...files }), 'platform')
    expect(await reader.list(ClusterVersions)).toHaveLength(1)
  })
})

describe('a folder of several moments or clusters is no cluster', () => {
  const old = workers('101', '2026-10-31T12:00:00Z')
  const ofOther = structuredClone(of('ClusterOperator'))
  for (const { metadata } of ofOther) {
    const owner = { apiVersion: 'config.openshift.io/v1', kind: 'ClusterVersion', name: 'version', uid: 'x' }
    metadata.ownerReferences = [owner]
  }
  const rest = list(platform.filter(({ kind }) => kind !== 'ClusterOperator'))

  test.each<readonly [string, Files, RegExp]>([
    [
      'in a folder of their own',
      { 'all.yaml': list(platform), 'before/node.yaml': old },
      /more than one moment/u,
    ],
    ['beside one another', { 'all.yaml': list(platform), 'before-node.yaml': old }, /more than one moment/u],
    [
      'gathered on two days, though nothing contradicts',
      Object.fromEntries([...onDay('19'), ...onDay('20')]),
      /kvup status --from \S+\/20\/must-gather\.local\.1\S* +(?:# )?reads the newest/u,
    ],
    ['of two ClusterVersions', { 'all.yaml': rest, 'co.yaml': list(ofOther) }, /two clusters/u],
  ])('%s: exit 2, and what to do', async (_, files, why) => {
    const { code, err } = await runText(['status', '--from', dump(files)], offline)
    expect(code).toBe(2)
    expect(err).toMatch(why)
  })

  test('files that do not contradict one another are one, wherever they lie; what kvup never asks for contradicts nothing', async () => {
    const again = {
      'c/again.yaml': list(of('MachineConfigPool', 'master')),
      'a.json': setting('1'),
      'b.json': setting('2'),
    }
    expect((await told(whole(again))).code).toBe(0)
  })
})
