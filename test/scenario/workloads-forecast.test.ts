import { describe, expect, test } from 'vitest'
import { Nodes, PodDisruptionBudgets } from '../../src/lib/kube/kinds/core-kinds.ts'
import {
  type KubeVirt,
  KubeVirts,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import type { VmShape } from '../../src/simulator/vm-shape.ts'
import type { OperatorFaults } from '../../src/simulator/virt-operator/virt-operator-context.ts'
import { forecastUpdates } from '../../src/lib/vms/forecast/vm-forecast.ts'
import { runText } from '../lib/run-text.ts'
import { settled } from '../lib/settled.ts'

const kubevirt = { name: 'kubevirt', namespace: 'kubevirt' }
const minute = 60_000

/** Every eviction strategy with every run strategy, migratable and not; those that fail every time are told by name elsewhere. */
const everyShape: readonly VmShape[] = ['LiveMigrate', 'LiveMigrateIfPossible', 'None', 'External'].flatMap(
  (evictionStrategy) =>
    ['Always', 'RerunOnFailure', 'Once', 'Manual', 'Halted'].flatMap((runStrategy) => {
      const name = `${evictionStrategy}-${runStrategy}`.toLowerCase()
      const shape = { evictionStrategy, runStrategy }
      return [
        { ...shape, name: `${name}-ok`, namespace: 'shop' },
        { ...shape, name: `${name}-local`, namespace: 'demo', notMigratable: 'DisksNotLiveMigratable' },
      ]
    }),
)

interface Case {
  methods: readonly string[]
  vms?: readonly VmShape[]
  workers?: number
  faults?: OperatorFaults
  before?: (sim: SimulatedCluster) => Promise<void>
}

interface Item {
  namespace: string
  name: string
  uid?: string
  outcome: string
  why: { id: string; text: string }[]
}

interface Foretold {
  items: Item[]
  totals: {
    total: number
    byOutcome: Record<string, number>
    namespaces: { namespace: string; total: number }[]
  }
}

/** Asks before anything is touched, upgrades, lets KubeVirt's own updater work to its end, and asks what became of it. */
async function play({ methods, vms = everyShape, workers = 3, faults, before }: Case) {
  const clock = new SimClock()
  const sim = await settled({
    clock,
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    vms,
    workers,
    controlPlanes: 1,
    methods: [],
  })
  if (faults) sim.faults.set(faults)
  await clock.sleep(10_000)
  await before?.(sim)
  const flag = methods.length === 0 ? 'none' : methods.join()
  const asked = ['workloads', 'forecast', '--to', 'v1.8.4', '--methods', flag, '-o', 'json']
  const { code, out, err } = await runText(asked, { cluster: sim.cluster(), clock })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const short = await forecastUpdates(sim.cluster().reader, { kubevirt: await kubevirtIn(sim), methods })
  const uids = uidsIn(sim)
  const workloadUpdateStrategy = {
    workloadUpdateMethods: [...methods],
    batchEvictionSize: 10,
    batchEvictionInterval: '10s',
  }
  await sim
    .cluster()
    .writer.mergePatch(KubeVirts, kubevirt, { spec: { imageTag: 'v1.8.4', workloadUpdateStrategy } })
  await clock.sleep(20 * minute)
  await sim.stop()
  const forecast = JSON.parse(out) as Foretold
  return { sim, forecast, short, observed: outcomesIn(sim, forecast.items, uids) }
}

async function kubevirtIn(sim: SimulatedCluster): Promise<KubeVirt> {
  const found = await sim.cluster().reader.get(KubeVirts, kubevirt)
  if (found.is !== 'object') throw new Error('no KubeVirt')
  return found.object
}

const keyOf = ({ metadata }: Pick<VirtualMachineInstance, 'metadata'>) =>
  `${metadata.namespace}/${metadata.name}`

const instancesIn = (sim: SimulatedCluster) =>
  sim.store.list(VirtualMachineInstances).items as readonly VirtualMachineInstance[]

const uidsIn = (sim: SimulatedCluster) =>
  new Map(instancesIn(sim).map((vmi) => [keyOf(vmi), vmi.metadata.uid]))

/** From the simulator's own record, not from what kvup makes of it. */
function outcomesIn(
  sim: SimulatedCluster,
  items: readonly Item[],
  before: ReadonlyMap<string, string | undefined>,
): Record<string, string> {
  const now = new Map(instancesIn(sim).map((vmi) => [keyOf(vmi), vmi]))
  const vms = new Set(sim.store.list(VirtualMachines).items.map((vm) => keyOf(vm)))
  const became = (key: string): string => {
    const vmi = now.get(key)
    const runs = vmi?.status?.phase === 'Running'
    if (!before.has(key)) return runs ? 'started' : 'is down'
    if (!runs) return vms.has(key) ? 'shuts down' : 'is lost'
    if (vmi.metadata.uid !== before.get(key)) return 'restarts'
    return vmi.status?.launcherContainerImageVersion?.endsWith(':v1.8.4') ? 'migrates' : 'stays'
  }
  return Object.fromEntries(
    items.map(({ namespace, name }) => [`${namespace}/${name}`, became(`${namespace}/${name}`)]),
  )
}

const ends = new Set(['restarts', 'shuts down', 'is lost'])

/** The short forecast, as it follows from the long one. */
const inShort = ({ items, totals }: Foretold) => ({
  counts: Object.fromEntries(Object.entries(totals.byOutcome).filter(([outcome]) => outcome !== 'is down')),
  interrupted: items
    .filter(({ outcome }) => ends.has(outcome))
    .map(({ namespace, name, outcome }) => `${namespace}/${name} (${outcome})`),
})

const willOf = (items: readonly Item[]) =>
  Object.fromEntries(items.map(({ namespace, name, outcome }) => [`${namespace}/${name}`, outcome]))

const budget = (sim: SimulatedCluster) =>
  sim.cluster().writer.create(PodDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'all', namespace: 'demo' },
    spec: { minAvailable: '100%', selector: { matchLabels: { 'kubevirt.io': 'virt-launcher' } } },
  })

