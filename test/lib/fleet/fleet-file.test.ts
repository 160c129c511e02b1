import { expect, test } from 'vitest'
import { contextsLike, parseFleet } from '../../../src/lib/fleet/fleet-file.ts'
import { groupsOf } from '../../../src/lib/fleet/fleet-plan.ts'
import fixture from './fleet-file.json' with { type: 'json' }

const head = 'apiVersion: kvup.io/v1alpha1\nkind: Fleet\nclusters:\n'

test('a fleet file: names, canary, groups, accepted risks', () => {
  const text = `${head}- context: eu\n  canary: true\n- name: us\n  context: prod-us\n  group: 2\n  accept: [a, b=why]\n`
  expect(parseFleet(text, 'f.yaml')).toEqual([
    { name: 'eu', context: 'eu', group: 0, accept: [], at: 'f.yaml:4' },
    {
      name: 'us',
      context: 'prod-us',
      group: 2,
      accept: ['a', 'b=why'],
      at: 'f.yaml:6',
    },
  ])
})

test.each(fixture.refused)('what is not meant is refused with its line: %j', (text, message) => {
  expect(() => parseFleet(text, 'f.yaml')).toThrow(message)
})

test('contexts by a pattern, in the order of the kubeconfig', () => {
  const names = ['prod-1', 'stage', 'prod.2', 'prodx2', 'prod-11']
  expect(contextsLike(names, ['prod-*'])).toEqual(['prod-1', 'prod-11'])
  expect(contextsLike(names, ['prod.2', 'stag?'])).toEqual(['stage', 'prod.2'])
})

const told = (size: number, ...members: readonly { name: string; group?: number }[]) =>
  groupsOf(members, size).map(({ group, members: some }) => [group, some.map(({ name }) => name).join('')])

test('groups: canary, those that say theirs, counted through, the rest by size', () => {
  const rest = ['a', 'd', 'e'].map((name) => ({ name }))
  expect(told(2, ...rest, { name: 'b', group: 7 }, { name: 'f', group: 3 }, { name: 'c', group: 0 })).toEqual(
    [
      [0, 'c'],
      [1, 'f'],
      [2, 'b'],
      [3, 'ad'],
      [4, 'e'],
    ],
  )
  expect(told(5, ...rest)).toEqual([[1, 'ade']])
})
