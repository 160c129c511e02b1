import { expect, onTestFinished, test } from 'vitest'
import { KubeVirts, VirtualMachineInstances } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { simulate, type Simulation } from '../../../src/simulator/simulated-cluster.ts'

const stored = { stored: 'v1beta1', served: ['v1beta1'], conversion: 'None' } as const

test.each([
  ['by its manifest', {}, 'kubevirt'],
  ['updated by the manifest of the next release', { updatedFrom: 'v1.7.0' }, 'kubevirt'],
  ['owned by a HyperConverged', { hyperconverged: stored }, 'kubevirt-kubevirt-hyperconverged'],
] as const)('KubeVirt lives in another namespace, %s', async (_, more: Partial<Simulation>, name) => {
  const shape = { version: 'v1.8.4', namespace: 'openshift-cnv', vms: 1, ...more }
  const simulated = await simulate({ clock: new SimClock(), ...shape })
  onTestFinished(() => simulated.stop())
  const { reader } = simulated.cluster()
  const [kubevirt] = await reader.list(KubeVirts)
  expect(kubevirt).toMatchObject({
    metadata: { name, namespace: 'openshift-cnv' },
    status: { phase: 'Deployed', observedKubeVirtVersion: 'v1.8.4' },
  })
  const pods = await reader.list(Pods)
  expect(new Set(pods.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['demo', 'openshift-cnv']))
  expect(await reader.list(VirtualMachineInstances)).toMatchObject([{ status: { phase: 'Running' } }])
  const elsewhere = simulated.store
    .everything()
    .filter((object) => JSON.stringify(object).includes('"namespace":"kubevirt"'))
  expect(elsewhere).toEqual([])
  const manifest = JSON.stringify(simulated.operatorManifest('v1.9.0'))
  expect(manifest).not.toContain('"namespace":"kubevirt"')
})
