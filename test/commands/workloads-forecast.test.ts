import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Cluster, Reader } from '../../src/lib/kube/cluster.ts'
import { Nodes } from '../../src/lib/kube/kinds/core-kinds.ts'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { mixedVms, type VmShape } from '../../src/simulator/vm-shape.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { runText } from '../lib/run-text.ts'
import { fileIn } from './saved.ts'

const vms: readonly VmShape[] = [
  ...mixedVms.filter(({ name }) => !name.startsWith('web-')),
  { name: 'web-1', namespace: 'shop' },
  { name: 'off', namespace: 'shop', runStrategy: 'Halted' },
]
const clock = new SimClock('2026-01-03T00:00:00Z')
let sim: SimulatedCluster

let usual: SimulatedCluster

/** Nothing in it moves any more. */
async function still(): Promise<SimulatedCluster> {
  const methods = ['LiveMigrate', 'Evict']
  const made = await simulate({ clock: new SimClock(), version: 'v1.7.4', vms, methods, controlPlanes: 1 })
  await made.stop()
  return made
}

beforeAll(async () => {
  usual = await still()
})
beforeEach(() => {
  sim = usual
})

const run = (line: string, cluster: Cluster = sim.cluster(), files = {}) =>
  runText(line.split(' '), { cluster, clock, files })

const refusal = (plural: string) => new ApiError(403, 'Forbidden', `${plural} is forbidden`)

/** The same cluster, in which this user may not read some of it. */
function without(refused: (plural: string, namespace: string | undefined) => boolean): Cluster {
  const { reader, ...rest } = sim.cluster()
  const narrow: Partial<Reader> = {
    list: async (kind, where = {}) => {
      if (refused(kind.plural, where.namespace)) throw refusal(kind.plural)
      return reader.list(kind, where)
    },
    async *pages(kind, where = {}) {
      if (refused(kind.plural, where.namespace)) throw refusal(kind.plural)
      yield* reader.pages(kind, where)
    },
  }
  const narrowed = new Proxy(reader, {
    get: (all, name) => Reflect.get(narrow, name) ?? Reflect.get(all, name)?.bind(all),
  })
  return { ...rest, reader: narrowed }
}

test('before an upgrade: each VM with what becomes of it and why, what is down already, and how many of each', async () => {
  const { code, out, err } = await run('workloads forecast --to v1.8.4')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const data = 'loses data on containerDisk root'
  const disk = 'not migratable: a disk is not shared (DisksNotLiveMigratable); Evict is on'
  expect(out.split('\n')).toEqual([
    'NAMESPACE   NAME      NODE       OUTCOME      WHY',
    'demo        failing   worker-1   migrates     can be migrated',
    `demo        once      worker-2   shuts down   ${disk}; runStrategy RerunOnFailure does not restart it; ${data}`,
    `demo        pet       worker-3   restarts     ${disk}; runStrategy Always restarts it; ${data}`,
    'demo        slow      worker-1   migrates     can be migrated',
    'demo        stuck     worker-2   not moved    not migratable: a host device (HostDeviceNotLiveMigratable); evictionStrategy LiveMigrate forbids eviction',
    'shop        web-1     worker-3   migrates     can be migrated',
    'shop        off       <none>     is down      not running (runStrategy Halted); it starts with the new virt-launcher',
    '',
    'demo: 2 migrate, 1 restarts, 1 shuts down, 1 not moved',
    'shop: 1 migrates, 1 is down',
    'takes 4 s to 34 s once it has started',
    '7 VMs after v1.8.4: 3 migrate, 1 restarts, 1 shuts down, 1 not moved, 1 is down -> kvup plan --to v1.8.4',
    '',
  ])
})

test.each([
  [
    '--to v1.7.4',
    '1 VM after v1.7.4: 1 is down; 6 already on the new virt-launcher -> kvup plan --to v1.7.4',
  ],
  ['', '1 VM: 1 is down; 6 already on the new virt-launcher'],
  ['-n demo', 'no VM needs to be moved in namespace demo; 5 already on the new virt-launcher'],
  ['-n nowhere', 'no VM needs to be moved in namespace nowhere'],
])('where none has to be moved: %s', async (flags, last) => {
  const { code, out } = await run(`workloads forecast ${flags}`.trim())
  expect([code, out.trimEnd().split('\n').at(-1)]).toEqual([0, last])
})

test.each([
  ['--methods LiveMigrate', { migrates: 3, stays: 3, 'is down': 1 }],
  ['--methods none', { stays: 6, 'is down': 1 }],
  ['--methods Evict', { migrates: 3, restarts: 1, 'shuts down': 1, stays: 1, 'is down': 1 }],
])('what other methods would do: %s', async (flags, expected) => {
  const { out } = await run(`workloads forecast --to v1.8.4 ${flags} -o json`)
  const { totals, methodsFrom } = JSON.parse(out) as { totals: { byOutcome: object }; methodsFrom: string }
  const counts = Object.fromEntries(Object.entries(totals.byOutcome).filter(([, n]) => n > 0))
  expect([counts, methodsFrom]).toEqual([expected, 'flag'])
})

/** It runs the launcher of an older release. */
const grownOld = (one: SimulatedCluster) =>
  one.cluster().writer.mergePatch(
    VirtualMachineInstances,
    { namespace: 'demo', name: 'pet' },
    {
      status: { launcherContainerImageVersion: 'quay.io/kubevirt/virt-launcher:v1.6.0' },
    },
  )

