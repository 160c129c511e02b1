import { expect, test } from 'vitest'
import { laterCrdVersions } from '../../../src/lib/releases/hop-findings.ts'
import { knownReleases, latestPatch, parseReleases } from '../../../src/lib/releases/releases.ts'
import { parseVersion, type Version } from '../../../src/lib/releases/release-versions.ts'
import fixture from './later-crd-versions.json' with { type: 'json' }

const between = (from: string, to: string) =>
  laterCrdVersions(parseVersion(from), knownReleases, parseVersion(to)).map(
    ({ group, versions }) => `${group} ${versions.join(' ')}`,
  )

/** Minors as they follow one another, each by its last patch. */
const minors = Object.keys(knownReleases.minors)
  .map((minor) => latestPatch(minor))
  .filter((version): version is Version => version !== undefined)

test('the pairs of neighbours in which the newer one stores what the older one does not have (facts 1.6)', () => {
  const pairs = minors.slice(1).flatMap((to, i) => {
    const from = minors[i] ?? to
    const later = between(from.text, to.text)
    return later.length === 0 ? [] : [[`v${from.major}.${from.minor}`, ...later]]
  })
  expect(pairs).toEqual(fixture.pairs)
})

test('over several minors all of it, the earliest first; a patch and the way forward bring nothing', () => {
  expect(between('v1.4.1', 'v1.9.0')).toEqual([
    'clone.kubevirt.io v1beta1',
    'pool.kubevirt.io v1beta1',
    'export.kubevirt.io v1',
  ])
  expect(between('v1.8.0', 'v1.8.4')).toEqual([])
  expect(between('v1.9.0', 'v1.8.4')).toEqual([])
  expect(laterCrdVersions(parseVersion('v1.8.4'), knownReleases)).toMatchObject([{ since: 'v1.9' }])
})

test('a pre-release has what its minor has', () => {
  expect(between('v1.8.4', 'v1.9.0-rc.0')).toEqual(['export.kubevirt.io v1'])
})

test('a release file of before says nothing of it, and one that says it wrongly is refused', () => {
  const { addedCrdVersions: _, ...before } = knownReleases
  const read = parseReleases(JSON.stringify(before), 'old.json')
  expect(laterCrdVersions(parseVersion('v1.8.4'), read)).toEqual([])
  expect(() => parseReleases(JSON.stringify({ ...before, addedCrdVersions: {} }), 'bad.json')).toThrow(
    'addedCrdVersions is no list',
  )
})
