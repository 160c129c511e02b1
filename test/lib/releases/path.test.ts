import { describe, expect, test } from 'vitest'
import { hop } from '../../../src/lib/releases/hop.ts'
import { kubernetesWindow, latestPatch } from '../../../src/lib/releases/known-releases.ts'
import { pathTo } from '../../../src/lib/releases/path.ts'
import { allReleases, knownReleases, parseReleases } from '../../../src/lib/releases/releases.ts'
import { minorOf, versionOf } from '../../../src/lib/releases/version.ts'

const v = (text: string) => versionOf(text)!
const words = (from: string, to: string, kubernetes?: string) => {
  const path = pathTo(v(from), v(to), kubernetes)
  return path.is === 'none'
    ? path.why
    : path.steps.map((s) => (s.is === 'kubevirt' ? s.to : `k8s ${s.to}`)).join(' ')
}

describe('pathTo', () => {
  test.each([
    ['v1.8.4', 'v1.9.0', undefined, 'v1.9.0'],
    ['v1.8.2', 'v1.9.0', undefined, 'v1.8.4 v1.9.0'],
    ['v1.6.2', 'v1.9.0', undefined, 'v1.6.6 v1.7.4 v1.8.4 v1.9.0'],
    ['v1.8.4', 'v1.9.0', '1.33', 'k8s 1.34 v1.9.0'],
    ['v1.6.6', 'v1.9.0', '1.31', 'k8s 1.32 v1.7.4 k8s 1.33 v1.8.4 k8s 1.34 v1.9.0'],
    ['v1.7.0', 'v1.7.4', '1.32', 'v1.7.4'],
    ['v0.58.1', 'v1.0.1', undefined, 'v0.58.2 v0.59.2 v1.0.1'],
    ['v1.8.4', 'v1.8.4', undefined, ''],
  ])('%s to %s on Kubernetes %s: %s', (from, to, kubernetes, expected) => {
    expect(words(from, to, kubernetes)).toBe(expected)
  })

  test('says why there is none', () => {
    expect(words('v1.9.0', 'v1.8.4')).toContain('going back is not supported')
    expect(words('v0.16.0', 'v1.8.4')).toContain('v0.17.0')
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

  test('every step of every path is a supported hop, and each path ends at its target', () => {
    for (const from of releases)
      for (const to of releases) {
        const path = pathTo(from, to)
        if (hop(from, to).kind === 'downgrade') expect(path.is).toBe('none')
        else expectSupported(from.text, to.text)
      }
  })

  function expectSupported(from: string, to: string) {
    const path = pathTo(v(from), v(to))
    if (path.is === 'none') throw new Error(`${from} to ${to}: ${path.why}`)
    let at = v(from)
    for (const { to: next } of path.steps) {
      const kind = hop(at, v(next)).kind
      if (!['patch', 'minor', 'major'].includes(kind))
        throw new Error(`${from} to ${to}: ${at.text} to ${next} is ${kind}`)
      const leaving = kind !== 'patch' && latestPatch(minorOf(at))?.text !== at.text
      if (leaving) throw new Error(`${from} to ${to}: ${at.text} is not the last patch of its minor`)
      at = v(next)
    }
    if (at.text !== to) throw new Error(`${from} to ${to} ends at ${at.text}`)
  }

  test('with Kubernetes, both ends of every hop are inside their windows', () => {
    for (const from of releases.filter(({ major }) => major === 1))
      for (const to of releases.filter(({ major }) => major === 1)) {
        const path = pathTo(from, to, kubernetesWindow(from)?.min)
        if (path.is === 'none') continue
        let at = from
        let kubernetes = Number(kubernetesWindow(from)?.min.split('.')[1])
        for (const step of path.steps) {
          if (step.is === 'kubernetes') kubernetes = Number(step.to.split('.')[1])
          else at = v(step.to)
          const window = kubernetesWindow(at)!
          if (kubernetes < Number(window.min.split('.')[1]) || kubernetes > Number(window.max.split('.')[1]))
            throw new Error(`${from.text} to ${to.text}: ${at.text} on 1.${kubernetes}`)
        }
      }
  })
})

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
