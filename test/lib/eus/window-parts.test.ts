import { expect, test } from 'vitest'
import { partsOf } from '../../../src/lib/eus/window-status.ts'

test('KubeVirt is waited for at the end, among what resumes VM updates', () => {
  const ids = ['operator-4.20', 'healthy', 'resume-workload-updates', 'unpause-worker']
  const steps = ids.map((id, index) => ({
    id,
    title: id,
    state: index === 0 ? ('done' as const) : index === 1 ? ('waiting' as const) : ('ahead' as const),
  }))
  const parts = partsOf(steps)
  expect(parts.map(({ name, state }) => `${name}: ${state}`)).toEqual([
    'Update virtualization to 4.20: done',
    'Resume automatic VM updates: now',
    'Unpause pools: ahead',
  ])
})