/** As the disruption controller writes it, which the simulator does not have. */
const countedBudget = async (sim: SimulatedCluster) => {
  await budget(sim)
  const status = { disruptionsAllowed: 0 }
  const { writer } = sim.cluster()
  await writer.mergePatch(PodDisruptionBudgets, { name: 'all', namespace: 'demo' }, { status }, 'status')
}

/** virt-handler does not answer on two of three nodes: from the third no VM can be moved away, to it they can. */
const oneLeft = async (sim: SimulatedCluster) => {
  for (const name of ['worker-2', 'worker-3'])
    await sim
      .cluster()
      .writer.mergePatch(Nodes, { name }, { metadata: { labels: { 'kubevirt.io/schedulable': 'false' } } })
}

/** Runs whose VM is gone: a VMI alone. */
const orphan = async (sim: SimulatedCluster) => {
  const { writer } = sim.cluster()
  await writer.mergePatch(
    VirtualMachineInstances,
    { name: 'none-always-local', namespace: 'demo' },
    { metadata: { ownerReferences: null } },
  )
  await writer.delete(VirtualMachines, { name: 'none-always-local', namespace: 'demo' })
}

const both = ['LiveMigrate', 'Evict']

describe('Done 4: the forecast names what the updater then does, on every VM', () => {
  test.each<[string, Case]>([
    ['[]', { methods: [] }],
    ['[LiveMigrate]', { methods: ['LiveMigrate'] }],
    ['[LiveMigrate, Evict]', { methods: both }],
    ['[Evict]', { methods: ['Evict'] }],
    ['[LiveMigrate, Evict] on a single node', { methods: both, workers: 1 }],
    ['[LiveMigrate, Evict] with a quota that is used up', { methods: both, faults: { quota: 'shop' } }],
    ['[LiveMigrate, Evict] with one node left', { methods: both, before: oneLeft }],
    ['[Evict] with a PodDisruptionBudget', { methods: ['Evict'], before: countedBudget }],
    ['[LiveMigrate, Evict] with a VMI that no VM owns', { methods: both, before: orphan }],
  ])('%s', { timeout: 60_000 }, async (_, one) => {
    const { forecast, short, observed } = await play(one)
    expect(willOf(forecast.items)).toEqual(observed)
    expect(short).toMatchObject(inShort(forecast))
    expect(forecast.totals.total).toBe(everyShape.length)
  })
})

test('W8 a VM whose migrations fail every time stays, though another one of it is under way', async () => {
  const clock = new SimClock()
  const vms = [{ name: 'failing', migration: 'fail' }] as const
  const sim = await settled({ clock, version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms })
  await sim.cluster().writer.mergePatch(KubeVirts, kubevirt, {
    spec: { imageTag: 'v1.8.4', workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } },
  })
  await clock.sleep(15 * minute)
  await sim.stop()
  const { out } = await runText(['workloads', 'forecast', '-o', 'json'], { cluster: sim.cluster(), clock })
  expect((JSON.parse(out) as Foretold).items).toMatchObject([
    { name: 'failing', outcome: 'stays', why: [{ id: 'fails-every-time' }, { id: 'migrating' }] },
  ])
})

test('contract: a plan says of the VMs what their forecast says: cut off from all other nodes they stay', async () => {
  const clock = new SimClock()
  const methods = ['LiveMigrate', 'Evict']
  const vms = everyShape.slice(0, 10)
  const sim = await settled({ clock, version: 'v1.7.4', method: 'image-tag', vms, workers: 3, methods })
  await oneLeft(sim)
  const place = { cluster: sim.cluster(), clock }
  const long = await runText(['workloads', 'forecast', '--to', 'v1.8.4', '-o', 'json'], place)
  const plan = await runText(['plan', '--to', 'v1.8.4', '-o', 'json'], place)
  await sim.stop()
  const { byOutcome } = (JSON.parse(long.out) as Foretold).totals
  expect(byOutcome).toMatchObject({ migrates: 2, stays: 4 })
  expect(plan.out).toContain('KubeVirt migrates 2 VMs, leaves 4 outdated')
})
