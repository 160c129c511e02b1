import { expect, test } from 'vitest'
import { allChecks } from '../../../src/lib/checks/check-run.ts'
import { breaksOf } from '../../../src/lib/releases/release-breaks.ts'
import { hypervisorOf, knownReleases } from '../../../src/lib/releases/releases.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'

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
test.each([
  ['v1.4', 'defaults-that-shift', 12848],
  ['v1.4', 'vms-that-change', 12967],
  ['v1.4', 'defaults-that-shift', 12753],
  ['v1.5', 'defaults-that-shift', 13497],
  ['v1.5', 'defaults-that-shift', 11266],
  ['v1.5', 'defaults-that-shift', 11997],
  ['v1.5', 'defaults-that-shift', 15338],
  ['v1.6', 'defaults-that-shift', 14068],
  ['v1.6', 'defaults-that-shift', 14048],
  ['v1.6', 'known-bad', 17029],
  ['v1.6', 'known-bad', 15355],
  ['v1.6', 'defaults-that-shift', 15314],
  ['v1.6', 'vms-that-change', 15037],
  ['v1.6', 'cpu-vendors', 16060],
  ['v1.7', 'crd-stored-versions', 15400],
  ['v1.7', 'defaults-that-shift', 15314],
  ['v1.7', 'vms-that-change', 15037],
  ['v1.7', 'operator-environment', 15061],
  ['v1.7', 'node-support', 14976],
  ['v1.7', 'control-plane-label', 15157],
  ['v1.7', 'known-bad', 16386],
  ['v1.8', 'known-bad', 11615],
  ['v1.8', 'vms-that-change', 16453],
  ['v1.8', 'vms-that-change', 16456],
  ['v1.8', 'defaults-that-shift', 16023],
  ['v1.8', 'defaults-that-shift', 16220],
  ['v1.8', 'cpu-vendors', 16060],
  ['v1.8', 'screenshot-rights', 17512],
  ['v1.9', 'defaults-that-shift', 17405],
  ['v1.9', 'network-resources', 16734],
  ['v1.9', 'hotplugged-volumes', 16932],
  ['v1.9', 'vms-that-change', 18507],
  ['v1.9', 'node-support', 17809],
  ['v1.9', 'crd-stored-versions', 16730],
])('%s: %s by %i', (minor, check, number) => {
  const rows = all.filter((row) => row.minor === minor && row.check === check)
  const sources = rows.flatMap((row) => row.sources)
  expect(sources.some((source) => source.endsWith(`/${number}`))).toBe(true)
})

/** Issues that the tags tell: the minors that have them, and until when. */
test.each([
  ['pull/17029', ['v1.6 until v1.6.4', 'v1.7 until v1.7.2']],
  ['issues/14318', ['v1.4 until v1.4.1', 'v1.5 until v1.5.1']],
  ['pull/14495', ['v1.4 until v1.4.1', 'v1.5 until v1.5.1', 'v1.6 until v1.6.3']],
  ['issues/12637', ['v1.3', 'v1.4', 'v1.5', 'v1.6 until v1.6.1']],
  ['pull/15661', ['v1.3', 'v1.4', 'v1.5', 'v1.6 until v1.6.2']],
  ['pull/13614', ['v1.3', 'v1.4 until v1.4.1']],
  ['pull/15007', ['v1.5 until v1.5.3', 'v1.6 until v1.6.3']],
  ['pull/15015', ['v1.5 until v1.5.3']],
  ['issues/16561', ['v1.8 until v1.8.4']],
  ['issues/15373', ['v1.6 only v1.6.0']],
])('%s is in %j', (source, minors) => {
  const rows = all.filter(({ sources }) => sources.some((one) => one.endsWith(`/${source}`)))
  expect(rows.map(({ minor, releases }) => (releases ? `${minor} ${releases}` : minor))).toEqual(minors)
})

test.each([
  ['v1.3.1', '8.2.0-11', '10.0.0-7'],
  ['v1.4.0', '9.0.0-10', '10.5.0-5'],
  ['v1.4.1', '9.0.0-10', '10.9.0-1'],
  ['v1.5.3', '9.1.0-12', '10.10.0-4'],
  ['v1.6.0', '9.1.0-19', '10.10.0-10'],
  ['v1.6.6', '9.1.0-19', '10.10.0-13'],
  ['v1.7.4', '9.1.0-20', '10.10.0-13'],
  ['v1.8.0', '10.1.0-10', '11.9.0-1'],
  ['v1.9.0', '10.1.0-20', '11.10.0-12'],
])('%s runs VMs with QEMU %s and libvirt %s', (version, qemu, libvirt) => {
  expect(hypervisorOf(parseVersion(version), knownReleases)).toMatchObject({ qemu, libvirt })
})

test('of a minor that nobody knows yet no QEMU is made up', () => {
  expect(hypervisorOf(parseVersion('v1.10.0'), knownReleases)).toBeUndefined()
})
