import { afterEach, expect, test } from 'vitest'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { SimulatedCluster, Simulation } from '../../src/simulator/simulated-cluster.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { example } from '../lib/kubevirt/example.ts'
import { refusing } from '../lib/refusing-reader.ts'
import { runText } from '../lib/run-text.ts'
import { settled } from '../lib/settled.ts'

const running: SimulatedCluster[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.stop()))
})

async function simulated(more: Omit<Simulation, 'clock'> = {}) {
  const clock = new SimClock()
  const sim = await settled({ clock, version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag', ...more })
  running.push(sim)
  const cluster = sim.cluster()
  const update = () =>
    cluster.writer.mergePatch(
      KubeVirts,
      { name: 'kubevirt', namespace: 'kubevirt' },
      { spec: { imageTag: 'v1.8.4' } },
    )
  return { sim, clock, update, kvup: (line: string) => runText(line.split(' '), { cluster, clock }) }
}

test('an update is waited for to its end, and what it waits for is told', async () => {
  const { update, kvup } = await simulated()
  const before = await kvup('wait --for healthy -o json')
  expect(JSON.parse(before.out)).toMatchObject({ kind: 'Wait', met: true, version: 'v1.7.0', tookSeconds: 0 })
  await update()
  const { code, out, err } = await kvup('wait --for version=v1.8.4 -o json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ for: 'version=v1.8.4', met: true, version: 'v1.8.4' })
  expect((JSON.parse(out) as { tookSeconds: number }).tookSeconds).toBeGreaterThan(20)
  expect(err).toContain('waiting for virt-handler')
})

test('workloads=0 holds when the instances have moved, not while they are held', async () => {
  const held = await simulated({ vms: 2, methods: [] })
  await held.update()
  const late = await held.kvup('wait --for workloads=0 --timeout 10m')
  expect(late.code).toBe(4)
  expect(late.err).toContain('still waiting for 2 outdated VMs to move\n')
  expect(late.err).toMatch(/automatic VM updates are off: demo\/\S+, demo\/\S+\n/u)
  expect(late.err).toMatch(
    /-> kvup workloads outdated {3,}shows .*\n {2}-> kvup workloads update --canary 1 {3,}moves .*\n {2}-> kvup wait --for workloads=0 .* {3,}waits again\n$/u,
  )
  const stalled = await held.kvup('wait --for workloads=0 --timeout 10m --stalled-after 30s -o json')
  expect(stalled.code).toBe(4)
  expect(JSON.parse(stalled.out)).toMatchObject({
    outcome: 'stalled',
    tookSeconds: 30,
    waitingFor: '2 outdated VMs to move',
    error: {
      reason: 'stalled',
      notes: [expect.stringMatching(/^automatic VM updates are off: demo\//u)],
      remedy: [
        expect.stringMatching(/^kvup workloads outdated /u),
        expect.stringMatching(/^kvup workloads update --canary 1 /u),
        expect.stringContaining('waits again'),
      ],
    },
  })
  const moving = await simulated({ vms: 2, methods: ['LiveMigrate'] })
  await moving.update()
  expect(await moving.kvup('wait --for workloads=0')).toMatchObject({ code: 0 })
})

test('where nobody upgrades, the timeout of a version ends in the line that does, and in the one that waits again', async () => {
  const { kvup } = await simulated()
  const { code, err } = await kvup('wait --for version=v1.8.4 --timeout 10s')
  expect(code).toBe(4)
  expect(err).toContain('still waiting for version v1.8.4: KubeVirt is healthy at ')
  expect(err).toMatch(
    /-> kvup upgrade --to v1\.8\.4 {3,}starts that upgrade.*\n {2}-> kvup wait --for version=v1\.8\.4 --timeout 10s {3,}waits again\n$/u,
  )
})

test('the timeout names what was waited for and why', async () => {
  const { sim, update, kvup } = await simulated()
  sim.faults.set({ unpullable: 'virt-handler:v1.8.4' })
  await update()
  const { code, out } = await kvup('wait --for healthy --timeout 5m -o json')
  expect(code).toBe(4)
  expect(JSON.parse(out)).toMatchObject({
    kind: 'Wait',
    met: false,
    status: 'failed',
    waitingFor: expect.stringContaining('virt-handler'),
    error: { reason: 'wait-timed-out', notes: [expect.stringContaining('cannot pull')] },
  })
})

test('--stalled-after ends a wait that stalls for so long, with the cause and the line that waits again', async () => {
  const { sim, update, kvup } = await simulated()
  sim.faults.set({ unpullable: 'virt-handler:v1.8.4' })
  await update()
  const line = 'wait --for healthy --timeout 60m --stalled-after 5m -o json'
  const { code, out } = await kvup(line)
  expect(code).toBe(4)
  const document = JSON.parse(out) as { tookSeconds: number; error: { remedy: string[] } }
  expect(document).toMatchObject({
    met: false,
    verdict: 'Stalled',
    error: {
      reason: 'stalled',
      message: expect.stringContaining('stalled for 5 m (--stalled-after)'),
      notes: [expect.stringContaining('cannot pull')],
    },
  })
  expect(document.error.remedy.at(-1)).toBe(`kvup ${line}     waits again`)
  // The verdict needs its 15 s, and the wait 5 min: no 60.
  expect(document.tookSeconds).toBeGreaterThan(5 * 60)
  expect(document.tookSeconds).toBeLessThan(7 * 60)
})

test('a stall that heals in time ends no wait', async () => {
  const { sim, clock, update, kvup } = await simulated()
  sim.faults.set({ unpullable: 'virt-handler:v1.8.4' })
  await update()
  void clock.sleep(3 * 60_000).then(() => sim.faults.set({ unpullable: undefined }))
  expect(await kvup('wait --for version=v1.8.4 --stalled-after 10m')).toMatchObject({ code: 0 })
})

test('without a KubeVirt there is nothing to wait for', async () => {
  const { reader } = example('operator-without-kubevirt')
  const place = { cluster: { reader } as Cluster, clock: systemClock }
  expect(await runText(['wait', '--for', 'healthy'], place)).toMatchObject({ code: 3 })
  expect(await runText(['wait', '--for', 'nonsense'], place)).toMatchObject({ code: 2 })
})

test('what holds of a KubeVirt of which not all could be seen is said with that reservation', async () => {
  const { reader, clock } = example('healthy')
  const cluster = { reader: refusing(reader, ['daemonsets']) } as Cluster
  const { code, out } = await runText(['wait', '--for', 'healthy'], { cluster, clock })
  expect(code).toBe(0)
  expect(out).toMatch(/^healthy is met - KubeVirt \S+ - healthy, but not everything was checked - after/u)
  expect(out).toContain('\n! daemonsets are not checked: daemonsets is forbidden\n')
  const whole = await runText(['wait', '--for', 'healthy'], { cluster: { reader } as Cluster, clock })
  expect(whole.out).not.toContain('judged')
})

const is = (type: string, yes: boolean) => ({ type, status: yes ? 'True' : 'False' })

/** A pool of OpenShift whose nodes are updated one by one, a minute each. */
function updatingPool(clock: SimClock, nodes: number): Cluster {
  const began = clock.now().getTime()
  const pool = () => {
    const updatedMachineCount = Math.min(nodes, Math.floor((clock.now().getTime() - began) / 60_000))
    const isDone = updatedMachineCount === nodes
    return {
      metadata: { name: 'worker', generation: 1 },
      spec: { configuration: { name: 'b' } },
      status: {
        conditions: [is('Updated', isDone), is('Updating', !isDone)],
        configuration: { name: isDone ? 'b' : 'a' },
        observedGeneration: 1,
        machineCount: nodes,
        updatedMachineCount,
        readyMachineCount: updatedMachineCount,
      },
    }
  }
  return { reader: { list: async () => [pool()] } } as unknown as Cluster
}

test('pools-updated waits for every pool, tells how far each is, and does not ask for KubeVirt', async () => {
  const clock = new SimClock()
  const line = 'wait --for pools-updated --timeout 1h -o json'.split(' ')
  const { code, out, err } = await runText(line, { cluster: updatingPool(clock, 3), clock })
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ for: 'pools-updated', met: true, tookSeconds: 180 })
  expect(err.split('\n').filter((said) => said.includes('waiting for'))).toEqual([
    'waiting for pool worker, which has 0 of 3 nodes updated and ready',
    'waiting for pool worker, which has 1 of 3 nodes updated and ready',
    'waiting for pool worker, which has 2 of 3 nodes updated and ready',
  ])
  const again = 'wait --for pools-updated'.split(' ')
  const text = await runText(again, { cluster: updatingPool(clock, 0), clock })
  expect(text.out).toBe('pools-updated is met - after 0 s\n')
})

test('pools-updated: a degraded pool is a stall, one that is slow is none', async () => {
  const clock = new SimClock()
  const degraded = {
    metadata: { name: 'worker', generation: 1 },
    spec: { configuration: { name: 'b' } },
    status: {
      conditions: [is('Updated', false), is('Updating', true), is('Degraded', true)],
      machineCount: 3,
      updatedMachineCount: 1,
      readyMachineCount: 1,
    },
  }
  const line = 'wait --for pools-updated --timeout 1h --stalled-after 2m'.split(' ')
  const cluster = { reader: { list: async () => [degraded] } } as unknown as Cluster
  const stuck = await runText(line, { cluster, clock })
  expect(stuck).toMatchObject({ code: 4, err: expect.stringContaining('stalled for 2 m') })
  expect(await runText(line, { cluster: updatingPool(clock, 5), clock })).toMatchObject({ code: 0 })
})

test('pools-updated ends with its timeout, and at once where there are no pools', async () => {
  const clock = new SimClock()
  const late = await runText('wait --for pools-updated --timeout 90s -o json'.split(' '), {
    cluster: updatingPool(clock, 3),
    clock,
  })
  expect(late.code).toBe(4)
  expect(JSON.parse(late.out)).toMatchObject({
    met: false,
    waitingFor: 'pool worker, which has 1 of 3 nodes updated and ready',
  })
  const { kvup } = await simulated()
  expect(await kvup('wait --for pools-updated')).toMatchObject({
    code: 3,
    err: expect.stringContaining('no MachineConfigPools'),
  })
})
