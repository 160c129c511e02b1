import { expect, test } from 'vitest'
import { compareReleases, sameMinor } from '../../../../src/simulator/openshift/openshift-shape.ts'

test.each<readonly [string, '<' | '=' | '>', string]>([
  ['4.18.9', '<', '4.18.21'],
  ['4.19.0-okd-scos.10', '<', '4.19.0-okd-scos.16'],
  ['4.19.0-okd-scos.16', '>', '4.19.0'],
  ['4.20.0-okd-scos.4', '>', '4.19.0-okd-scos.16'],
  ['4.19.14', '=', '4.19.14'],
  ['5.0.0', '>', '4.23.7'],
])('ocp 3.7: %s %s %s', (a, sign, b) => {
  expect(Math.sign(compareReleases(a, b))).toBe({ '<': -1, '=': 0, '>': 1 }[sign])
})

test('a minor is one of its major', () => {
  expect(sameMinor('4.19.0-okd-scos.16', '4.19.14')).toBe(true)
  expect(sameMinor('4.0.1', '5.0.1')).toBe(false)
})
