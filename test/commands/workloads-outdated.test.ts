import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type Cluster, type Page, type Reader, readerWith, type Where } from '../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  type PolicyRule,
  RoleBindings,
} from '../../src/lib/kube/kinds/extension-kinds.ts'
import { KubeVirts, VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { mixedVms } from '../../src/simulator/vm-shape.ts'
import { runText } from '../lib/run-text.ts'

const kubevirt = { name: 'kubevirt', namespace: 'kubevirt' }
const at = '2026-01-03T00:00:00Z'

/** Where an upgrade from v1.7.4 to v1.8.4 has just ended, held; nothing in it moves any more. */
async function upgraded(vms: Parameters<typeof simulate>[0]['vms']): Promise<SimulatedCluster> {
  const clock = new SimClock()
  const sim = await simulate({
    clock,
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    vms: vms ?? [],
  })
  await sim.cluster().writer.mergePatch(KubeVirts, kubevirt, { spec: { imageTag: 'v1.8.4' } })
  await clock.sleep(400_000)
  await sim.stop()
  return sim
}

const mixed = [
  ...mixedVms.filter(({ name }) => !name.startsWith('web-')),
  { name: 'web-1', namespace: 'shop' },
  { name: 'web-2', namespace: 'shop' },
]
let usual: SimulatedCluster
let sim: SimulatedCluster
beforeAll(async () => {
  usual = await upgraded(mixed)
})
beforeEach(async () => {
  sim = usual
  await set([])
  await status({ observedDeploymentID: await target(), outdatedVirtualMachineInstanceWorkloads: 7 })
})

async function target(): Promise<string> {
  const found = await sim.cluster().reader.get(KubeVirts, kubevirt)
  return (found.is === 'object' && found.object.status?.targetDeploymentID) || ''
}

const set = (methods: readonly string[]) =>
  sim.cluster().writer.mergePatch(KubeVirts, kubevirt, {
    spec: { workloadUpdateStrategy: { workloadUpdateMethods: [...methods] } },
  })
const status = (fields: object) =>
  sim.cluster().writer.mergePatch(KubeVirts, kubevirt, { status: fields }, 'status')

interface On {
  cluster?: Cluster
  columns?: number
}

async function run(line: string, { cluster = sim.cluster(), columns }: On = {}) {
  const place = { cluster, clock: new SimClock(at), ...(columns && { columns }) }
  return runText(line.split(' '), place)
}

const alert = 'alert OutdatedVirtualMachineInstanceWorkloads is firing: they have been outdated for 24 h'

test('some: each with its fate and why, and what helps those that stay', async () => {
  await set(['LiveMigrate', 'Evict'])
  const { code, out, err } = await run('workloads outdated')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const data = 'loses data on containerDisk root'
  const disk = 'not migratable: a disk is not shared (DisksNotLiveMigratable); Evict is on'
  expect(out.split('\n')).toEqual([
    '7 VMs run an old virt-launcher: 4 migrate, 1 restarts, 1 shuts down, 1 cannot migrate and needs its owner',
    alert,
    '',
    'NAMESPACE   NAME      NODE       LAUNCHER   AGE   OUTCOME      WHY',
    'demo        failing   worker-1   v1.7.4     2d    migrates     can be migrated',
    `demo        once      worker-2   v1.7.4     2d    shuts down   ${disk}; runStrategy RerunOnFailure does not restart it; ${data}`,
    `demo        pet       worker-3   v1.7.4     2d    restarts     ${disk}; runStrategy Always restarts it; ${data}`,
    'demo        slow      worker-1   v1.7.4     2d    migrates     can be migrated',
    'demo        stuck     worker-2   v1.7.4     2d    not moved    not migratable: a host device (HostDeviceNotLiveMigratable); evictionStrategy LiveMigrate forbids eviction',
    'shop        web-1     worker-3   v1.7.4     2d    migrates     can be migrated',
    'shop        web-2     worker-1   v1.7.4     2d    migrates     can be migrated',
    '',
    'Next: kvup workloads unblock stuck -n demo',
    '',
  ])
})

test('updates are off: what kvup can move, the common reason once, and what helps most of them', async () => {
  const { out } = await run('workloads outdated')
  const lines = out.split('\n')
  expect(lines.slice(0, 3)).toEqual([
    '7 VMs run an old virt-launcher: kvup can move 4 of them now, 3 cannot migrate and need their owners',
    'automatic VM updates are off: KubeVirt moves none of them',
    alert,
  ])
  expect(out.match(/automatic VM updates are off/gu)).toHaveLength(1)
  expect(out).toMatch(/^shop +web-1 .* kvup can move it +<none>$/mu)
  expect(out).toMatch(
    /^demo +stuck .* not moved +not migratable: a host device \(HostDeviceNotLiveMigratable\)$/mu,
  )
  expect(lines.at(-2)).toBe('Next: kvup workloads update')
  expect((await run('workloads outdated -q')).out).toBe(`${lines[0]}\n`)
})

test('of a part of the VMs it says of how many; where none can migrate no update is offered', async () => {
  await sim
    .cluster()
    .writer.mergePatch(
      VirtualMachineInstances,
      { name: 'web-1', namespace: 'shop' },
      { metadata: { labels: { 'kubevirt.io/outdatedLauncherImage': null } } },
    )
  expect((await run('workloads outdated')).out).toMatch(/^6 of 7 VMs run an old virt-launcher: /u)
  await sim
    .cluster()
    .writer.mergePatch(
      VirtualMachineInstances,
      { name: 'web-1', namespace: 'shop' },
      { metadata: { labels: { 'kubevirt.io/outdatedLauncherImage': '' } } },
    )
  const stuck = await run('workloads outdated --node worker-2 -n demo')
  expect(stuck.out).toMatch(
    /^2 VMs in namespace demo on node worker-2 run .*: 2 cannot migrate and need their owners$/mu,
  )
  expect(stuck.out).toMatch(/^Next: kvup workloads outdated -n demo --node worker-2 -o wide .*data/mu)
})

test('as a document: the reasons with their ids, the condition as it is, the strategy with its origin', async () => {
  await set(['LiveMigrate'])
  const { out } = await run('workloads outdated -o json --exit-code -l kubevirt.io/vm=stuck')
  const { items, ...rest } = JSON.parse(out) as { items: object[] }
  expect(items).toMatchObject([
    {
      namespace: 'demo',
      name: 'stuck',
      node: 'worker-2',
      launcher: { image: 'quay.io/kubevirt/virt-launcher:v1.7.4', version: 'v1.7.4', old: false },
      migratable: { status: 'False', reason: 'HostDeviceNotLiveMigratable' },
      evictionStrategy: { value: 'LiveMigrate', from: 'vmi' },
      outcome: 'stays',
      why: [{ id: 'not-migratable' }],
      remedy: ['virtctl restart stuck -n demo     restarts the guest; containerDisk root is lost'],
    },
  ])
  expect(rest).toMatchObject({
    methods: ['LiveMigrate'],
    selection: { labels: 'kubevirt.io/vm=stuck' },
    totals: { total: 1, byOutcome: { stays: 1 } },
    next: 'virtctl restart stuck -n demo     restarts the guest; containerDisk root is lost',
    status: 'complete',
  })
  expect(rest).not.toHaveProperty('count')
})

test.each([
  ['-n shop', ['web-1', 'web-2']],
  ['-n shop -A', ['failing', 'once', 'pet', 'slow', 'stuck', 'web-1', 'web-2']],
  ['--node worker-3', ['pet', 'web-1']],
  ['-l kubevirt.io/vm=pet', ['pet']],
  ['-n shop --node worker-1 -l kubevirt.io/vm!=web-1', ['web-2']],
])('contract: -n is the VMs’ namespace, and the server narrows: %s', async (flags, names) => {
  const asked: Where[] = []
  const { reader, ...rest } = sim.cluster()
  const { code, out } = await run(`workloads outdated -o name --exit-code ${flags}`, {
    cluster: {
      ...rest,
      reader: listening(reader, (kind, where) => kind === VirtualMachineInstances && asked.push(where)),
    },
  })
  expect([code, out]).toEqual([
    10,
    names.map((name) => `virtualmachineinstance.kubevirt.io/${name}\n`).join(''),
  ])
  expect(asked.map(({ labels }) => labels?.split(',')[0])).toEqual(['kubevirt.io/outdatedLauncherImage'])
})

test.each([
  ['-n nosuch', 2, 'there is no namespace nosuch'],
  ['--node nosuch', 2, 'there is no node nosuch'],
  ['-l no=such', 3, 'no running VM has the labels no=such'],
  ['-n demo -l no=such', 3, 'no running VM has the labels no=such'],
])('16.8 outdated --exit-code is not 0 for what is not there: %s', async (flags, code, says) => {
  const asked = await run(`workloads outdated --exit-code ${flags}`)
  expect({ code: asked.code, err: asked.err }).toEqual({ code, err: expect.stringContaining(says) as string })
  expect((await run(`workloads outdated ${flags}`)).code).toBe(0)
})

test.each(['json', 'name', 'github'])(
  'a program that reads -o %s is told of a namespace that is not there: exit 2',
  async (output) => {
    const { code, err } = await run(`workloads outdated -n nosuch -o ${output}`)
    expect([code, err]).toEqual([2, expect.stringContaining('there is no namespace nosuch')])
    expect((await run(`workloads outdated -n kubevirt -o ${output}`)).code).toBe(0)
    const moving = await run('workloads migrations -n nosuch -o json')
    expect([moving.code, JSON.parse(moving.out)]).toMatchObject([2, { error: { reason: 'no-such-place' } }])
  },
)

test.each(['', '-n demo '])(
  '16.8 a typo in --canary-label drops no canary: it is said, and nothing is moved: %s',
  async (flags) => {
    const mark = sim.store.audit.length
    const { code, err } = await run(`workloads update --yes ${flags}--canary-label tier=tset`)
    expect(code).toBe(2)
    expect(err).toMatch(
      /no running VM(?: in namespace demo)? has the labels tier=tset \(--canary-label\): there would be no canary/u,
    )
    expect(
      sim.store.audit
        .slice(mark)
        .filter(({ verb, resource }) => verb === 'create' && resource === 'virtualmachineinstancemigrations'),
    ).toEqual([])
  },
)

test('none: exit 0 whatever is asked for, and a list that is empty', async () => {
  sim = await upgraded([])
  expect(await run('workloads outdated --exit-code')).toEqual({ code: 0, out: 'no outdated VMs\n', err: '' })
  expect((await run('workloads outdated -n kubevirt')).out).toBe('no outdated VMs in namespace kubevirt\n')
  expect(JSON.parse((await run('workloads outdated -o json')).out)).toMatchObject({
    items: [],
    totals: { total: 0 },
  })
  expect((await run('workloads outdated --node nope')).out).toBe(
    'no outdated VMs on node nope\n! there is no node nope\n',
  )
})

test('while KubeVirt is updating none is not none', async () => {
  await status({ observedDeploymentID: 'older', outdatedVirtualMachineInstanceWorkloads: 0 })
  const { reader, ...rest } = sim.cluster()
  const nobody = readerWith(reader, {
    pages: (kind, where) => (kind === VirtualMachineInstances ? none() : reader.pages(kind, where)),
  })
  const { out } = await run('workloads outdated', { cluster: { ...rest, reader: nobody } })
  expect(out.split('\n')).toEqual([
    'no VM is labelled outdated yet',
    '! KubeVirt is being updated: it finds and moves more VMs after that',
    '',
  ])
})

test('held by kvup: who holds it, that the alert is expected, and what gives it back', async () => {
  sim = await upgraded(mixed.slice(-2))
  await set(['LiveMigrate'])
  const place = { cluster: sim.cluster(), clock: new SimClock(at) }
  await runText('workloads pause-updates --yes'.split(' '), place)
  const { out } = await run('workloads outdated')
  const lines = out.split('\n')
  expect(lines.slice(0, 3)).toEqual([
    '2 VMs run an old virt-launcher: kvup can move all of them now',
    'automatic VM updates are paused by admin@host for 0 s: KubeVirt moves nothing',
    `${alert}; this is expected while automatic VM updates are paused`,
  ])
  expect(lines.at(-2)).toBe('Next: kvup workloads update --canary 1')
})

test('more than a screen: every row, one heading, nothing wider than the terminal, the verdict first and once more below', async () => {
  sim = await upgraded(60)
  await set(['LiveMigrate'])
  const lines = (await run('workloads outdated', { columns: 80 })).out.trimEnd().split('\n')
  expect(lines.filter((line) => line.startsWith('NAMESPACE'))).toHaveLength(1)
  expect(lines.filter((line) => line.startsWith('demo'))).toHaveLength(60)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  const verdict = '60 VMs run an old virt-launcher: 60 migrate'
  expect(lines[0]).toBe(verdict)
  expect(lines.slice(-2)).toEqual([verdict, 'Next: kvup workloads migrations'])
})

test('-o wide, which no verdict heads, prints rows as their pages arrive', async () => {
  const { reader, ...rest } = sim.cluster()
  const second = Promise.withResolvers<void>()
  const slow = readerWith(reader, {
    pages: (kind, where) =>
      kind === VirtualMachineInstances
        ? inTwo(reader.pages(kind, where), second.promise)
        : reader.pages(kind, where),
  })
  let out = ''
  const running = runText('workloads outdated -o wide'.split(' '), {
    cluster: { ...rest, reader: slow },
    clock: new SimClock(at),
    onOut: (text) => (out += text),
  })
  await expect.poll(() => out).toContain('failing')
  expect(out).not.toContain('web-1')
  second.resolve()
  await running
  expect(out).toContain('web-1')
})

/** What jane may besides reading VMIs. */
const most: PolicyRule[] = [
  { apiGroups: ['', 'apps', 'coordination.k8s.io'], resources: ['*'], verbs: ['*'] },
  { apiGroups: ['kubevirt.io'], resources: ['kubevirts', 'virtualmachineinstancemigrations'], verbs: ['*'] },
]

let users = 0

/** Somebody who may that in all namespaces and that in `demo`. */
async function jane(everywhere: PolicyRule[], inDemo: PolicyRule[]): Promise<Cluster> {
  const { writer } = sim.cluster()
  const user = `jane-${++users}`
  const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }]
  const apiVersion = ClusterRoles.apiVersion
  for (const [kind, namespace, rules] of [
    [ClusterRoleBindings, undefined, everywhere],
    [RoleBindings, 'demo', inDemo],
  ] as const) {
    const name = `${user}-${kind.plural}`
    await writer.create(ClusterRoles, { apiVersion, kind: 'ClusterRole', metadata: { name }, rules })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const metadata = { name, ...(namespace && { namespace }) }
    await writer.create(kind, { apiVersion, kind: kind.kind, metadata, roleRef, subjects })
  }
  return sim.cluster({ user })
}
const vmis: PolicyRule[] = [
  {
    apiGroups: ['kubevirt.io'],
    resources: ['virtualmachineinstances', 'virtualmachines'],
    verbs: ['get', 'list'],
  },
]

