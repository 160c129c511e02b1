import { describe, expect, test } from 'vitest'
import { headOf, nextEntry } from '../../../../src/simulator/olm/catalog-content.ts'
import type { EntryShape } from '../../../../src/simulator/olm/olm-shape.ts'

const entry = (version: string, more: Partial<EntryShape> = {}): EntryShape => ({
  name: `o.v${version}`,
  version,
  ...more,
})

const chain = [
  entry('1.0.0'),
  entry('1.1.0', { replaces: 'o.v1.0.0' }),
  entry('1.2.0', { replaces: 'o.v1.1.0' }),
]

const rows: [title: string, entries: EntryShape[], installed: string, next: string | undefined][] = [
  ['replaces leads one step on', chain, '1.0.0', '1.1.0'],
  ['and from there to the head', chain, '1.1.0', '1.2.0'],
  ['nothing leads on from the head', chain, '1.2.0', undefined],
  ['nor from what no edge names', chain, '0.9.0', undefined],
  [
    'what is skipped is left out: of two the one nearer to the head',
    [
      entry('1.0.0'),
      entry('1.1.0', { replaces: 'o.v1.0.0' }),
      entry('1.2.0', { replaces: 'o.v1.0.0', skips: ['o.v1.1.0'] }),
    ],
    '1.0.0',
    '1.2.0',
  ],
  [
    'skips leads on from what it skips',
    [entry('1.1.0'), entry('1.2.0', { skips: ['o.v1.1.0'] })],
    '1.1.0',
    '1.2.0',
  ],
  [
    'a skipRange takes in what no channel has',
    [entry('1.2.0', { skipRange: '>=1.0.0 <1.2.0' })],
    '1.1.7',
    '1.2.0',
  ],
  ['but not its own bound', [entry('1.3.0', { skipRange: '>=1.0.0 <1.2.0' })], '1.2.0', undefined],
  ['of alternatives one is enough', [entry('2.0.0', { skipRange: '<1.0.0 || 1.5.0' })], '1.5.0', '2.0.0'],
  [
    'a range that cannot be read has nothing in it',
    [entry('2.0.0', { skipRange: 'any' })],
    '1.5.0',
    undefined,
  ],
]

describe.for(rows)('ocp 2.6: %s', ([, entries, installed, next]) => {
  test('the resolver takes it', () => {
    expect(nextEntry(entries, entry(installed))?.version).toBe(next)
  })
})

test('ocp 2.6: the head is what nothing replaces or skips; edges that go round have none', () => {
  expect(headOf(chain)?.version).toBe('1.2.0')
  expect(headOf([])).toBeUndefined()
  const round = [entry('1.0.0', { replaces: 'o.v1.1.0' }), entry('1.1.0', { replaces: 'o.v1.0.0' })]
  expect(headOf(round)).toBeUndefined()
  expect(nextEntry(round, entry('1.0.0'))?.version).toBe('1.1.0')
})
