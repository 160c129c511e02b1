import { expect, test } from 'vitest'
import { loanRemedy } from '../../../src/lib/output/views/loan-remedy.ts'

const object = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', name: 'kubevirt', uid: 'u' }
const loan = { by: 'jane@here', at: '2026-01-01T00:00:00Z', procedure: 'upgrade to v1.8.4', object }

test('workloads restore gives back the methods; an imageTag that was taken out comes back with the upgrade', () => {
  const was = { present: true, value: ['LiveMigrate'] } as const
  const path = '/spec/workloadUpdateStrategy/workloadUpdateMethods'
  expect(loanRemedy({ ...loan, id: 'workload-updates', path, was })).toBe('kvup workloads restore')
  const tag = { present: true, value: { tag: 'v1.7.4' } } as const
  expect(loanRemedy({ ...loan, id: 'image-tag', path: '/spec/imageTag', was: tag })).toBe(
    'kvup upgrade --to v1.8.4',
  )
})
