import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { makeEusPlan } from '../../../../src/lib/eus/plan/eus-planner.ts'
import { evidenceOf, found, itemIn } from './evidence-of.ts'

/** Nothing speaks against it but what is said of every such cluster. */
const good = '4.18-to-4.20-with-a-graph'
/** The cluster shows its next hop alone, of platform and operator. */
const always = {
  'approval-automatic': 'info',
  'path-unknown': 'not-checked',
  'operator-path-unknown': 'not-checked',
}

const unknown = { known: false, why: 'forbidden' } as const

const condition = (type: string, status: 'True' | 'False' | 'Unknown') => ({
  type,
  status,
  reason: 'Because',
  message: 'it says so',
})

function set(of: { status?: { conditions?: { type: string }[] } }, one: ReturnType<typeof condition>): void {
  const conditions = of.status?.conditions ?? []
  const at = conditions.findIndex(({ type }) => type === one.type)
  conditions.splice(at < 0 ? conditions.length : at, at < 0 ? 0 : 1, one)
}

interface Row {
  name: string
  /** Values by their path in what is seen of the cluster. */
  set: Record<string, unknown>
  /** What is found besides. */
  finds: Record<string, string>
}

const rows = JSON.parse(readFileSync('test/examples/eus/changed.json', 'utf8')) as Row[]

test.each(rows)('$name', async ({ set: values, finds }) => {
  const snapshot = await evidenceOf(good)
  expect(found(snapshot)).toEqual(always)
  for (const [path, value] of Object.entries(values)) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    const above = names.reduce<object>((at, name) => at[name as never], snapshot)
    Object.assign(above, { [last]: value })
  }
  const besides = Object.fromEntries(Object.entries(found(snapshot)).filter(([id]) => !(id in always)))
  expect(besides).toEqual(finds)
})

test('night E9: each old NodeMaintenance gets its standalone object, in the order that keeps the node held', async () => {
  const { findings } = makeEusPlan(await evidenceOf('4.10-to-4.12'))
  const { remedy = [] } = findings.find(({ id }) => id === 'node-maintenance-old') ?? {}
  expect(remedy[0]).toContain('install the Node Maintenance Operator')
  const object: unknown = JSON.parse(/echo '(?<json>[^']+)'/u.exec(remedy[1] ?? '')?.groups?.['json'] ?? '')
  expect(object).toEqual({
    apiVersion: 'nodemaintenance.medik8s.io/v1beta1',
    kind: 'NodeMaintenance',
    metadata: { name: 'maint-worker-1' },
    spec: { nodeName: 'worker-1', reason: 'disk is replaced' },
  })
  expect(remedy[2]).toMatch(/^delete the old NodeMaintenance maint-worker-1 /u)
  const carried = await evidenceOf('4.10-to-4.12')
  const [held] = carried.oldMaintenances.known ? carried.oldMaintenances.items : []
  const half = { ...carried, maintenances: { known: true, items: [held] } } as typeof carried
  expect(makeEusPlan(half).findings.find(({ id }) => id === 'node-maintenance-old')?.remedy).toEqual([
    remedy[2],
  ])
  const later = await evidenceOf('4.12-to-4.14')
  const old = itemIn((await evidenceOf('4.10-to-4.12')).oldMaintenances)
  expect(found({ ...later, oldMaintenances: { known: true, items: [old] } })).not.toHaveProperty(
    'node-maintenance-old',
  )
})

test('night E9: at 4.11 the old objects are told still, and stop no hop any more', async () => {
  const snapshot = await evidenceOf('4.10-to-4.12')
  const text = JSON.stringify(snapshot.platform.clusterVersion)
  const at = JSON.parse(text.replaceAll(/4\.10\.\d+/gu, '4.11.9')) as typeof snapshot.platform.clusterVersion
  expect(found(snapshot)).toMatchObject({ 'node-maintenance-old': 'blocker' })
  const later = { ...snapshot, platform: { ...snapshot.platform, clusterVersion: at } }
  expect(found(later, { to: '4.12' })).toMatchObject({ 'node-maintenance-old': 'warning' })
})

test('CNV-38746: VMs on networks of type cnv-bridge are told in front of the drains, and others are not', async () => {
  const snapshot = await evidenceOf('4.12-to-4.14')
  expect(found(snapshot)).not.toHaveProperty('bridge-networks')
  const config = JSON.stringify({ type: 'cnv-bridge' })
  const network = {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'demo', name: 'br1' },
    spec: { config },
  }
  Object.assign(snapshot, { bridgeNetworks: { known: true, items: [network] } })
  expect(found(snapshot)).not.toHaveProperty('bridge-networks')
  itemIn(snapshot.instances).networks.set('demo/br1', { count: 1, names: ['demo/web-1'] })
  expect(found(snapshot)).toMatchObject({ 'bridge-networks': 'warning' })
})

