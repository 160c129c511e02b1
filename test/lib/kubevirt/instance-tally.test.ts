import { expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { emptyTally, tallyInstance } from '../../../src/lib/kubevirt/snapshot.ts'

const vmi = (
  namespace: string,
  domain: Record<string, unknown>,
  phase = 'Running',
): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name: 'db-0', namespace },
  spec: { domain },
  status: { phase },
})

test('the largest guest of each namespace is kept, and nothing of those that do not run', () => {
  const tally = emptyTally()
  for (const instance of [
    vmi('shop', { memory: { guest: '2Gi' } }),
    vmi('shop', { resources: { requests: { memory: '4Gi' } } }),
    vmi('shop', { memory: { guest: '64Gi', hugepages: { pageSize: '1Gi' } } }),
    vmi('lab', { memory: { guest: '8Gi' } }, 'Failed'),
    vmi('gpu', {}),
  ])
    tallyInstance(tally, instance)
  expect(tally.largestMemory).toEqual({ shop: 4 * 2 ** 30, gpu: 0 })
})
