import { describe, expect, test } from 'vitest'
import { jsonPatch, strategicPatch } from '../../../../src/simulator/api/patch.ts'
import { refused } from './fixture.ts'

describe('JSON patch', () => {
  test.each([
    [{ a: 1 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
    [{ a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: 1 }, c: { b: 1 } }],
  ])('%j with %j is %j', (into, operations, result) => expect(jsonPatch(into, operations)).toEqual(result))

  test.each([
    ['a test that fails', [{ op: 'test', path: '/a', value: 2 }]],
    ['a path that is not there', [{ op: 'remove', path: '/b' }]],
    ['a replace of no list item', [{ op: 'replace', path: '/l/5', value: 1 }]],
    ['a position past the end', [{ op: 'add', path: '/l/5', value: 1 }]],
  ])('%s is 422', (_, operations) =>
    expect(refused(() => jsonPatch({ a: 1, l: [] }, operations))).toMatchObject({
      status: 422,
      message: 'the server rejected our request due to an error in our request',
    }),
  )

  test('leaves what it was given alone', () => {
    const object = { a: { b: 1 } }
    jsonPatch(object, [{ op: 'replace', path: '/a/b', value: 2 }])
    expect(object).toEqual({ a: { b: 1 } })
  })
})

describe('strategic merge patch', () => {
  const pod = { containers: [{ name: 'a', image: 'x', env: [{ name: 'E', value: '1' }] }, { name: 'b' }] }

  test('merges containers and env by name', () => {
    const change = { containers: [{ name: 'a', env: [{ name: 'F', value: '2' }] }] }
    const env = [
      { name: 'E', value: '1' },
      { name: 'F', value: '2' },
    ]
    expect(strategicPatch(pod, change)).toEqual({
      containers: [{ name: 'a', image: 'x', env }, { name: 'b' }],
    })
  })

  test('deletes by $patch', () =>
    expect(strategicPatch(pod, { containers: [{ name: 'a', $patch: 'delete' }] })).toEqual({
      containers: [{ name: 'b' }],
    }))

  test('replaces by $patch', () =>
    expect(strategicPatch({ a: { b: 1 } }, { a: { $patch: 'replace', c: 1 } })).toEqual({ a: { c: 1 } }))

  test('takes words from lists of words', () =>
    expect(
      strategicPatch({ finalizers: ['a', 'b'] }, { '$deleteFromPrimitiveList/finalizers': ['a'] }),
    ).toEqual({ finalizers: ['b'] }))

  test('keeps only the keys of $retainKeys', () =>
    expect(strategicPatch({ s: { type: 'x', old: 1 } }, { s: { $retainKeys: ['type'], type: 'y' } })).toEqual(
      { s: { type: 'y' } },
    ))

  test('replaces lists that have no merge key', () =>
    expect(strategicPatch({ args: ['a', 'b'] }, { args: ['c'] })).toEqual({ args: ['c'] }))
})
