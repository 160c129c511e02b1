import { expect, test } from 'vitest'
import type { PodDisruptionBudget } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { blockingBudgets } from '../../../src/lib/kubevirt/blocking-budgets.ts'
import { exampleOf } from './example.ts'

const budget = (
  spec: NonNullable<PodDisruptionBudget['spec']>,
  status: NonNullable<PodDisruptionBudget['status']>,
  metadata: Partial<PodDisruptionBudget['metadata']> = {},
): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'demo', ...metadata },
  spec,
  status,
})

const pod = (labels: Record<string, string>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `pod-${Object.values(labels).join('-')}`, namespace: 'demo', labels },
  status: { phase: 'Running' },
})

const none = { disruptionsAllowed: 0, currentHealthy: 2, expectedPods: 2 }
const selector = (labels: Record<string, string>) => ({ selector: { matchLabels: labels } })
const syncFailed = {
  disruptionsAllowed: 0,
  currentHealthy: 6,
  expectedPods: 0,
  conditions: [
    {
      type: 'DisruptionAllowed',
      status: 'False' as const,
      reason: 'SyncFailed',
      message: 'virtualmachineinstances.kubevirt.io does not implement the scale subresource',
    },
  ],
}
const vm = pod({ 'kubevirt.io': 'virt-launcher', app: 'vm' })
const web = pod({ app: 'web' })

test.each<[string, PodDisruptionBudget, boolean]>([
  [
    'maxUnavailable that cannot be counted',
    budget({ maxUnavailable: 1, ...selector({ a: 'b' }) }, syncFailed),
    true,
  ],
  ['as many as it asks for', budget({ minAvailable: 2, ...selector({ app: 'vm' }) }, none), true],
  ['all launchers of the namespace', budget(selector({ 'kubevirt.io': 'virt-launcher' }), none), true],
  ['pods of something else', budget({ minAvailable: 2, ...selector({ app: 'web' }) }, none), false],
  ['one may go', budget(selector({ app: 'vm' }), { ...none, disruptionsAllowed: 1 }), false],
  ['no pod is covered', budget(selector({ app: 'vm' }), { disruptionsAllowed: 0 }), false],
  [
    'KubeVirt made it for a VMI',
    budget(selector({ app: 'vm' }), none, {
      ownerReferences: [
        {
          apiVersion: 'kubevirt.io/v1',
          kind: 'VirtualMachineInstance',
          name: 'web-1',
          uid: 'u',
          controller: true,
        },
      ],
    }),
    false,
  ],
  ['of the platform', budget(selector({ app: 'vm' }), syncFailed, { namespace: 'openshift-dns' }), false],
])('%s', async (_, one, blocks) => {
  const { reader } = exampleOf([one, vm, web], '2026-11-21T10:00:00Z')
  expect((await blockingBudgets(reader)).map(({ name }) => name)).toEqual(blocks ? ['web'] : [])
})

test('of more budgets than are asked for one by one none is left out', async () => {
  const others = Array.from({ length: 120 }, (_, i) =>
    budget(selector({ app: 'web' }), none, { name: `other-${i}` }),
  )
  const elsewhere = budget(selector({ app: 'vm' }), none, { name: 'a', namespace: 'elsewhere' })
  const last = budget(selector({ app: 'vm' }), none, { name: 'z' })
  const { reader } = exampleOf([...others, elsewhere, last, vm, web], '2026-11-21T10:00:00Z')
  expect((await blockingBudgets(reader)).map(({ name }) => name)).toEqual(['z'])
})