test('contract: no rights in one namespace: what may be read, what may not, exit 7; with -n it works', async () => {
  await set(['LiveMigrate'])
  const cluster = await jane(most, vmis)
  const { code, out, err } = await run('workloads outdated', { cluster })
  expect(code).toBe(7)
  expect(out).toMatch(/^demo +failing .*migrate/mu)
  expect(out).toMatch(/^! virtualmachineinstances in namespace shop may not be read: .*jane/mu)
  expect(out).toMatch(/^5 VMs run an old virt-launcher: 2 migrate, 3 cannot migrate and need their owners$/mu)
  expect(out.trimEnd().split('\n').at(-1)).toBe(
    'Next: kvup workloads outdated -o wide     shows what helps each; a restart loses the data in the pods of 3 VMs',
  )
  expect(err).toContain('error: kvup may not read everything')
  expect(err).toContain('kvup rbac kvup-view | kubectl apply -f -')
  const document = JSON.parse((await run('workloads outdated -o json', { cluster })).out) as {
    items: object[]
  }
  expect(document.items).toHaveLength(5)
  expect(document).toMatchObject({ status: 'partial', error: { code: 7, reason: 'partly-unread' } })
  expect(document).not.toHaveProperty('count')
  expect((await run('workloads outdated -n demo', { cluster })).code).toBe(0)
  const shut = await run('workloads outdated -n shop -o json', { cluster })
  expect([shut.code, JSON.parse(shut.out)]).toMatchObject([
    7,
    { kind: 'OutdatedWorkloads', status: 'failed', error: { reason: 'forbidden' } },
  ])
})

