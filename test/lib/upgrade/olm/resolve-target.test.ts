import { describe, expect, test } from 'vitest'
import { type OperatorVersion, operatorVersionOf } from '../../../../src/lib/releases/release-versions.ts'
import { knownReleases } from '../../../../src/lib/releases/releases.ts'
import { guessHops } from '../../../../src/lib/upgrade/methods/olm-operator.ts'
import { resolveTarget } from '../../../../src/lib/upgrade/methods/operator-target.ts'

function version(text: string): OperatorVersion {
  const parsed = operatorVersionOf(text)
  if (parsed === undefined) throw new Error(text)
  return parsed
}

const csv = (text: string) => `kubevirt-hyperconverged-operator.v${text}`
const entries = (...versions: string[]) =>
  versions.map((text) => ({ csv: csv(text), version: version(text) }))

const upstream = (
  typed: string,
  installed = '1.17.3',
  offered = ['1.17.3', '1.18.0', '1.18.1'],
  platform?: string,
) =>
  resolveTarget(typed, {
    installed: version(installed),
    offered: offered.map(version),
    platform,
    releases: knownReleases,
  })

const path = (from: string, to: string, channel?: string) => ({
  from: version(from),
  to: version(to),
  channel,
  csvNamed: csv,
})

describe('what --to means', () => {
  test.each([
    ['1.18.1', '1.18.1', 'v1.8.4'],
    ['v1.8.4', '1.18.1', 'v1.8.4'],
    ['1.8.4', '1.18.1', 'v1.8.4'],
    ['1.18.0', '1.18.0', 'v1.8.4'],
    ['v1.7.4', '1.17.3', 'v1.7.4'],
  ])('%s is HyperConverged %s with KubeVirt %s', (typed, operator, kubevirt) => {
    expect(upstream(typed)).toMatchObject({ operator: { text: operator }, kubevirt })
  })

  test('the newest that is offered brings it, but one that is installed brings it already', () => {
    expect(upstream('v1.8.4', '1.17.3', ['1.18.0'])).toMatchObject({ operator: { text: '1.18.0' } })
    expect(upstream('v1.8.4', '1.18.0')).toMatchObject({ operator: { text: '1.18.0' } })
  })

  test('a release of OpenShift Virtualization is one, whatever table', () => {
    const known = { offered: [version('4.19.5')], platform: '4.19', releases: knownReleases }
    const target = resolveTarget('4.19.5', { ...known, installed: version('4.18.9') })
    expect(target).toEqual({ operator: version('4.19.5') })
  })

  test('what HyperConverged and KubeVirt both have is asked about', () => {
    const both = {
      hyperconverged: [...knownReleases.hyperconverged, { version: '1.20.0', kubevirt: 'v1.8.2' }],
    }
    expect(() =>
      resolveTarget('1.8.2', {
        installed: version('1.7.0'),
        offered: undefined,
        platform: undefined,
        releases: both,
      }),
    ).toThrow('1.8.2 is a release of both HyperConverged and KubeVirt')
  })

  test('night E8: an operator minor before that of the platform is refused, on OKD by the table', () => {
    expect(() => upstream('1.18.1', '1.17.3', ['1.18.1'], '4.21')).toThrow(
      'belongs to platform 4.22, and this one is at 4.21',
    )
    expect(upstream('1.18.1', '1.17.3', ['1.18.1'], '4.22').operator.text).toBe('1.18.1')
  })

  test('night E8: a minor that no row knows is refused where the platform has one of its own', () => {
    expect(() => upstream('1.19.0', '1.18.1', ['1.19.0'], '4.22')).toThrow(
      'HyperConverged 1.19.0 is newer than 1.18, which belongs to platform 4.22, and this one is at 4.22: update the platform first',
    )
    expect(upstream('1.19.0', '1.18.1', ['1.19.0'], '4.23').operator.text).toBe('1.19.0')
  })
})

describe('the hops as far as they can be told', () => {
  const perMinor = [
    { name: 'stable-v1.18', entries: entries('1.17.3', '1.18.1') },
    { name: 'stable-v1.17', entries: entries('1.16.0', '1.17.3') },
    { name: 'stable-v1.16', entries: entries('1.15.2', '1.16.0') },
  ]
  test('a minor at a time, each in the channel whose head it is', () => {
    expect(guessHops(perMinor, path('1.15.2', '1.18.1', 'stable-v1.15'))).toEqual([
      { csv: csv('1.16.0'), version: '1.16.0', channel: 'stable-v1.16' },
      { csv: csv('1.17.3'), version: '1.17.3', channel: 'stable-v1.17' },
      { csv: csv('1.18.1'), version: '1.18.1', channel: 'stable-v1.18' },
    ])
  })

  test('the channel that leads least further is taken for a release that several have', () => {
    expect(guessHops(perMinor, path('1.16.0', '1.17.3'))).toMatchObject([{ channel: 'stable-v1.17' }])
  })

  test('a channel that is set and has the target is stayed in', () => {
    const stable = [{ name: 'stable', entries: entries('4.18.9', '4.19.5', '4.20.1') }]
    expect(guessHops(stable, path('4.18.9', '4.20.1', 'stable'))).toEqual([
      { csv: csv('4.20.1'), version: '4.20.1' },
    ])
  })

  test('nothing shown, and nothing to do', () => {
    expect(guessHops([], path('1.17.3', '1.18.1'))).toEqual([{ csv: csv('1.18.1'), version: '1.18.1' }])
    expect(guessHops(perMinor, path('1.18.1', '1.18.1'))).toEqual([])
  })
})

describe('a catalog that does not answer', () => {
  const silent = {
    why: 'CatalogSource community-operators in namespace olm is TRANSIENT_FAILURE',
    show: 'kubectl -n olm get catalogsource community-operators -o yaml',
  }
  const asked = (typed: string, more: object = {}) =>
    resolveTarget(typed, {
      installed: version('1.17.6'),
      offered: undefined,
      platform: undefined,
      releases: knownReleases,
      silent,
      ...more,
    })

  test.each([
    ['of a release that no table knows', '1.17.7', 'target-unknown', {}],
    ['of one that a table knows', '1.18.1', 'target-not-offered', {}],
    ['while others are shown', '1.18.1', 'target-not-offered', { offered: [version('1.17.6')] }],
  ])('is named, %s', (_name, typed, reason, more) => {
    expect(() => asked(typed, more)).toThrow(
      expect.objectContaining({
        reason,
        message: expect.stringContaining(silent.why) as string,
        remedy: expect.arrayContaining([
          `${silent.show}     shows the catalog, which does not answer`,
        ]) as string[],
      }) as Error,
    )
  })

  test.each(['1.17.7', '1.18.1'])('is no hindrance where the InstallPlan of %s waits', (typed) => {
    expect(asked(typed, { waiting: version(typed) })).toMatchObject({ operator: { text: typed } })
  })

  test('nor where its file is at hand', () => {
    expect(asked('1.18.1', { filed: [version('1.18.1')] })).toMatchObject({ operator: { text: '1.18.1' } })
  })
})
