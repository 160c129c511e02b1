import { expect, test } from 'vitest'
import { againstPlatform } from '../../../src/lib/releases/platform-releases.ts'
import { operatorVersionOf } from '../../../src/lib/releases/release-versions.ts'
import type { HyperConvergedRelease } from '../../../src/lib/releases/releases.ts'

/** 1.16 is in no row, and 4.20 in none. */
const hyperconverged: readonly HyperConvergedRelease[] = [
  { version: '1.15.2', kubevirt: 'v1.5.2', platform: '4.19' },
  { version: '1.17.3', kubevirt: 'v1.7.4', platform: '4.21' },
  { version: '1.18.0', kubevirt: 'v1.8.4' },
  { version: '1.18.1', kubevirt: 'v1.8.4', platform: '4.22' },
]

test.each([
  { what: 'its own row says so', operator: '1.17.3', platform: '4.21', is: 'fits' },
  { what: 'its own row says so', operator: '1.17.9', platform: '4.20', is: 'beyond' },
  {
    what: 'the platform has an operator minor of its own',
    operator: '1.19.0',
    platform: '4.22',
    is: 'beyond',
  },
  { what: 'one before it is beyond already', operator: '1.19.0', platform: '4.20', is: 'beyond' },
  { what: 'no row is so late', operator: '1.19.0', platform: '4.23', is: 'unknown' },
  { what: 'it lies between two rows', operator: '1.16.0', platform: '4.20', is: 'unknown' },
  { what: 'one before it belongs to this platform', operator: '1.16.0', platform: '4.19', is: 'beyond' },
  { what: 'one after it belongs to this platform', operator: '1.16.0', platform: '4.21', is: 'fits' },
  { what: 'older than all rows', operator: '1.3.0', platform: '4.19', is: 'fits' },
  { what: 'on OpenShift it is its own', operator: '4.20.1', platform: '4.19', is: 'beyond' },
])('$operator on platform $platform: $is, for $what', ({ operator, platform, is }) => {
  const version = operatorVersionOf(operator)
  expect(version && againstPlatform(version, platform, { hyperconverged }).is).toBe(is)
})
