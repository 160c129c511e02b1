import { expect, test } from 'vitest'
import { inRolloutOrder, rolloutPath } from '../../../src/lib/kubevirt/component-status.ts'
import fixture from './rollout-order.json' with { type: 'json' }

const names = [
  'virt-api',
  'virt-something-new',
  'virt-template-apiserver',
  'virt-handler',
  'virt-controller',
].map((name) => ({ name }))
const ordered = (path: 'update' | 'create') => inRolloutOrder(names, path).map(({ name }) => name)

test('an update rolls virt-handler first and virt-api last; what is unknown comes before the end (facts 2.5)', () => {
  expect(ordered('update')).toEqual([
    'virt-handler',
    'virt-controller',
    'virt-template-apiserver',
    'virt-something-new',
    'virt-api',
  ])
})

test('install and rollback begin with virt-api and end with virt-handler', () => {
  expect(ordered('create')).toEqual([
    'virt-api',
    'virt-controller',
    'virt-template-apiserver',
    'virt-something-new',
    'virt-handler',
  ])
})

test.each<[string | null, string | null, string]>(fixture.paths as never)(
  'from %s to %s: %s',
  (observed, target, path) => {
    expect(rolloutPath(observed ?? undefined, target ?? undefined)).toBe(path)
  },
)
