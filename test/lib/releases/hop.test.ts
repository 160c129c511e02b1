import { describe, expect, test } from 'vitest'
import {
  hopFindings,
  operatorRule,
  pinnedTagRule,
  unaccepted,
} from '../../../src/lib/releases/hop-findings.ts'
import { hop } from '../../../src/lib/releases/release-path.ts'
import { knownReleases, kubernetesWindow } from '../../../src/lib/releases/releases.ts'
import { parseVersion as v } from '../../../src/lib/releases/release-versions.ts'

test.each([
  ['v1.8.4', 'v1.8.4', { kind: 'same' }],
  ['v1.8.3', 'v1.8.4', { kind: 'patch' }],
  ['v1.9.0-rc.1', 'v1.9.0', { kind: 'patch' }],
  ['v1.8.4', 'v1.9.0', { kind: 'minor' }],
  ['v1.6.0', 'v1.9.0', { kind: 'skips-minors', skipped: ['v1.7', 'v1.8'] }],
  ['v1.9.0', 'v1.8.4', { kind: 'downgrade' }],
  ['v1.9.0', 'v1.9.0-rc.1', { kind: 'downgrade' }],
  ['v0.59.2', 'v1.0.0', { kind: 'major' }],
  ['v0.58.0', 'v1.1.0', { kind: 'skips-minors', skipped: ['v0.59', 'v1.0'] }],
  ['v1.9.0', 'v2.0.0', { kind: 'major' }],
  ['v1.9.0', 'v2.1.0', { kind: 'skips-minors', skipped: ['v2.0'] }],
  ['v1.8.4', 'v2.0.0', { kind: 'skips-minors', skipped: ['v1.9'] }],
  ['v1.9.0', 'v4.0.0', { kind: 'skips-minors', skipped: ['v2.0', 'v3.0'] }],
] as const)('%s to %s', (from, to, expected) => {
  expect(hop(v(from), v(to))).toEqual(expected)
})

const ids = (from: string, to: string) => hopFindings(v(from), v(to)).map((f) => `${f.level} ${f.id}`)

describe('findings of a hop', () => {
  test.each([
    ['v1.8.3', 'v1.8.4', []],
    ['v1.8.4', 'v1.9.0', []],
    ['v1.9.0', 'v1.8.4', ['blocker downgrade']],
    ['v1.6.6', 'v1.8.4', ['blocker minor-skipped']],
    ['v1.8.0', 'v1.8.4', ['warning patch-skipped']],
    ['v1.7.0', 'v1.8.4', ['warning patch-skipped']],
    ['v1.8.4', 'v1.9.0-rc.0', ['warning pre-release']],
    ['v1.9.0', 'v2.0.0', ['warning major-step']],
    ['v0.16.0', 'v0.17.0', ['blocker from-unsupported']],
  ])('%s to %s', (from, to, expected) => {
    expect(ids(from, to)).toEqual(expected)
  })

  test('a skipped minor names the way, as commands that exist', () => {
    const [found] = hopFindings(v('v1.6.6'), v('v1.9.0'))
    expect(found?.remedy).toEqual([
      'kvup upgrade --to v1.7.4',
      'kvup upgrade --to v1.8.4',
      'kvup upgrade --to v1.9.0',
    ])
  })
})

function skipped(from: string, to: string) {
  const found = hopFindings(v(from), v(to)).find(({ id }) => id === 'minor-skipped')
  return { summary: found?.summary.replace(/:.*/u, ''), remedy: found?.remedy }
}

test('a downgrade: keep what is installed, and a line that goes forward says so', () => {
  expect(hopFindings(v('v1.7.2'), v('v1.6.0')).find(({ id }) => id === 'downgrade')?.remedy).toEqual([
    'Keep v1.7.2',
    'kvup upgrade --to v1.7.4     goes forward instead, to the newest patch of v1.7',
  ])
})

