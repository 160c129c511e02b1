import { describe, expect, test } from 'vitest'
import type { KvupError } from '../../../src/lib/kube/errors.ts'
import { knownReleases } from '../../../src/lib/releases/releases.ts'
import {
  candidatesIn,
  ensureOneMinorApart,
  issuesOf,
  releasesLeft,
} from '../../../src/lib/releases/release-path.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import fixture from './upgrade-path.json' with { type: 'json' }

const versions = (text: string) => (text === '' ? [] : text.split(' ').map(parseVersion))
const texts = (all: readonly { text: string }[]) => all.map(({ text }) => text).join(' ')

describe('the releases that are left', () => {
  test.each(fixture.left)('from %s by %s to %s: %s', (from, via, to, left) => {
    expect(texts(releasesLeft({ from: parseVersion(from), to: parseVersion(to), via: versions(via) }))).toBe(
      left,
    )
  })

  test.each(fixture.refused)('from %s by %s to %s is refused: %s', (from, via, to, why) => {
    expect(() =>
      releasesLeft({ from: parseVersion(from), to: parseVersion(to), via: versions(via) }),
    ).toThrow(why)
  })
})

test.each([
  ['v1.6.0 v1.7.0', 'v1.8.4'],
  ['v1.6.0 v1.7.0 v1.8.4', 'v1.8.4'],
  ['v0.59.2 v1.0.1', 'v1.1.1'],
])('%s lead one minor after the other to %s', (via, to) => {
  expect(() => ensureOneMinorApart(versions(via), parseVersion(to))).not.toThrow()
})

test.each([
  ['', 'v1.8.4'],
  ['v1.8.4', 'v1.8.4'],
  ['v1.6.0', 'v1.8.4'],
  ['v1.8.0', 'v1.8.4'],
  ['v1.7.0 v1.7.0', 'v1.8.4'],
  ['v1.9.0', 'v1.8.4'],
])('%j does not lead to %s', (via, to) => {
  expect(() => ensureOneMinorApart(versions(via), parseVersion(to))).toThrow(
    expect.objectContaining({ exitCode: 2, reason: 'via' }),
  )
})

describe('the release of a minor that is chosen', () => {
  const from = parseVersion('v1.5.2')

  test('is the newest, and one with a known issue only where there is no other', () => {
    const all = candidatesIn('v1.6', from, knownReleases)
    expect(all[0]?.text).toBe('v1.6.6')
    expect(all.at(-1)?.text).toBe('v1.6.0')
    expect(issuesOf({ from, to: parseVersion('v1.6.0') }).map(({ id }) => id)).toContain('issue-15373')
  })

  test('an issue of the newest makes the one before it the better one', () => {
    const bad = {
      id: 'issue-1',
      to: 'v1.6.6',
      issue: 'https://example.test',
      summary: 'bad',
      level: 'warning',
    } as const
    const releases = { ...knownReleases, knownBad: [...knownReleases.knownBad, bad] }
    expect(candidatesIn('v1.6', from, releases)[0]?.text).toBe('v1.6.5')
  })

  test('none where the minor is not known', () => {
    expect(candidatesIn('v1.99', from, knownReleases)).toEqual([])
  })
})

test('what helps against a wrong --via is one that fits', () => {
  const [from, to] = [parseVersion('v1.5.2'), parseVersion('v1.8.4')]
  const remedyOf = (via: string) => {
    try {
      return releasesLeft({ from, to, via: versions(via.replaceAll(',', ' ')) })
    } catch (error) {
      return (error as KvupError).remedy
    }
  }
  const [line = ''] = remedyOf('v1.7.4') as readonly string[]
  const [, fits = ''] = / --via (\S+)$/u.exec(line) ?? []
  expect(texts(releasesLeft({ from, to, via: versions(fits.replaceAll(',', ' ')) }))).toBe(
    `${fits.replaceAll(',', ' ')} v1.8.4`,
  )
})
