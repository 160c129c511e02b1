import { expect, test } from 'vitest'
import type { CatalogPackage } from '../../../../src/lib/releases/catalog-path.ts'
import { catalogPath } from '../../../../src/lib/eus/plan/operator-path.ts'
import { nextChannel } from '../../../../src/lib/eus/steps/operator-steps.ts'
import { knownReleases } from '../../../../src/lib/releases/releases.ts'

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
type Edge = [version: string, replaces?: string, skips?: string]
const channel = (name: string, ...edges: Edge[]) => ({
  name,
  entries: edges.map(([version, replaces, skips]) => ({
    name: csv(version),
    version,
    skips: skips === undefined ? [] : [csv(skips)],
    replaces: csv(replaces ?? 'none'),
  })),
})
const packageOf = (...channels: CatalogPackage['channels']): CatalogPackage => ({ name: 'hco', channels })
const path = (pack: CatalogPackage, from: string, minors: string[], set?: string) =>
  catalogPath(
    pack,
    { at: { csv: csv(from), version: from }, channel: set },
    { minors, releases: knownReleases },
  )
const shown = ({ stops, missing }: ReturnType<typeof path>) => [
  ...stops.map(({ minor, version, channel: of }) => `${minor} ${version} ${of ?? '-'}`),
  ...(missing === undefined ? [] : [`no ${missing}`]),
]

const ocp = packageOf(
  channel(
    'stable',
    ['4.18.9'],
    ['4.18.13', '4.18.9'],
    ['4.19.5', '4.18.13'],
    ['4.19.8', '4.19.5'],
    ['4.20.1', '4.19.5', '4.19.8'],
  ),
)

test.each([
  ['4.18.13', ['4.19', '4.20'], ['4.19.5', '4.19.8', '4.20.1']],
  // What comes first in the minor that is left belongs to the hop.
  ['4.18.9', ['4.19'], ['4.18.13', '4.19.5', '4.19.8']],
  ['4.19.8', ['4.19', '4.20'], ['4.19.8', '4.20.1']],
] as const)('from %s through %j: the newest of each minor that leads on', (from, minors, expected) => {
  const { stops, missing } = path(ocp, from, [...minors], 'stable')
  expect({ versions: stops.map(({ version }) => version), missing }).toEqual({ versions: expected })
})

test('trap 15: the newest of the minor in between is left out where nothing leads on from it', () => {
  const stranding = packageOf(channel('stable', ['4.18.13'], ['4.19.5', '4.18.13'], ['4.20.1', '4.19.5']))
  expect(shown(path(stranding, '4.18.13', ['4.19', '4.20']))).toEqual([
    '4.19 4.19.5 stable',
    '4.20 4.20.1 stable',
  ])
  expect(shown(path(stranding, '4.19.8', ['4.20']))).toEqual(['no 4.20'])
  expect(shown(path(stranding, '4.18.13', ['4.19', '4.20', '4.21']))).toEqual([
    '4.19 4.19.5 stable',
    '4.20 4.20.1 stable',
    'no 4.21',
  ])
})

const okd = packageOf(
  channel('stable-v1.17', ['1.16.0', '1.15.2'], ['1.17.3', '1.16.0']),
  channel('stable-v1.16', ['1.16.0', '1.15.2']),
  channel('stable-v1.15', ['1.15.0'], ['1.15.2', '1.15.0']),
)

test('of two channels that of the minor, in which OLM offers no later one', () => {
  expect(shown(path(okd, '1.15.2', ['4.20', '4.21'], 'stable-v1.15'))).toEqual([
    '4.20 1.16.0 stable-v1.16',
    '4.21 1.17.3 stable-v1.17',
  ])
})

test('a channel is set when the release in it is next, and not before one that has to come first', () => {
  const stops = [
    { version: '1.15.2', csv: csv('1.15.2'), chosenBecause: '', done: false },
    { version: '1.16.0', csv: csv('1.16.0'), channel: 'stable-v1.16', chosenBecause: '', done: false },
  ]
  const next = (installed: string) => nextChannel({ minor: '4.20', stops }, csv(installed))
  expect(next('1.15.0')).toBeUndefined()
  expect(next('1.15.2')).toEqual({ channel: 'stable-v1.16', label: '4.20' })
  expect(next('1.16.0')).toEqual({ channel: 'stable-v1.16', label: '4.20' })
})
