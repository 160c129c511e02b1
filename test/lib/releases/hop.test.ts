import { describe, expect, test } from 'vitest'
import {
  hopFindings,
  type Method,
  operatorRule,
  pinnedTagRule,
  unaccepted,
} from '../../../src/lib/releases/hop-findings.ts'
import { hop } from '../../../src/lib/releases/release-path.ts'
import { knownReleases, kubernetesWindow } from '../../../src/lib/releases/releases.ts'
import { parseVersion as v } from '../../../src/lib/releases/release-versions.ts'
import fixture from './hop.json' with { type: 'json' }

test.each<[string, string, object]>(fixture.hops as never)('%s to %s', (from, to, expected) => {
  expect(hop(v(from), v(to))).toEqual(expected)
})

const ids = (from: string, to: string) => hopFindings(v(from), v(to)).map((f) => `${f.level} ${f.id}`)

describe('findings of a hop', () => {
  test.each<[string, string, string[]]>(fixture.findings as never)('%s to %s', (from, to, expected) => {
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
  test.each<[string, string, Method, string[]]>(fixture.operators as never)(
    'operator %s, target %s, %s',
    (operator, target, method, expected) => {
      expect(operatorRule(v(operator), v(target), method).map((f) => `${f.level} ${f.id}`)).toEqual(expected)
    },
  )

  test('a target operator before v1.7 with another tag pinned is refused', () => {
    expect(pinnedTagRule(v('v1.5.3'), v('v1.6.6'))).toMatchObject([{ id: 'pinned-tag', level: 'blocker' }])
    expect(pinnedTagRule(v('v1.6.6'), v('v1.6.6'))).toEqual([])
    expect(pinnedTagRule(v('v1.7.0'), v('v1.8.4'))).toEqual([])
  })
})

test.each<[string, object | null]>(fixture.kubernetes as never)(
  'Kubernetes window of %s',
  (version, expected) => {
    expect(kubernetesWindow(v(version)) ?? null).toEqual(expected)
  },
)

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