test('where neither the namespaces nor all VMIs may be listed it says so, and is not none', async () => {
  const cluster = await jane([], vmis)
  const { code, out, err } = await run('workloads outdated', { cluster })
  expect({ code, out }).toEqual({ code: 7, out: '' })
  expect(err).toContain('virtualmachineinstances.kubevirt.io is forbidden')
  expect(err).toContain('kvup workloads outdated -n NAMESPACE')
})

test('of somebody who may read only the VMs of a namespace the rows come without a fate, exit 7', async () => {
  const cluster = await jane([], vmis)
  const { code, out } = await run('workloads outdated -n demo', { cluster })
  expect(code).toBe(7)
  expect(out).toMatch(/^demo +pet +worker-3 +v1.7.4 +2d +unknown +<none>$/mu)
  expect(out.match(/^!.*$/gmu)).toEqual([expect.stringMatching(/^! kubevirts may not be read: .*jane/u)])
  expect(out).toContain('5 VMs in namespace demo run an old virt-launcher: their outcome is unknown')
})

test('where VMs may not be read it is not claimed that one comes back', async () => {
  await set(['LiveMigrate', 'Evict'])
  const onlyVmis: PolicyRule[] = [
    { apiGroups: ['kubevirt.io'], resources: ['virtualmachineinstances'], verbs: ['list'] },
  ]
  const cluster = await jane([...most, ...onlyVmis], [])
  const { code, out } = await run('workloads outdated', { cluster })
  expect(code).toBe(7)
  expect(out).toMatch(/^demo +pet .*shuts down .*kvup may not read its VM: it may not restart/mu)
  expect(out).toMatch(/^! virtualmachines in namespace demo may not be read/mu)
})

