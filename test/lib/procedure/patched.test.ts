import { expect, test } from 'vitest'
import type { JsonOperation } from '../../../src/lib/kube/cluster.ts'
import { jsonPatched, mergePatched } from '../../../src/lib/engine/local-writer.ts'
import { jsonPatch, mergePatch } from '../../../src/simulator/api/patch.ts'

const before = {
  metadata: { name: 'a', labels: { 'kubevirt.io': '', x: '1' } },
  spec: { methods: ['LiveMigrate', 'Evict'], tag: 'v1', 'odd/~key': { deep: [{ a: 1 }, { a: 2 }] } },
}

test.each([
  [{ spec: { tag: 'v2' } }],
  [{ spec: { tag: null, registry: null } }],
  [{ spec: { methods: [] } }],
  [{ spec: { methods: { now: { an: 'object', not: null } } } }],
  [{ spec: null, more: { a: { b: null, c: 1 } } }],
  [{ metadata: { labels: { y: '2' } }, spec: 'text' }],
  [{}],
])('merge patch %j: as the simulated server has it', (change) => {
  expect(mergePatched(before, change)).toEqual(mergePatch(before, change))
})

test('a merge patch leaves what it was made on', () => {
  const copy = structuredClone(before)
  mergePatched(before, { spec: { tag: null, methods: [] } })
  expect(before).toEqual(copy)
})

const operations: [string, JsonOperation[]][] = [
  ['sets a member', [{ op: 'replace', path: '/spec/tag', value: 'v2' }]],
  ['replaces a member that is not there', [{ op: 'replace', path: '/spec/new', value: 1 }]],
  ['adds to the end of a list', [{ op: 'add', path: '/spec/methods/-', value: 'X' }]],
  ['adds into a list', [{ op: 'add', path: '/spec/methods/0', value: 'X' }]],
  ['replaces in a list', [{ op: 'replace', path: '/spec/methods/1', value: 'X' }]],
  ['takes out of a list', [{ op: 'remove', path: '/spec/methods/0' }]],
  ['takes a member out', [{ op: 'remove', path: '/metadata/labels/kubevirt.io' }]],
  ['knows escaped keys', [{ op: 'replace', path: '/spec/odd~1~0key/deep/1/a', value: 3 }]],
  [
    'goes on after a test that holds, whatever the order of members',
    [
      { op: 'test', path: '/metadata', value: { labels: { x: '1', 'kubevirt.io': '' }, name: 'a' } },
      { op: 'remove', path: '/spec/tag' },
    ],
  ],
  ['ends at a test that fails', [{ op: 'test', path: '/spec/tag', value: 'v9' }]],
  ['ends where there is nothing to remove', [{ op: 'remove', path: '/spec/none' }]],
  ['ends where nothing holds it', [{ op: 'add', path: '/none/at/all', value: 1 }]],
  ['ends outside of a list', [{ op: 'add', path: '/spec/methods/7', value: 1 }]],
]

test.each(operations)('JSON patch: %s', (_, patch) => {
  const copy = structuredClone(before)
  expect(jsonPatched(before, patch)).toEqual(orUndefined(() => jsonPatch(before, patch)))
  expect(before).toEqual(copy)
})

function orUndefined(work: () => unknown): unknown {
  try {
    return work()
  } catch {
    return undefined
  }
}
