import { expect, test } from 'vitest'
import { contextsLike, parseFleet } from '../../../src/lib/fleet/fleet-file.ts'
import { stopLimit, wavesOf } from '../../../src/lib/fleet/fleet-waves.ts'

const head = 'apiVersion: kvup.io/v1alpha1\nkind: Fleet\nclusters:\n'

test('a fleet file: names, canary, windows, accepted risks', () => {
  const text = `${head}- context: eu\n  canary: true\n- name: us\n  context: prod-us\n  window: Sat 22:00-04:00 UTC\n  accept: [a, b=why]\n`
  expect(parseFleet(text, 'f.yaml')).toEqual([
    { name: 'eu', context: 'eu', wave: 0, windows: [], accept: [], at: 'f.yaml:4' },
    {
      name: 'us',
      context: 'prod-us',
      windows: ['Sat 22:00-04:00 UTC'],
      accept: ['a', 'b=why'],
      at: 'f.yaml:6',
    },
  ])
})

test.each([
  [`${head}- contxt: eu\n`, 'f.yaml:4: a cluster has no field "contxt"; did you mean context?'],
  [`${head}- context: eu\n- context: eu\n`, 'f.yaml:5: the name "eu" stands twice'],
  [`${head}- context: eu\n  window: sometimes\n`, 'f.yaml:5: '],
  [`${head}- context: eu\n  canary: maybe\n`, 'f.yaml:5: canary has to be true or false'],
  [`${head}- context: eu\n  wave: 0\n`, 'f.yaml:5: wave has to be a number from 1'],
  [`${head}- context:\n`, 'f.yaml:4: context is empty'],
  // As a flow a field may have nothing at all behind it.
  [`${head}- {context: a, window}\n`, 'f.yaml:4: window is empty'],
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

test('waves: canary, those that say theirs, the rest by size', () => {
  const members = [
    { name: 'a' },
    { name: 'b', wave: 2 },
    { name: 'c', wave: 0 },
    { name: 'd' },
    { name: 'e' },
  ]
  expect(wavesOf(members, 2)).toEqual([
    { wave: 0, clusters: ['c'] },
    { wave: 1, clusters: ['b'] },
    { wave: 2, clusters: ['a', 'd'] },
    { wave: 3, clusters: ['e'] },
  ])
  expect(wavesOf([{ name: 'a' }], 2)).toEqual([{ wave: 1, clusters: ['a'] }])
})

test('a number or a share of the fleet stops it', () => {
  expect([stopLimit('1', 40), stopLimit('10%', 40), stopLimit('1%', 3)]).toEqual([1, 4, 1])
  for (const wrong of ['0', '101%', 'x', '-1'])
    expect(() => stopLimit(wrong, 3)).toThrow('--stop-after takes')
})
