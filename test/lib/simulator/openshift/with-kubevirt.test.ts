import { expect, it, onTestFinished } from 'vitest'
import { Nodes } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { ClusterVersions, MachineConfigPools } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import type { VmShape } from '../../../../src/simulator/vm-shape.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { ocp418to420 } from '../../../../src/simulator/openshift/openshift-shape.ts'
import { simulate } from '../../../../src/simulator/simulated-cluster.ts'
import { minute } from './platform.ts'

async function updated(vms: readonly VmShape[] | number) {
  const clock = new SimClock()
  const openshift = { ...ocp418to420, channel: 'stable-4.19' }
  const simulated = await simulate({ clock, openshift, vms })
  onTestFinished(() => simulated.stop())
  const { reader, writer } = simulated.cluster()
  const name = 'version'
  await clock.sleep(minute)
  const before = await reader.list(VirtualMachineInstances)
  const desiredUpdate = { version: '4.19.14' }
  await writer.mergePatch(ClusterVersions, { name }, { spec: { desiredUpdate } })
  return { clock, reader, writer, before }
}

const known = (vmis: readonly VirtualMachineInstance[]) =>
  vmis.map(({ metadata, status }) => `${metadata.name} ${metadata.uid} ${status?.phase}`).sort()

it('ocp 3.5: machines that are updated send their VMs away, alive, and kubevirt is as it was', async () => {
  const { clock, reader, before } = await updated(6)
  expect(before).toHaveLength(6)
  await clock.sleep(90 * minute)
  expect((await reader.list(ClusterVersions))[0]?.status?.history?.[0]?.state).toBe('Completed')
  for (const pool of await reader.list(MachineConfigPools))
    expect(condition(pool, 'Updated')?.status).toBe('True')
  const after = await reader.list(VirtualMachineInstances)
  expect(known(after)).toEqual(known(before))
  expect(after.every(({ status }) => status?.evacuationNodeName === undefined)).toBe(true)
  const nodes = await reader.list(Nodes)
  expect(new Set(nodes.map(({ status }) => status?.nodeInfo?.kubeletVersion))).toEqual(new Set(['v1.32.4']))
})

it('ocp 3.5: a VM that has to be migrated and cannot be holds its machine; one that nobody protects starts again elsewhere', async () => {
  const stuck = { name: 'stuck', notMigratable: 'HostDeviceNotLiveMigratable' }
  const { clock, reader, before } = await updated([stuck, { name: 'pet', evictionStrategy: 'None' }])
  const nodeOf = (name: string) => before.find(({ metadata }) => metadata.name === name)?.status?.nodeName
  expect(nodeOf('pet')).not.toBe(nodeOf('stuck'))
  await clock.sleep(130 * minute)
  const nodes = await reader.list(Nodes)
  const held = nodes.filter(({ spec }) => spec?.unschedulable).map(({ metadata }) => metadata.name)
  expect(held).toEqual([nodeOf('stuck')])
  const after = await reader.list(VirtualMachineInstances)
  const uidOf = (name: string, vmis: typeof after) =>
    vmis.find(({ metadata }) => metadata.name === name)?.metadata.uid
  expect(uidOf('stuck', after)).toBe(uidOf('stuck', before))
  expect(uidOf('pet', after)).not.toBe(uidOf('pet', before))
  expect(after.map(({ status }) => status?.phase)).toEqual(['Running', 'Running'])
  const pools = await reader.list(MachineConfigPools)
  expect(pools.filter((pool) => condition(pool, 'Degraded')?.status === 'True')).toHaveLength(1)
})