const supposed = (methods: string) => `kvup workloads strategy set --methods ${methods} --dry-run=client`

test.each([
  ['', 'kvup workloads pause-updates'],
  [' --methods LiveMigrate,Evict', supposed('LiveMigrate,Evict')],
  [' --methods none', supposed('none')],
])('what is only supposed needs no hold: after workloads forecast%s comes %s', async (flags, next) => {
  sim = await still()
  await grownOld(sim)
  const { out } = await run(`workloads forecast${flags}`)
  expect(out.trimEnd().split(' -> ').at(-1)).toBe(next)
})

test('contract: while updates are held the methods that are given back decide, and it is said', async () => {
  const live = new SimClock()
  const held = await simulate({ clock: live, version: 'v1.7.4', vms, methods: ['LiveMigrate'] })
  const place = { cluster: held.cluster(), clock: live }
  await runText('workloads pause-updates --yes'.split(' '), place)
  const { out } = await runText('workloads forecast --to v1.8.4'.split(' '), place)
  await held.stop()
  await grownOld(held)
  const now = await runText('workloads forecast'.split(' '), place)
  expect(now.out.trimEnd().split(' -> ').at(-1)).toBe('kvup workloads update')
  expect(out).toContain('automatic VM updates are paused: this happens once they resume, with LiveMigrate\n')
  expect(out).toContain('7 VMs after v1.8.4: 3 migrate, 3 not moved, 1 is down')
})

interface Row {
  name: string
  outcome: string
  why: { id: string }[]
}

test('no rights in one namespace: the others, and exit 7', async () => {
  const ours = new Set(['virtualmachineinstances', 'virtualmachines'])
  const cluster = without((plural, namespace) => ours.has(plural) && namespace !== 'shop')
  const { code, out, err } = await run('workloads forecast --to v1.8.4 -o json', cluster)
  const { items, status, unread } = JSON.parse(out) as { items: Row[]; status: string; unread: object[] }
  expect([code, status, items.map(({ name }) => name)]).toEqual([7, 'partial', ['web-1', 'off']])
  expect(unread).toContainEqual({
    namespace: 'demo',
    what: 'virtualmachineinstances',
    why: 'virtualmachineinstances is forbidden',
  })
  expect(err).toContain('kvup may not read everything')
})

test.each([
  ['pods', 'the free room on nodes is not checked: pods is forbidden'],
  ['nodes', 'not checked: whether other nodes have room for the VMs: nodes is forbidden'],
  ['resourcequotas', 'quotas are not checked: resourcequotas is forbidden'],
  ['poddisruptionbudgets', 'PodDisruptionBudgets are not checked: poddisruptionbudgets is forbidden'],
  ['migrationpolicies', 'MigrationPolicies are not checked: migrationpolicies is forbidden'],
])('what may not be read is not judged, and said: %s', async (plural, remark) => {
  const { code, out } = await run(
    'workloads forecast --to v1.8.4',
    without((asked) => asked === plural),
  )
  expect(code).toBe(0)
  expect(out).toContain(`! ${remark}\n`)
  expect(out).toContain('3 migrate, 1 restarts, 1 shuts down')
})

test.each([
  ['--to 1.9', 'is not a full version'],
  ['--methods Livemigrate', 'is no workload update method'],
])('bad input is exit 2: %s', async (flags, why) => {
  const { code, out, err } = await run(`workloads forecast ${flags}`)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(why)
})

test.each([
  ['-n nosuch', 2, 'there is no namespace nosuch'],
  ['-l no=such', 3, 'no running VM has the labels no=such'],
])('16.7 forecast --exit-code is not 0 for what is not there: %s', async (flags, code, says) => {
  const asked = await run(`workloads forecast --exit-code ${flags}`)
  expect({ code: asked.code, err: asked.err }).toEqual({ code, err: expect.stringContaining(says) as string })
  expect((await run(`workloads forecast ${flags}`)).code).toBe(0)
})

test('every node is cordoned: nobody can leave', async () => {
  sim = await still()
  for (const name of ['worker-1', 'worker-2', 'worker-3'])
    await sim.cluster().writer.mergePatch(Nodes, { name }, { spec: { unschedulable: true } })
  const { code, out } = await run('workloads forecast --to v1.8.4 -l kubevirt.io/vm=web-1 --exit-code')
  expect(code).toBe(10)
  expect(out).toContain(
    'web-1   worker-3   not moved   no other node takes it: 2 cordoned; can be migrated\n',
  )
})

test('--from: what a saved cluster does not contain is not judged, and that is said', async () => {
  const file = fileIn('forecast.ndjson')
  expect(await run(`snapshot --to-file ${file}`)).toMatchObject({ code: 0 })
  const live = await run('workloads forecast --to v1.8.4 -o name')
  const saved = await run(`workloads forecast --to v1.8.4 --from ${file}`)
  expect(saved).toMatchObject({ code: 0, err: '' })
  expect(saved.out).toMatch(/the free room on nodes is not checked: \S+ does not contain pods/u)
  const { out } = await run(`workloads forecast --to v1.8.4 --from ${file} -o name`)
  expect(out).toBe(live.out)
})
