import { expect, test } from 'vitest'
import { paceOf } from '../../../../src/lib/kube/http/kubeconfig.ts'

const here = 'http://127.0.0.1:4321'
const says = (speed: unknown) => [{ name: 'other' }, { name: 'kvup.io/pace', extension: { speed } }]

test('a simulated cluster on this machine says how fast its time runs', () => {
  expect(paceOf(here, says(60))).toBe(60)
})

test.each([
  ['https://api.example.com:6443', says(60)],
  ['nowhere', says(60)],
  [here, says('60')],
  [here, says(0)],
  [here, says(-1)],
  [here, says(5000)],
  [here, [{ name: 'kvup.io/pace', extension: null }]],
  [here, undefined],
  [here, null],
  [here, 'text' as never],
])('%s with %j says nothing', (server, extensions) => {
  expect(paceOf(server, extensions)).toBeUndefined()
})
