import { expect, test } from 'vitest'
import {
  compareMinors,
  comparePlatforms,
  parsePlatformMinor,
  platformVersionOf,
} from '../../../src/lib/releases/release-versions.ts'
import fixture from './platform-version.json' with { type: 'json' }

const version = (text: string) => {
  const found = platformVersionOf(text)
  if (found === undefined) throw new Error(`${text} is no release`)
  return found
}

test('ocp 3.7: a build of OKD is no pre-release, though semver takes it for one', () => {
  expect(version('4.19.0-okd-scos.16')).toMatchObject({ build: 'okd-scos.16' })
  expect(version('4.15.0-0.okd-2024-03-10-010116')).toMatchObject({ build: '0.okd-2024-03-10-010116' })
  expect(version('4.19.0-okd-scos.ec.3')).toMatchObject({ prerelease: 'okd-scos.ec.3' })
  expect(version('4.20.0-rc.2')).toMatchObject({ prerelease: 'rc.2' })
})

test.each(fixture.older)('%s is older than %s', (older, newer) => {
  expect(comparePlatforms(version(older), version(newer))).toBeLessThan(0)
  expect(comparePlatforms(version(newer), version(older))).toBeGreaterThan(0)
})

test.each(['', '4.18', 'stable-4.18', '4.18.21+build', 'sha256:1', '4.18.x'])('%j is no release', (text) => {
  expect(platformVersionOf(text)).toBeUndefined()
})

test('minors are compared by numbers', () => {
  expect(['5.0', '4.9', '4.23', '4.10'].toSorted(compareMinors)).toEqual(['4.9', '4.10', '4.23', '5.0'])
})

test('a minor that was typed; a release is told to be a minor', () => {
  expect(parsePlatformMinor(' v4.20 ')).toBe('4.20')
  expect(() => parsePlatformMinor('4.20.3')).toThrow(
    expect.objectContaining({ exitCode: 2, reason: 'not-a-minor' }),
  )
  expect(() => parsePlatformMinor('eus-4.20')).toThrow('is no minor')
  expect(() => parsePlatformMinor('4.020')).toThrow('is no minor')
})
