import { expect, test } from 'vitest'
import { launcherImage, newControllerLeads } from '../../../src/lib/kubevirt/lease-holders.ts'
import { moments, transcript } from '../../transcripts/to-snapshots.ts'
import { settled } from './settled.ts'

test("the launcher image is virt-controller's own argument (facts 2.10)", () => {
  const { snapshot } = settled()
  expect(launcherImage(snapshot)).toBe('quay.io/kubevirt/virt-launcher:v1.8.4')
})

test('also written with an equals sign; not seen is not known', () => {
  const { snapshot } = settled()
  const [controller] = snapshot.deployments.known
    ? snapshot.deployments.items.filter(({ metadata }) => metadata.name === 'virt-controller')
    : []
  const [container] = controller?.spec?.template?.spec?.containers ?? []
  if (!container) throw new Error('no virt-controller')
  container.args = ['-v', '2', '--launcher-image=r/virt-launcher:x']
  expect(launcherImage(snapshot)).toBe('r/virt-launcher:x')
  container.args = []
  expect(launcherImage(snapshot)).toBeUndefined()
})

test('lab 10: the new virt-controller takes its Lease 2 s after done in imagetag-v1.7.0-v1.8.4', () => {
  const observed = [...moments(transcript('imagetag-v1.7.0-v1.8.4'), { leases: 'from events' })]
  const done = observed.findIndex(({ line }) => line.note?.startsWith('done'))
  expect(newControllerLeads(observed[done]?.snapshot ?? settled().snapshot)).toBe(false)
  expect(newControllerLeads(observed.at(-1)?.snapshot ?? settled().snapshot)).toBe(true)
})

test('not to be told from a holder that is no pod, or without the Leases', () => {
  const { snapshot, leases } = settled()
  for (const lease of leases) lease.spec = { holderIdentity: 'laptop' }
  expect(newControllerLeads(snapshot)).toBeUndefined()
  for (const lease of leases) lease.spec = { holderIdentity: 'virt-controller-gone-1' }
  expect(newControllerLeads(snapshot)).toBe(false)
  snapshot.leases = { known: false, why: 'forbidden' }
  expect(newControllerLeads(snapshot)).toBeUndefined()
})