describe('a target that is far beyond what is known', () => {
  const releases = 'kvup releases     lists the releases that kvup knows; --releases FILE adds newer ones'
  const unknown = `releases that are not known as of ${knownReleases.asOf}`

  test.each([
    ['v1.8.4', 'v9.9.9', `v1.9 and ${unknown}`, ['kvup upgrade --to v1.9.0', releases]],
    ['v1.9.0', 'v9.9.9', unknown, [releases]],
    ['v1.9.0', 'v9.0.0', unknown, [releases]],
    [
      'v1.7.4',
      'v1.12.3',
      `v1.8, v1.9 and ${unknown}`,
      ['kvup upgrade --to v1.8.4', 'kvup upgrade --to v1.9.0', releases],
    ],
  ])('%s to %s: what is proposed exists', (from, to, left, remedy) => {
    const said = `${to} is not a KubeVirt release that kvup knows; the newest it knows is v1.9.0`
    expect(skipped(from, to)).toEqual({ summary: `${said}. ${from} to ${to} skips ${left}`, remedy })
  })

  test('it is said that it is judged by rule', () => {
    expect(hopFindings(v('v1.9.0'), v('v9.9.9'))[0]?.summary).toMatch(
      /: v9\.9\.9 is judged by rule, and KubeVirt supports only one minor at a time$/u,
    )
    expect(hopFindings(v('v1.7.4'), v('v1.9.0'))[0]?.summary).not.toContain('by rule')
  })

  test('the next minor is judged by rule', () => {
    expect(ids('v1.9.0', 'v1.10.0')).toEqual([])
  })
})

describe('U2: which operator may be asked for which version', () => {
  test.each([
    ['v1.7.0', 'v1.8.4', 'image-tag', ['blocker operator-not-older']],
    ['v1.8.3', 'v1.8.4', 'image-tag', ['warning operator-not-older']],
    ['v1.8.4', 'v1.8.4', 'image-tag', []],
    ['v1.9.0', 'v1.8.4', 'image-tag', []],
    ['v1.6.6', 'v1.6.6', 'image-tag', []],
    ['v1.6.6', 'v1.6.5', 'image-tag', ['blocker operator-runs-own-strategy']],
    ['v1.6.6', 'v1.7.0', 'image-tag', ['blocker operator-not-older', 'blocker operator-runs-own-strategy']],
    ['v0.58.0', 'v0.57.0', 'image-tag', []],
    ['v1.7.0', 'v1.8.4', 'operator-manifest', []],
    ['v1.8.4', 'v1.7.4', 'operator-manifest', ['blocker operator-goes-back']],
  ] as const)('operator %s, target %s, %s', (operator, target, method, expected) => {
    expect(operatorRule(v(operator), v(target), method).map((f) => `${f.level} ${f.id}`)).toEqual(expected)
  })

  test('a target operator before v1.7 with another tag pinned is refused', () => {
    expect(pinnedTagRule(v('v1.5.3'), v('v1.6.6'))).toMatchObject([{ id: 'pinned-tag', level: 'blocker' }])
    expect(pinnedTagRule(v('v1.6.6'), v('v1.6.6'))).toEqual([])
    expect(pinnedTagRule(v('v1.7.0'), v('v1.8.4'))).toEqual([])
  })
})

test.each([
  ['v1.9.0', { min: '1.34', max: '1.36', known: true }],
  ['v0.59.0', { min: '1.24', max: '1.26', known: true }],
  ['v1.10.2', { min: '1.35', max: '1.37', known: false }],
  ['v0.40.0', undefined],
  ['v2.0.0', undefined],
])('Kubernetes window of %s', (version, expected) => {
  expect(kubernetesWindow(v(version))).toEqual(expected)
})

test('back to an older minor virt-operator deletes CRDs with their objects; between patches there are none', () => {
  const goes = 'virt-operator then deletes the CRDs that v1.7.4 does not have, with all their objects'
  expect(hopFindings(v('v1.8.4'), v('v1.7.4'))[0]?.summary).toContain(goes)
  expect(hopFindings(v('v1.8.4'), v('v1.8.3'))[0]?.summary).not.toContain('CRDs that')
})

test('what is accepted by its name takes no other finding along', () => {
  const taken = { id: 'downgrade', level: 'blocker', summary: '', remedy: [] } as const
  const other = { ...taken, id: 'minor-skipped' }
  expect(unaccepted([taken, other], [{ id: taken.id }])).toEqual([other])
})