const condition = (type: string) => ({ status: { conditions: [{ type, status: 'True' as const }] } })
const patch = (name: string, change: object) =>
  sim.cluster().writer.mergePatch(VirtualMachineInstances, { name, namespace: 'shop' }, change)
const asIfNew = { 'kubevirt.io/outdatedLauncherImage': null }

test('the label count beside KubeVirt’s own: hotplug, volumes, not labelled yet, not running, and the rest', async () => {
  const current = 'quay.io/kubevirt/virt-launcher:v1.8.4'
  sim = await upgraded(Array.from({ length: 6 }, (_, i) => ({ name: `vm-${i}`, namespace: 'shop' })))
  await set(['LiveMigrate'])
  const { count } = JSON.parse((await run('workloads outdated -o json')).out) as { count: object }
  expect(count).toEqual({
    reported: 6,
    labelled: 6,
    hotplug: 0,
    volumes: 0,
    unlabelled: 0,
    notRunning: 0,
    unexplained: 0,
  })
  for (const [name, type] of [
    ['vm-0', 'HotMemoryChange'],
    ['vm-1', 'VolumesChange'],
  ] as const) {
    const { status: now } = condition(type)
    await patch(name, {
      metadata: { labels: asIfNew },
      status: { ...now, launcherContainerImageVersion: current },
    })
  }
  await patch('vm-2', { metadata: { labels: asIfNew } })
  await patch('vm-3', { status: { phase: 'Succeeded' } })
  await status({ outdatedVirtualMachineInstanceWorkloads: 6 })
  const { out } = await run('workloads outdated')
  expect(out).toContain(
    'KubeVirt counts 6, 3 are labelled: 1 wait for a hotplug, which needs a migration; 1 wait for a migration of volumes; 1 not labelled yet; 1 labelled, but not running; KubeVirt updates its count every few seconds',
  )
  await status({ outdatedVirtualMachineInstanceWorkloads: 5 })
  expect((await run('workloads outdated')).out).not.toContain('rewritten')
  await status({ observedDeploymentID: 'older' })
  expect(JSON.parse((await run('workloads outdated -o json')).out)).toMatchObject({
    count: { stale: 'updating' },
    updating: true,
    next: 'kvup status',
  })
})

