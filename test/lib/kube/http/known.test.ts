import { expect, test } from 'vitest'
import { Known } from '../../../../src/lib/kube/http/watch.ts'
import { type ConfigMap, ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'

const map = (name: string, resourceVersion: string, uid = `uid-${name}`): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns', uid, resourceVersion },
})
const told = (changes: Iterable<{ type: string; object: ConfigMap }>) =>
  [...changes].map(({ type, object: { metadata } }) => `${type} ${metadata.name}@${metadata.resourceVersion}`)

test('new, the same, changed', () => {
  const known = new Known(ConfigMaps)
  expect(told(known.observed(map('a', '1')))).toEqual(['added a@1'])
  expect(told(known.observed(map('a', '1')))).toEqual([])
  expect(told(known.observed(map('a', '2')))).toEqual(['modified a@2'])
})

test('one of the same name that was made anew is a deletion and an addition', () => {
  const known = new Known(ConfigMaps)
  known.observed(map('a', '1')).next()
  const changes = [...known.observed(map('a', '9', 'another'))]
  expect(changes.map(({ type, object }) => [type, object.metadata.uid])).toEqual([
    ['deleted', 'uid-a'],
    ['added', 'another'],
  ])
})

test('a deletion is told once, and not for a later object of the name', () => {
  const known = new Known(ConfigMaps)
  known.observed(map('a', '1')).next()
  expect(told(known.gone(map('a', '2', 'another')))).toEqual([])
  expect(told(known.gone(map('a', '2')))).toEqual(['deleted a@2'])
  expect(told(known.gone(map('a', '2')))).toEqual([])
})

test('a list shows what is missing, by its identity alone', () => {
  const known = new Known(ConfigMaps)
  for (const name of ['a', 'b']) known.observed(map(name, '1')).next()
  known.beginPass()
  known.observed(map('b', '1')).next()
  expect([...known.missing()]).toEqual([
    {
      type: 'deleted',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: 'ns', uid: 'uid-a', resourceVersion: '1' },
      },
    },
  ])
  expect([...known.missing()]).toEqual([])
})
