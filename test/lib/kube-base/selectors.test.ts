import { expect, test } from 'vitest'
import { selectorTest } from '../../../src/lib/kube/selectors.ts'

const labels = { app: 'db', tier: 'test' }

test.each([
  ['none, as of a budget that was never filled in', undefined, false],
  ['an empty one', {}, true],
  ['labels that it has', { matchLabels: { app: 'db' } }, true],
  ['labels of which it lacks one', { matchLabels: { app: 'db', zone: 'a' } }, false],
  ['In', { matchExpressions: [{ key: 'tier', operator: 'In', values: ['prod', 'test'] }] }, true],
  ['NotIn', { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['prod', 'test'] }] }, false],
  ['Exists', { matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, false],
  ['DoesNotExist', { matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }, true],
])('a selector of objects, %s', (_, selector, selects) => {
  expect(selectorTest(selector)(labels)).toBe(selects)
})
