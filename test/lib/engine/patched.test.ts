import { expect, test } from 'vitest'
import type { JsonOperation } from '../../../src/lib/kube/cluster.ts'
import { jsonPatched, mergePatched } from '../../../src/lib/kube/patch.ts'
import fixture from './patched.json' with { type: 'json' }

const before = {
  metadata: { name: 'a', labels: { 'kubevirt.io': '', x: '1' } },
  spec: { methods: ['LiveMigrate', 'Evict'], tag: 'v1', 'odd/~key': { deep: [{ a: 1 }, { a: 2 }] } },
}

const { metadata, spec } = before

test.each(fixture.merges as unknown as [object, object][])('merge patch %j', (change, after) => {
  expect(mergePatched(before, change)).toEqual(after)
})

test('a merge patch leaves what it was made on', () => {
  const copy = structuredClone(before)
  mergePatched(before, { spec: { tag: null, methods: [] } })
  expect(before).toEqual(copy)
})

const operations = fixture.operations as unknown as [string, JsonOperation[], unknown][]

test.each(operations)('JSON patch: %s', (_name, patch, after) => {
  const copy = structuredClone(before)
  expect(jsonPatched(before, patch)).toEqual({ metadata, spec: after })
  expect(before).toEqual(copy)
})

test('JSON patch: takes a member with a dot in its name out', () => {
  expect(jsonPatched(before, [{ op: 'remove', path: '/metadata/labels/kubevirt.io' }])).toEqual({
    metadata: { name: 'a', labels: { x: '1' } },
    spec,
  })
})

test.each<[string, JsonOperation[]]>(fixture.refused as never)('JSON patch: %s', (_name, patch) => {
  const copy = structuredClone(before)
  expect(jsonPatched(before, patch)).toBeUndefined()
  expect(before).toEqual(copy)
})
