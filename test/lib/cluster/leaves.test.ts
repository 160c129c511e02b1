import { expect, test } from 'vitest'
import { fieldChanges, leavesOf } from '../../../src/lib/cluster/leaves.ts'

const deployment = {
  spec: {
    replicas: 2,
    selector: {},
    template: {
      metadata: { labels: { 'kubevirt.io': 'virt-operator' } },
      spec: {
        containers: [{ name: 'op', image: 'x:v1', args: ['-v', '2'], env: [{ name: 'A', value: '1' }] }],
      },
    },
  },
}

test('leaves are named as kubectl names fields, elements by their name', () => {
  expect(leavesOf(deployment)).toEqual({
    'spec.replicas': 2,
    'spec.selector': {},
    'spec.template.metadata.labels["kubevirt.io"]': 'virt-operator',
    'spec.template.spec.containers[op].name': 'op',
    'spec.template.spec.containers[op].image': 'x:v1',
    'spec.template.spec.containers[op].args': ['-v', '2'],
    'spec.template.spec.containers[op].env[A].name': 'A',
    'spec.template.spec.containers[op].env[A].value': '1',
  })
})

test('elements without a name, or with one twice, are known by their place', () => {
  expect(leavesOf({ a: [{ b: 1 }, { b: 2 }] })).toEqual({ 'a[0].b': 1, 'a[1].b': 2 })
  expect(Object.keys(leavesOf({ a: [{ name: 'x' }, { name: 'x' }] }))).toEqual(['a[0].name', 'a[1].name'])
})

test('a password in a URL is left out', () => {
  expect(leavesOf({ proxy: 'http://me:secret@proxy:3128' })).toEqual({ proxy: 'http://…@proxy:3128' })
})

test('changes: absent is not null, the order of a list of names does not matter', () => {
  const before = { tag: null, list: [{ name: 'a', v: 1 }, { name: 'b' }], methods: ['LiveMigrate'], gone: 1 }
  const after = { list: [{ name: 'b' }, { name: 'a', v: 2 }], methods: [], fresh: true }
  expect(fieldChanges(leavesOf(before), leavesOf(after))).toEqual([
    { path: 'tag', from: null },
    { path: 'list[a].v', from: 1, to: 2 },
    { path: 'methods', from: ['LiveMigrate'], to: [] },
    { path: 'gone', from: 1 },
    { path: 'fresh', to: true },
  ])
})
