import { expect, test } from 'vitest'
import { contextsLike, parseFleet } from '../../../src/lib/fleet/fleet-file.ts'
import { groupsOf } from '../../../src/lib/fleet/fleet-plan.ts'

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

test.each([
  [`${head}- contxt: eu\n`, 'f.yaml:4: a cluster has no field "contxt"; did you mean context?'],
  [`${head}- context: eu\n- context: eu\n`, 'f.yaml:5: the name "eu" stands twice'],
  [`${head}- context: eu\n  window: Sat 22:00-04:00\n`, 'f.yaml:5: a cluster has no field "window"; it has '],
  [`${head}- context: eu\n  canary: maybe\n`, 'f.yaml:5: canary has to be true or false'],
  [`${head}- context: eu\n  group: 0\n`, 'f.yaml:5: group has to be a number from 1'],
  [`${head}- context:\n`, 'f.yaml:4: context is empty'],
  // As a flow a field may have nothing at all behind it.
  [`${head}- {context: a, group}\n`, 'f.yaml:4: group is empty'],
  [`${head}- {context: a, kubeconfig}\n`, 'f.yaml:4: kubeconfig is empty'],
  ['kind: Fleet\nclusters: []\n', 'f.yaml:1: apiVersion has to be a text'],
  [`${head}- context: [eu\n`, 'f.yaml:'],
  ['', 'f.yaml:1: it is no fleet file'],
])('what is not meant is refused with its line: %j', (text, message) => {
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
