import { describe, expect, test } from 'vitest'
import { hop, pathTo } from '../../../src/lib/releases/release-path.ts'
import {
  allReleases,
  knownReleases,
  kubernetesWindow,
  latestPatch,
  parseReleases,
} from '../../../src/lib/releases/releases.ts'
import { minorOf, type Version, versionOf } from '../../../src/lib/releases/release-versions.ts'
import fixture from './path.json' with { type: 'json' }

const v = (text: string) => versionOf(text)!
const words = (from: string, to: string, kubernetes?: string) => {
  const path = pathTo(v(from), v(to), kubernetes)
  return path.is === 'none'
    ? path.why
    : path.steps.map((s) => (s.is === 'kubevirt' ? s.to : `k8s ${s.to}`)).join(' ')
}

describe('pathTo', () => {
  test.each<[string, string, string | null, string]>(fixture.paths as never)(
    '%s to %s on Kubernetes %s: %s',
    (from, to, kubernetes, expected) => {
      expect(words(from, to, kubernetes ?? undefined)).toBe(expected)
    },
  )

  test('says why there is none', () => {
    expect(words('v1.9.0', 'v1.8.4')).toContain('KubeVirt does not support downgrades')
    expect(words('v0.16.0', 'v1.8.4')).toContain('v0.17.0')
    expect(words('v1.8.4', 'v1.12.0')).toContain('no release of v1.10 is known as of 2026')
    expect(words('v1.8.4', 'v9.9.9')).toContain('no release of v2.0 is known')
    expect(words('v1.6.6', 'v1.7.4', '1.35')).toContain('supports Kubernetes up to 1.34')
  })
})

describe('all pairs of releases', () => {
  const releases = allReleases(knownReleases)

  test('the data hold every release since v0.49', () => {
    expect(releases).toHaveLength(55)
    expect(releases[0]?.text).toBe('v0.49.0')
    expect(releases.at(-1)?.text).toBe('v1.9.0')
  })

  const pairs = releases.flatMap((from) => releases.map((to) => [from, to] as const))

  test('every step of every path is a supported hop, and each path ends at its target', () => {
    const paths = pairs.filter(([from, to]) => hop(from, to).kind !== 'downgrade')
    expect(paths.length).toBeGreaterThan(1000)
    expect(paths.map(([from, to]) => faultOf(from, to)).filter((fault) => fault !== undefined)).toEqual([])
  })

  test('there is no way back', () => {
    const back = pairs.filter(([from, to]) => hop(from, to).kind === 'downgrade')
    expect(back.filter(([from, to]) => pathTo(from, to).is !== 'none')).toEqual([])
  })

  test('with Kubernetes, both ends of every hop are inside their windows', () => {
    const modern = pairs.filter(([from, to]) => from.major === 1 && to.major === 1)
    expect(modern.flatMap(([from, to]) => outsideWindows(from, to))).toEqual([])
  })
})

function faultOf(from: Version, to: Version): string | undefined {
  const path = pathTo(from, to)
  if (path.is === 'none') return `${from.text} to ${to.text}: ${path.why}`
  let at = from
  for (const { to: next } of path.steps) {
    const { kind } = hop(at, v(next))
    if (!['patch', 'minor', 'major'].includes(kind))
      return `${from.text} to ${to.text}: ${at.text} to ${next} is ${kind}`
    if (kind !== 'patch' && latestPatch(minorOf(at))?.text !== at.text)
      return `${from.text} to ${to.text} leaves ${at.text} early`
    at = v(next)
  }
  return at.text === to.text ? undefined : `${from.text} to ${to.text} ends at ${at.text}`
}

function outsideWindows(from: Version, to: Version): string[] {
  const path = pathTo(from, to, kubernetesWindow(from)?.min)
  if (path.is === 'none') return []
  const found: string[] = []
  let at = from
  let kubernetes = minor(kubernetesWindow(from)!.min)
  for (const step of path.steps) {
    if (step.is === 'kubernetes') kubernetes = minor(step.to)
    else at = v(step.to)
    const window = kubernetesWindow(at)!
    if (kubernetes < minor(window.min) || kubernetes > minor(window.max))
      found.push(`${from.text} to ${to.text}: ${at.text} on 1.${kubernetes}`)
  }
  return found
}

const minor = (text: string) => Number(text.split('.')[1])

describe('parseReleases', () => {
  test('reads what is printed', () => {
    expect(parseReleases(JSON.stringify(knownReleases), 'x.json')).toEqual(knownReleases)
  })

  test.each([
    ['a brace', '{', 'cannot be read'],
    ['a list', '[]', 'apiVersion'],
    ['asOf', JSON.stringify({ ...knownReleases, asOf: 'today' }), 'asOf'],
    ['shifts', JSON.stringify({ ...knownReleases, shifts: {} }), 'shifts is no list'],
    [
      'a release of another minor',
      JSON.stringify({ ...knownReleases, minors: { 'v1.8': { releases: { 'v1.9.0': '' } } } }),
      'minors.v1.8.releases.v1.9.0',
    ],
  ])('%s is refused', (_what, text, why) => {
    expect(() => parseReleases(text, 'x.json')).toThrow(why)
  })
})
