import { expect, test } from 'vitest'
import {
  firstIntolerant,
  kubeletsBehind,
  minorsTo,
  nextEus,
  platformMinor,
  platformOfKubernetes,
  platformsOfKubernetes,
} from '../../../src/lib/releases/platform-releases.ts'
import fixture from './platform-minors.json' with { type: 'json' }

test.each<[string, string | null]>(fixture.eus as never)(
  'after %s the next with extended support is %s',
  (from, to) => {
    expect(nextEus(from) ?? null).toBe(to)
  },
)

test.each<[string, string, string[] | null]>(fixture.minors as never)(
  'from %s to %s leads %j',
  (from, to, path) => {
    expect(minorsTo(from, to) ?? null).toEqual(path)
  },
)

test('trap 17: parity would forbid 4.22 to 5.2 and allow 4.21 to 4.23; the skew says otherwise', () => {
  expect(firstIntolerant('4.22', ['5.0', '5.1', '5.2'])).toBeUndefined()
  expect(firstIntolerant('5.2', ['5.3', '5.4', '5.5'])).toBeUndefined()
  expect(firstIntolerant('4.21', ['4.22', '4.23'])).toBe('4.23')
  expect(firstIntolerant('4.19', ['4.20', '4.21'])).toBe('4.21')
  expect(firstIntolerant('4.18', ['4.19', '4.20', '4.21'])).toBe('4.21')
  expect(platformMinor('4.23')?.eus).toBe(true)
})

test('kubelets tell which minor they are of', () => {
  expect(platformOfKubernetes('v1.31.7')).toBe('4.18')
  expect(platformOfKubernetes('v1.36.0')).toBe('4.23')
  expect(platformsOfKubernetes('v1.36.0')).toEqual(['4.23', '5.0'])
  expect(platformOfKubernetes('v1.10.0')).toBeUndefined()
  expect(platformOfKubernetes('v1.311.0')).toBeUndefined()
  expect(kubeletsBehind('4.18', '4.20')).toBe(2)
  expect(kubeletsBehind('4.18', '9.9')).toBeUndefined()
})