test('night E7: what would replace nodes is paused as well, unless somebody has', async () => {
  const snapshot = await evidenceOf('4.18-to-4.20')
  expect(makeEusPlan(snapshot).healthChecks).toEqual([
    { kind: 'MachineHealthCheck', namespace: 'openshift-machine-api', name: 'workers', paused: false },
  ])
  Object.assign(itemIn(snapshot.platform.machineHealthChecks).metadata, {
    annotations: { 'cluster.x-k8s.io/paused': '' },
  })
  expect(makeEusPlan(snapshot).healthChecks).toMatchObject([{ paused: true }])
})

test('night E10: a single node has no window, and its VMs an outage', async () => {
  const snapshot = await evidenceOf('compact')
  const [node] = snapshot.platform.nodes.known ? snapshot.platform.nodes.items : []
  Object.assign(snapshot.platform, { nodes: { known: true, items: [node] } })
  const { mode, findings } = makeEusPlan(snapshot)
  expect(mode).toBe('rolling')
  expect(findings.find(({ id }) => id === 'no-window')?.summary).toContain(
    'each is down while the node reboots',
  )
})

test('night E12: what VMs will do is said with the plan', async () => {
  const { notes } = makeEusPlan(await evidenceOf('4.18-to-4.20'))
  expect(notes).toContain('At the end KubeVirt live-migrates 1 VM, leaves 1 outdated (counted now)')
})

test('a window that is open is judged by its steps: findings are told and stop nobody, but a pool that somebody else paused', async () => {
  const snapshot = await evidenceOf('mid-window')
  set(itemIn(snapshot.platform.clusterVersion), condition('Failing', 'True'))
  set(itemIn(snapshot.hyperconverged), condition('Progressing', 'True'))
  expect(found(snapshot)).toMatchObject({
    'platform-not-steady': 'warning',
    'hyperconverged-not-good': 'warning',
  })
  const overrides = snapshot.overrides.known ? snapshot.overrides.items : []
  const without = overrides.filter(({ id }) => id !== 'pool-paused/gpu')
  expect(found({ ...snapshot, overrides: { known: true, items: without } })).toMatchObject({
    'pool-paused-already': 'blocker',
  })
})

test('trap 2: methods that are lent are taken from the journal, not from the empty list that holds now', async () => {
  const plan = makeEusPlan(await evidenceOf('mid-window'))
  expect(plan.methods).toEqual(['LiveMigrate'])
  expect(plan.pools).toMatchObject([
    { name: 'gpu', pausedByKvup: true, paused: false },
    { name: 'worker', pausedByKvup: true, paused: false },
  ])
})

test('night E8: an operator that no table knows is not called out of step, and it is said', async () => {
  const snapshot = await evidenceOf('okd-4.19')
  Object.assign(itemIn(snapshot.hyperconverged).status ?? {}, {
    versions: [{ name: 'operator', version: '1.99.0' }],
  })
  const plan = makeEusPlan(snapshot, { releases: { hyperconverged: [] } })
  expect(plan.findings.map(({ id }) => id)).not.toContain('version-in-step')
  expect(plan.unknown.join()).toContain('which minor of the platform the operator 1.99.0 belongs to')
})

test('night E8: one that no row knows is out of step where a minor before it is that of the platform', async () => {
  const snapshot = await evidenceOf('okd-4.19')
  Object.assign(itemIn(snapshot.hyperconverged).status ?? {}, {
    versions: [{ name: 'operator', version: '1.99.0' }],
  })
  expect(makeEusPlan(snapshot).findings).toContainEqual(
    expect.objectContaining({
      id: 'version-in-step',
      level: 'blocker',
      summary: expect.stringContaining('is newer than 1.15, which belongs to platform 4.19') as string,
    }),
  )
})

test('methods that could not be read are not "none"', async () => {
  const snapshot = await evidenceOf(good)
  const plan = makeEusPlan({ ...snapshot, methods: unknown })
  expect(plan).toMatchObject({ methods: [], methodsUnknown: true })
  expect(plan.findings.map(({ id }) => id)).not.toContain('methods-empty-without-override')
  expect(makeEusPlan(snapshot)).not.toHaveProperty('methodsUnknown')
})

test('trap 17: what kube-apiserver says of its next minor wins over the table, in both directions', async () => {
  const snapshot = await evidenceOf('mid-window-by-hand')
  expect(found(snapshot, { to: '4.22' })).toMatchObject({ 'kubelets-too-old': 'blocker' })
  set(itemIn(snapshot.platform.clusterOperators, 2), condition('Upgradeable', 'True'))
  const ids = Object.keys(found(snapshot, { to: '4.22' }))
  expect(ids).not.toContain('kubelets-too-old')
  expect(ids).not.toContain('window-too-long')
  // What is let through is judged like any other way.
  expect(ids).toContain('path-unknown')
})
