import { expect, test } from 'vitest'
import type { PodDisruptionBudget } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { blockingBudgets } from '../../../src/lib/kubevirt/blocking-budgets.ts'
import { exampleOf } from './example.ts'
import fixture from './blocking-budgets.json' with { type: 'json' }

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
const vm = pod({ 'kubevirt.io': 'virt-launcher', app: 'vm' })
const web = pod({ app: 'web' })

test.each(fixture.rows as unknown as [string, PodDisruptionBudget, boolean][])(
  '%s',
  async (_, one, blocks) => {
    const { reader } = exampleOf([one, vm, web], '2026-11-21T10:00:00Z')
    expect((await blockingBudgets(reader)).map(({ name }) => name)).toEqual(blocks ? ['web'] : [])
  },
)

test('of more budgets than are asked for one by one none is left out', async () => {
  const others = Array.from({ length: 120 }, (_, i) =>
    budget(selector({ app: 'web' }), none, { name: `other-${i}` }),
  )
  const elsewhere = budget(selector({ app: 'vm' }), none, { name: 'a', namespace: 'elsewhere' })
  const last = budget(selector({ app: 'vm' }), none, { name: 'z' })
  const { reader } = exampleOf([...others, elsewhere, last, vm, web], '2026-11-21T10:00:00Z')
  expect((await blockingBudgets(reader)).map(({ name }) => name)).toEqual(['z'])
})
