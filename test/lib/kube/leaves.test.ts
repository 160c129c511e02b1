import { expect, test } from 'vitest'
import { fieldChanges, leavesOf } from '../../../src/lib/kube/field-changes.ts'

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

test.each([
  ['http://me:secret@proxy:3128', 'http://…@proxy:3128'],
  ['http://me:se@cret@proxy:3128', 'http://…@proxy:3128'],
  ['http://me:se/cret@proxy:3128', 'http://…@proxy:3128'],
  ['http://secret@proxy:3128/a', 'http://…@proxy:3128/a'],
  ['me:secret@proxy:3128', '…@proxy:3128'],
  ['[{"value":"http://me:secret@proxy"},{"value":"a@b"}]', '[{"value":"http://…@proxy"},{"value":"a@b"}]'],
])('a login is left out of an address: %s', (text, shown) => {
  expect(leavesOf({ proxy: text })).toEqual({ proxy: shown })
})

test.each([
  'registry:5000/kubevirt/virt-operator@sha256:0123',
  'virt-operator:v1.8.4@sha256:0123',
  'https://proxy:3128/a',
  'someone@example.com',
])('no login is in %s', (text) => {
  expect(leavesOf({ text })).toEqual({ text })
})

test('a value under the name of a secret is left out, one that is referred to is none', () => {
  const ref = { secretKeyRef: { name: 'login', key: 'token' } }
  const env = [
    { name: 'API_TOKEN', value: 'abc' },
    { name: 'DB_PASSWORD', valueFrom: ref },
    { name: 'TAG', value: 'v1' },
  ]
  const leaves = leavesOf({ env })
  expect(leaves['env[API_TOKEN].value']).toBe('…')
  expect(leaves['env[DB_PASSWORD].valueFrom.secretKeyRef.key']).toBe('token')
  expect(leaves['env[TAG].value']).toBe('v1')
})

test('what every object has is no field of it', () => {
  const added = Object.fromEntries([
    ['constructor', true],
    ['__proto__', true],
  ])
  expect(fieldChanges({}, added)).toEqual([
    { path: 'constructor', to: true },
    { path: '__proto__', to: true },
  ])
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
