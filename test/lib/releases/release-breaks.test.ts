import { expect, test } from 'vitest'
import { allChecks } from '../../../src/lib/checks/check-run.ts'
import { breaksOf } from '../../../src/lib/releases/release-breaks.ts'
import { hypervisorOf, knownReleases } from '../../../src/lib/releases/releases.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import fixture from './release-breaks.json' with { type: 'json' }

const all = breaksOf(knownReleases)

test('each row names a check that there is, and its source', () => {
  const ids = new Set(allChecks.map(({ id }) => id))
  expect(all.filter(({ check }) => !ids.has(check))).toEqual([])
  const unsourced = all.filter(({ sources }) => !sources.some((one) => one.startsWith('https://github.com/')))
  expect(unsourced).toEqual([])
})

test.each(['v1.4', 'v1.5', 'v1.6', 'v1.7', 'v1.8', 'v1.9'])('%s has rows', (minor) => {
  expect(all.filter((row) => row.minor === minor).length).toBeGreaterThan(5)
})

test('the rows go by their minors, the oldest first', () => {
  const minors = [...new Set(all.map(({ minor }) => minor))]
  expect(minors).toEqual(Object.keys(knownReleases.minors).filter((minor) => minors.includes(minor)))
})

/** The notes of the tags: in which minor, the check, the pull request. */
test.each<[string, string, number]>(fixture.notes as never)('%s: %s by %i', (minor, check, number) => {
  const rows = all.filter((row) => row.minor === minor && row.check === check)
  const sources = rows.flatMap((row) => row.sources)
  expect(sources.some((source) => source.endsWith(`/${number}`))).toBe(true)
})

/** Issues that the tags tell: the minors that have them, and until when. */
test.each<[string, string[]]>(fixture.issues as never)('%s is in %j', (source, minors) => {
  const rows = all.filter(({ sources }) => sources.some((one) => one.endsWith(`/${source}`)))
  expect(rows.map(({ minor, releases }) => (releases ? `${minor} ${releases}` : minor))).toEqual(minors)
})

test.each(fixture.hypervisors)('%s runs VMs with QEMU %s and libvirt %s', (version, qemu, libvirt) => {
  expect(hypervisorOf(parseVersion(version), knownReleases)).toMatchObject({ qemu, libvirt })
})

test('of a minor that nobody knows yet no QEMU is made up', () => {
  expect(hypervisorOf(parseVersion('v1.10.0'), knownReleases)).toBeUndefined()
})
