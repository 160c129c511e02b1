import { describe, expect, test } from 'vitest'
import { compareVersions, parseVersion, versionOf } from '../../../src/lib/releases/release-versions.ts'
import fixture from './version.json' with { type: 'json' }

describe('parseVersion', () => {
  test.each([
    ['v1.9.0', 'v1.9.0'],
    ['1.9.0', 'v1.9.0'],
    [' v1.8.4 ', 'v1.8.4'],
    ['1.9.0-rc.1', 'v1.9.0-rc.1'],
    ['v0.59.0', 'v0.59.0'],
  ])('%s is %s', (typed, canonical) => {
    expect(parseVersion(typed).text).toBe(canonical)
  })

  test.each(fixture.refused)('%j is exit 2 and says why', (typed, why) => {
    expect(() => parseVersion(typed)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        reason: 'not-a-version',
        message: expect.stringContaining(why),
      }),
    )
  })
})

test('a minor of the platform names the command that is for it', () => {
  expect(() => parseVersion('4.20')).toThrow(
    expect.objectContaining({
      remedy: expect.arrayContaining([
        'kvup eus plan --to 4.20     plans the EUS upgrade of OKD or OpenShift',
      ]),
    }),
  )
})

test('pre-releases come before their release, by semver', () => {
  const typed = ['v1.9.0', 'v1.9.0-rc.10', 'v1.9.0-rc.2', 'v1.9.0-alpha.0', 'v1.8.4', 'v1.10.0']
  const ordered = typed.map(parseVersion).sort(compareVersions)
  expect(ordered.map((v) => v.text)).toEqual([
    'v1.8.4',
    'v1.9.0-alpha.0',
    'v1.9.0-rc.2',
    'v1.9.0-rc.10',
    'v1.9.0',
    'v1.10.0',
  ])
})

test('what the cluster calls a version may be none', () => {
  expect(versionOf('devel')).toBeUndefined()
  expect(versionOf(undefined)).toBeUndefined()
  expect(versionOf('v1.8.4')).toEqual({ text: 'v1.8.4', major: 1, minor: 8, patch: 4 })
})