test('the other VMIs are listed only where the two counts differ', async () => {
  const asked: (string | undefined)[] = []
  const { reader, ...rest } = sim.cluster()
  const cluster = {
    ...rest,
    reader: listening(reader, (kind, where) => kind === VirtualMachineInstances && asked.push(where.labels)),
  }
  await run('workloads outdated', { cluster })
  expect(asked).toEqual(['kubevirt.io/outdatedLauncherImage'])
  await status({ outdatedVirtualMachineInstanceWorkloads: 99 })
  await run('workloads outdated', { cluster })
  expect(asked.slice(1)).toEqual(['kubevirt.io/outdatedLauncherImage', '!kubevirt.io/outdatedLauncherImage'])
})

test('--from says the same of a saved cluster', async () => {
  await set(['LiveMigrate', 'Evict'])
  const file = join(mkdtempSync(join(tmpdir(), 'kvup-')), 'cluster.ndjson')
  const live = await run('workloads outdated -o json -n demo')
  await run(`snapshot --to-file ${file}`)
  const saved = await run(`workloads outdated -o json -n demo --from ${file}`)
  expect(JSON.parse(saved.out)).toEqual(JSON.parse(live.out))
})

test.each([
  ['--node Node_1', /"Node_1" cannot be the name of a node/u],
  ['--node a,b', /"a,b" cannot be the name of a node/u],
  ['-l ==', /unable to parse requirement/u],
])('bad input: %s is exit 2 before the cluster is read', async (flags, words) => {
  const untouched = {
    get reader(): Reader {
      throw new Error('read')
    },
  } as Cluster
  const { code, err } = await run(`workloads outdated ${flags}`, { cluster: untouched })
  expect(code).toBe(2)
  expect(err).toMatch(words)
})

function listening(reader: Reader, heard: (kind: Kind, where: Where) => unknown): Reader {
  return readerWith(reader, {
    pages(kind, where = {}) {
      heard(kind, where)
      return reader.pages(kind, where)
    },
  })
}

async function* none<T extends KubeObject>(): AsyncGenerator<Page<T>> {
  yield { items: [], resourceVersion: '1' }
}

/** The same items in two pages, of which the second has to be let go. */
async function* inTwo<T extends KubeObject>(
  pages: AsyncIterable<Page<T>>,
  second: Promise<void>,
): AsyncGenerator<Page<T>> {
  for await (const { items, resourceVersion } of pages) {
    yield { items: items.slice(0, 2), resourceVersion }
    await second
    yield { items: items.slice(2), resourceVersion }
  }
}
