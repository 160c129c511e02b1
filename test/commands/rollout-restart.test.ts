import { afterEach, expect, test } from 'vitest'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import type { VmShape } from '../../src/simulator/vm-shape.ts'
import { runText } from '../lib/run-text.ts'
import { settled } from '../lib/settled.ts'

const running: SimulatedCluster[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

const second = 1000
const four = ['web-1', 'web-2', 'web-3', 'web-4']
const lost = '--accept data-loss=test'
const web2 = { name: 'web-2', namespace: 'demo' }

/** A cluster in which these VMs wait for a restart. */
async function waiting(names: readonly string[], vms: number | readonly VmShape[] = 4) {
  const clock = new SimClock()
  const sim = await settled({ clock, version: 'v1.8.4', methods: ['LiveMigrate'], workers: 2, vms })
  running.push(sim)
  const admin = sim.cluster()
  const patch = (name: string, spec: object) =>
    admin.writer.mergePatch(VirtualMachines, { name, namespace: 'demo' }, { spec })
  for (const name of names) await patch(name, { template: { spec: { domain: { cpu: { cores: 2 } } } } })
  await clock.sleep(30 * second)
  const kvup = (line: string) => runText(line.split(' '), { cluster: admin, clock })
  const document = async (line: string) => {
    const { code, out } = await kvup(`${line} -o json`)
    return {
      code,
      ...(JSON.parse(out) as {
        totals: object
        items: { name: string; outcome: string }[]
        outcome: string
        error?: object
      }),
    }
  }
  const uids = async () => {
    const found = await admin.reader.list(VirtualMachineInstances, { namespace: 'demo' })
    return new Map(found.map(({ metadata }) => [metadata.name, metadata.uid]))
  }
  /** Names in the order in which their restarts were asked for. */
  const asked = () =>
    sim.store.audit
      .filter(({ subresource, dryRun }) => subresource === 'restart' && !dryRun)
      .map(({ name }) => name)
  return { sim, clock, kvup, document, uids, asked, patch }
}

test('W3: one after the other, each only when the one before is well again; none waits afterwards', async () => {
  const { kvup, document, uids, asked, sim } = await waiting(four.slice(0, 3))
  const before = await uids()
  let most = 0
  sim.store.watch(VirtualMachineInstances, () => {
    const vmis = sim.store.list(VirtualMachineInstances, { namespace: 'demo' })
      .items as readonly VirtualMachineInstance[]
    most = Math.max(most, 4 - vmis.filter(({ status }) => status?.phase === 'Running').length)
  })
  const done = await document(`workloads restart --yes ${lost}`)
  expect(done).toMatchObject({ code: 0, outcome: 'done', totals: { total: 3, restarted: 3, failed: 0 } })
  const after = await uids()
  expect(four.filter((name) => before.get(name) !== after.get(name))).toEqual(['web-1', 'web-2', 'web-3'])
  expect(asked()).toEqual(['web-1', 'web-2', 'web-3'])
  expect(most).toBe(1)
  expect((await kvup('workloads restart-required')).out).toBe('no VM waits for a restart\n')
  expect(await document(`workloads restart --yes ${lost}`)).toMatchObject({
    code: 0,
    outcome: 'nothing-to-do',
  })
  expect(asked()).toHaveLength(3)
})

test('waves, a canary and a pause: in this order, and the question has the list', async () => {
  const { kvup, asked, clock } = await waiting(four)
  const began = clock.now().getTime()
  const { code, err } = await kvup(
    `workloads restart --yes --canary 1 --order newest --parallel 3 --pause-between 5m ${lost}`,
  )
  expect(code).toBe(0)
  expect(err).toContain('canary: 1 VM')
  for (const name of four) expect(err).toContain(`  demo/${name}`)
  expect(asked()).toHaveLength(4)
  expect(clock.now().getTime() - began).toBeGreaterThan(5 * 60 * second)
})

test('W3: the first one that does not come back stops it, and the others stay as they are', async () => {
  const { document, asked, sim } = await waiting(four)
  sim.store.watch(VirtualMachines, ({ object }) => {
    const { metadata, status = {} } = object as VirtualMachine & {
      status?: { stateChangeRequests?: object[] | null }
    }
    if (metadata.name !== 'web-2' || status.created !== false || !status.stateChangeRequests?.length) return
    // It is down, and somebody halts it before it is started again.
    const on = (body: object, subresource?: 'status') =>
      sim.store.patch(
        VirtualMachines,
        metadata,
        { type: 'merge', body },
        subresource ? { on: subresource } : {},
      )
    on({ spec: { runStrategy: 'Halted' } })
    on({ status: { stateChangeRequests: null } }, 'status')
  })
  const ended = await document(`workloads restart --yes -n demo --restart-timeout 3m ${lost}`)
  expect(ended).toMatchObject({
    code: 3,
    outcome: 'stopped',
    error: {
      reason: 'did-not-come-back',
      remedy: [
        expect.stringContaining('kubectl get'),
        expect.stringMatching(
          /^kvup workloads restart --yes -n demo .* {5}goes on with those that still wait for a restart; VMs that it restarts lose the data in their pods$/u,
        ),
      ],
    },
    totals: { restarted: 1, failed: 1, waiting: 2 },
  })
  expect(asked()).toEqual(['web-1', 'web-2'])
})

test('W3: a VM that allows no restart, or would not come back by itself, is said to be so', async () => {
  const vms: VmShape[] = [
    { name: 'web-1' },
    { name: 'once', runStrategy: 'Once' },
    { name: 'rerun', runStrategy: 'RerunOnFailure' },
  ]
  const { kvup, asked } = await waiting(['web-1', 'once', 'rerun'], vms)
  const { code, out, err } = await kvup(`workloads restart --yes ${lost}`)
  expect(code).toBe(0)
  expect(err).toContain('demo/rerun: its runStrategy does not restart it')
  expect(out).toMatch(/once +not restarted +runStrategy Once allows no restart/u)
  expect(asked()).toEqual(['rerun', 'web-1'])
})

test.each<[string, (sim: SimulatedCluster) => unknown]>([
  [
    'migrates',
    ({ store }) =>
      store.patch(VirtualMachineInstances, web2, {
        type: 'merge',
        body: { status: { migrationState: { startTimestamp: '2026-01-01T00:00:00Z' } } },
      }),
  ],
  [
    'it no longer needs a restart',
    ({ store }) =>
      store.patch(VirtualMachines, web2, {
        type: 'merge',
        body: { spec: { template: { spec: { domain: { cpu: { cores: 1 } } } } } },
      }),
  ],
])('W3: one that %s since all were listed is not restarted', async (_, change) => {
  const { document, asked, sim } = await waiting(['web-1', 'web-2'])
  let changed = false
  const stop = sim.store.watch(VirtualMachineInstances, () => {
    if (changed || asked().length === 0) return
    changed = true
    change(sim)
  })
  await document(`workloads restart --yes --timeout 50s ${lost}`)
  stop()
  expect({ changed, asked: asked() }).toEqual({ changed: true, asked: ['web-1'] })
})

test('a run that ended early is resumed: what it began is waited for and not restarted again', async () => {
  const { document, asked } = await waiting(four.slice(0, 2))
  const early = await document(`workloads restart --yes --timeout 2s ${lost}`)
  expect(early).toMatchObject({ code: 4, outcome: 'stopped', totals: { restarting: 1, waiting: 1 } })
  const resumed = await document(`workloads restart --yes ${lost}`)
  expect(resumed).toMatchObject({ code: 0, totals: { restarted: 2 } })
  expect(asked()).toEqual(['web-1', 'web-2'])
})

test('a VM that was changed again after its restart is restarted again by the next run, and is none of the one after that', async () => {
  const { document, asked, patch, clock } = await waiting(['web-1'])
  expect(await document(`workloads restart --yes ${lost}`)).toMatchObject({ code: 0 })
  await patch('web-1', { template: { spec: { domain: { cpu: { cores: 4 } } } } })
  await clock.sleep(30 * second)
  expect(await document(`workloads restart --yes ${lost}`)).toMatchObject({ totals: { restarted: 1 } })
  expect(asked()).toEqual(['web-1', 'web-1'])
  await clock.sleep(10 * second)
  await patch('web-2', { template: { spec: { domain: { cpu: { cores: 4 } } } } })
  await clock.sleep(30 * second)
  const third = await document(`workloads restart --yes ${lost}`)
  expect(third.items).toMatchObject([{ name: 'web-2', outcome: 'restarted' }])
})

test('W2: what a restart loses is not taken by --yes alone', async () => {
  const { kvup, asked } = await waiting(['web-1'])
  const { code, err } = await kvup('workloads restart --yes -n demo')
  expect(code).toBe(3)
  expect(err).toContain('data-loss')
  expect(err).toMatch(/^ +leave them out by --exclude, or restart others only by -l/mu)
  expect(err).toContain('demo/web-1 (containerDisk root)')
  expect(asked()).toEqual([])
})

test.each(['client', 'server'])('a %s dry run lists them and restarts none', async (mode) => {
  const { document, asked, uids } = await waiting(['web-1', 'web-2'])
  const before = await uids()
  const dryRunSteps = await document(`workloads restart --dry-run=${mode} ${lost}`)
  expect(dryRunSteps).toMatchObject({ code: 0, outcome: 'dry-run', totals: { waiting: 2 } })
  expect(dryRunSteps).toMatchObject({ steps: [{ state: 'would-change' }] })
  expect(JSON.stringify(dryRunSteps)).not.toContain('"refused"')
  expect(await uids()).toEqual(before)
  expect(asked()).toEqual([])
})

test.each([
  ['--parallel 0', '--parallel takes a whole number from 1'],
  ['--parallel 1000000', '--parallel is at most 100'],
  ['--canary -1', '--canary takes a whole number from 1'],
  ['--pause-between 5', 'unit'],
  ['--waves a,b', '--waves needs --wave-by'],
])('%s is exit 2', async (flag, said) => {
  const { kvup } = await waiting([], 0)
  const { code, err } = await kvup(`workloads restart ${flag}`)
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(said) })
})
