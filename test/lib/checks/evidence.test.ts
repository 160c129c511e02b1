import { expect, test } from 'vitest'
import { itemsOf } from '../../../src/lib/kube/known.ts'
import { evidence, ofVersion, question } from './evidence.ts'

test('the evidence that checks are tried on is of a settled v1.8.4, and each copy is fresh', () => {
  const { rolloutStatus, installation } = question()
  expect([rolloutStatus.verdict, rolloutStatus.observed.version, installation.operator?.version]).toEqual([
    'Healthy',
    'v1.8.4',
    'v1.8.4',
  ])
  expect(evidence()).toEqual(evidence())
  expect(itemsOf(evidence().kubevirts)[0]).not.toBe(itemsOf(evidence().kubevirts)[0])
})

test('and it can be of another version', () => {
  const { rolloutStatus } = question({ snapshot: ofVersion('v1.5.3') })
  expect([rolloutStatus.verdict, rolloutStatus.observed.version]).toEqual(['Healthy', 'v1.5.3'])
})
