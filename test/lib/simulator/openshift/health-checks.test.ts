import { expect, it } from 'vitest'
import {
  MachineConfigs,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { minute, platform, type Platform } from './platform.ts'

const machines = { name: 'workers', namespace: 'openshift-machine-api' }
const nodes = { name: 'gpu-nodes' }

/** All workers reboot, and each takes ten minutes for it. */
async function rollSlowly(p: Platform): Promise<string[]> {
  p.faults.set({ rebootTime: 10 * minute })
  await p.writer.create(MachineConfigs, {
    apiVersion: MachineConfigs.apiVersion,
    kind: MachineConfigs.kind,
    metadata: { name: '99-worker', labels: { 'machineconfiguration.openshift.io/role': 'worker' } },
    spec: { config: { ignition: { version: '3.4.0' }, passwd: {} } },
  })
  await p.clock.sleep(60 * minute)
  return (await p.nodes()).map(({ metadata }) => metadata.name).sort()
}

const all = ['gpu-0', 'gpu-1', 'master-0', 'master-1', 'master-2', 'worker-0', 'worker-1', 'worker-2']

it('night E7: a reboot that takes more than five minutes costs the machine, if health checks are not paused', async () => {
  const p = await platform()
  const left = await rollSlowly(p)
  expect(left).not.toContain('worker-0')
  expect(left).not.toContain('gpu-0')
})

it('night E7: paused by annotation and by pauseRequests they leave machines alone', async () => {
  const p = await platform()
  const annotations = { 'cluster.x-k8s.io/paused': '' }
  await p.writer.mergePatch(MachineHealthChecks, machines, { metadata: { annotations } })
  await p.writer.mergePatch(NodeHealthChecks, nodes, { spec: { pauseRequests: ['update'] } })
  expect(await rollSlowly(p)).toEqual(all)
  const [check] = await p.reader.list(NodeHealthChecks)
  expect(check?.status).toEqual({ phase: 'Paused', observedNodes: 2, healthyNodes: 2 })
})

it('a reboot of the usual length is none of their business', async () => {
  const p = await platform({ channel: 'stable-4.19' })
  await p.desire({ version: '4.19.14' })
  await p.clock.sleep(90 * minute)
  expect((await p.nodes()).map(({ metadata }) => metadata.name).sort()).toEqual(all)
})

it('with more nodes down than it allows a check takes nothing for lost', async () => {
  const p = await platform()
  p.faults.set({ notReady: ['worker-0', 'worker-1', 'worker-2'] })
  await p.clock.sleep(20 * minute)
  expect((await p.nodes()).map(({ metadata }) => metadata.name).sort()).toEqual(all)
  p.faults.set({ notReady: ['worker-0'] })
  await p.clock.sleep(20 * minute)
  expect((await p.nodes()).map(({ metadata }) => metadata.name)).not.toContain('worker-0')
})
