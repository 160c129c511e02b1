import { expect, test } from 'vitest'
import type { JsonOperation } from '../../../src/lib/kube/cluster.ts'
import { jsonPatched, mergePatched } from '../../../src/lib/kube/patch.ts'

const before = {
  metadata: { name: 'a', labels: { 'kubevirt.io': '', x: '1' } },
  spec: { methods: ['LiveMigrate', 'Evict'], tag: 'v1', 'odd/~key': { deep: [{ a: 1 }, { a: 2 }] } },
}

const { metadata, spec } = before
const { tag: _, ...untagged } = spec

test.each([
  [{ spec: { tag: 'v2' } }, { metadata, spec: { ...spec, tag: 'v2' } }],
  [{ spec: { tag: null, registry: null } }, { metadata, spec: untagged }],
  [{ spec: { methods: [] } }, { metadata, spec: { ...spec, methods: [] } }],
  [
    { spec: { methods: { now: { an: 'object', not: null } } } },
    { metadata, spec: { ...spec, methods: { now: { an: 'object' } } } },
  ],
  [
    { spec: null, more: { a: { b: null, c: 1 } } },
    { metadata, more: { a: { c: 1 } } },
  ],
  [
    { metadata: { labels: { y: '2' } }, spec: 'text' },
    { metadata: { name: 'a', labels: { 'kubevirt.io': '', x: '1', y: '2' } }, spec: 'text' },
  ],
  [{}, before],
])('merge patch %j', (change, after) => {
  expect(mergePatched(before, change)).toEqual(after)
})

test('a merge patch leaves what it was made on', () => {
  const copy = structuredClone(before)
  mergePatched(before, { spec: { tag: null, methods: [] } })
  expect(before).toEqual(copy)
})

const operations: [string, JsonOperation[], unknown][] = [
  ['sets a member', [{ op: 'replace', path: '/spec/tag', value: 'v2' }], { ...spec, tag: 'v2' }],
  [
    'replaces a member that is not there',
    [{ op: 'replace', path: '/spec/new', value: 1 }],
    { ...spec, new: 1 },
  ],
  [
    'adds to the end of a list',
    [{ op: 'add', path: '/spec/methods/-', value: 'X' }],
    { ...spec, methods: ['LiveMigrate', 'Evict', 'X'] },
  ],
  [
    'adds into a list',
    [{ op: 'add', path: '/spec/methods/0', value: 'X' }],
    { ...spec, methods: ['X', 'LiveMigrate', 'Evict'] },
  ],
  [
    'replaces in a list',
    [{ op: 'replace', path: '/spec/methods/1', value: 'X' }],
    { ...spec, methods: ['LiveMigrate', 'X'] },
  ],
  ['takes out of a list', [{ op: 'remove', path: '/spec/methods/0' }], { ...spec, methods: ['Evict'] }],
  ['takes a member out', [{ op: 'remove', path: '/spec/tag' }], untagged],
  [
    'knows escaped keys',
    [{ op: 'replace', path: '/spec/odd~1~0key/deep/1/a', value: 3 }],
    { ...spec, 'odd/~key': { deep: [{ a: 1 }, { a: 3 }] } },
  ],
  [
    'goes on after a test that holds, whatever the order of members',
    [
      { op: 'test', path: '/metadata', value: { labels: { x: '1', 'kubevirt.io': '' }, name: 'a' } },
      { op: 'remove', path: '/spec/tag' },
    ],
    untagged,
  ],
]

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

const refused: [string, JsonOperation[]][] = [
  ['ends at a test that fails', [{ op: 'test', path: '/spec/tag', value: 'v9' }]],
  ['ends where there is nothing to remove', [{ op: 'remove', path: '/spec/none' }]],
  ['ends where nothing holds it', [{ op: 'add', path: '/none/at/all', value: 1 }]],
  ['ends outside of a list', [{ op: 'add', path: '/spec/methods/7', value: 1 }]],
]

test.each(refused)('JSON patch: %s', (_name, patch) => {
  const copy = structuredClone(before)
  expect(jsonPatched(before, patch)).toBeUndefined()
  expect(before).toEqual(copy)
})
