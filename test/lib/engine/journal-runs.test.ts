import { describe, expect, test } from 'vitest'
import { bounded, type Entry, emptyJournal, memoryJournal } from '../../../src/lib/engine/journal.ts'
import { entriesByRun, journalRuns, withNumber } from '../../../src/lib/engine/journal-runs.ts'
import fixture from './journal-runs.json' with { type: 'json' }

const second = (n: number) => new Date(Date.parse('2026-11-22T21:00:00Z') + n * 1000).toISOString()
const asOf = second(3600)

let tick = 0
const entry = (what: Entry['what'], over: Partial<Entry> = {}): Entry => ({
  at: second(tick++),
  by: 'root@jump',
  procedure: 'upgrade to v1.8.4',
  step: '',
  what,
  text: what,
  ...over,
})

const start = (over: Partial<Entry> = {}) => entry('started', { from: 'v1.7.4', to: 'v1.8.4', ...over })
const change = (step: string) => [entry('intends', { step }), entry('applied', { step })]
const numbers = (entries: readonly Entry[]) => entriesByRun(entries).map(({ run }) => run)
const tell = (entries: readonly Entry[], running?: { since?: string; gone?: unknown }) =>
  journalRuns(entries, { asOf, running })

describe('numbers of runs', () => {
  test('count up from 1, and a journal of an earlier kvup is numbered by its starts', () => {
    expect(numbers([start(), ...change('a'), entry('finished'), start(), entry('failed')])).toEqual([1, 2])
  })

  test('stay when the oldest entries go: every entry bears its number from the next write on', () => {
    const old = [start(), ...change('a'), entry('finished')]
    const all = [start(), ...change('b'), entry('finished')].reduce(withNumber, old)
    expect(all.map(({ run }) => run)).toEqual([1, 1, 1, 1, 2, 2, 2, 2])
    expect(numbers(all.slice(6))).toEqual([2])
    expect(numbers(withNumber(all.slice(6), start()))).toEqual([2, 3])
  })

  test.each([
    [
      [7, 3, 9],
      [7, 8, 9],
    ],
    [
      [1e9, -1, 1.5],
      [1, 2, 3],
    ],
    [
      [Number.NaN, 2, 2],
      [1, 2, 3],
    ],
  ])('that others wrote down (%j) count only where they go on', (written, counted) => {
    expect(numbers(written.map((run) => start({ run })))).toEqual(counted)
  })

  test('one that ended where somebody has to approve did not fail, and is continued', () => {
    const text = 'waits for approval: Stopped before InstallPlan install-2wf7m'
    const ended = entry('interrupted', { step: 'approve-4.19.5', text })
    expect(tell([start(), ...change('a'), ended, start()])).toMatchObject([
      {
        result: 'awaits-approval',
        step: 'approve-4.19.5',
        reason: 'Stopped before InstallPlan install-2wf7m',
        continuedBy: 2,
      },
      { continues: 1 },
    ])
  })

  test('a run that lost its start is a run, and names who made it', () => {
    expect(tell([...change('a'), entry('finished'), start()])).toMatchObject([
      { run: 1, by: 'root@jump', result: 'done' },
      { run: 2 },
    ])
  })

  test('are given by the journal itself', async () => {
    const journal = memoryJournal()
    for (const one of [start(), entry('finished'), start()]) await journal.record(one)
    expect((await journal.entries()).map(({ run }) => run)).toEqual([1, 1, 2])
  })
})

describe('results of runs', () => {
  test.each<[string, readonly Entry[], object]>(fixture.results as never)('%s', (_, entries, expected) => {
    const [run] = tell(entries)
    expect(run).toMatchObject(expected)
    expect(run).toHaveProperty('from', 'v1.7.4')
  })

  test('of a run whose holder has the lock: running, and its time counts to now', () => {
    const first = start()
    const since = first.at
    expect(tell([first], { since })).toMatchObject([
      { result: 'running', tookMs: Date.parse(asOf) - Date.parse(since) },
    ])
    expect(tell([first], { since, gone: {} })).toMatchObject([{ result: 'cut-off' }])
    expect(tell([first], { since: second(3000) })).toMatchObject([{ result: 'cut-off' }])
  })

  test('what is no time takes no time', () => {
    expect(tell([start({ at: 'soon' }), entry('finished')])[0]).not.toHaveProperty('tookMs')
  })

  test('accepted risks with reason and user', () => {
    const accepted = [
      entry('accepted', { step: 'qemu-jump', text: 'accepted: tested in stage', user: 'jane' }),
      entry('accepted', { step: 'two-nodes', text: 'accepted, no reason given' }),
    ]
    expect(tell([start(), ...accepted])[0]?.accepted).toEqual([
      { id: 'qemu-jump', by: 'root@jump', reason: 'tested in stage', user: 'jane' },
      { id: 'two-nodes', by: 'root@jump' },
    ])
  })

  test('a run that continues another keeps where it began; behind one that is done nothing continues', () => {
    const runs = tell([
      start(),
      entry('interrupted', { step: 'healthy' }),
      start({ from: 'v1.8.4' }),
      entry('finished'),
      start({ from: 'v1.8.4' }),
    ])
    expect(runs.map(({ from, continues }) => [from, continues])).toEqual([
      ['v1.7.4', undefined],
      ['v1.7.4', 1],
      ['v1.8.4', undefined],
    ])
  })

  test('an upgrade that was gone back from is not continued', () => {
    const back = { procedure: 'upgrade to v1.7.4', from: 'v1.8.4', to: 'v1.7.4' }
    const runs = tell([
      start(),
      entry('interrupted'),
      start(back),
      entry('finished', { procedure: back.procedure }),
      start(),
    ])
    expect(runs.at(-1)).not.toHaveProperty('continues')
  })
})

const wholeRun = () => [
  start(),
  entry('accepted', { step: 'qemu-jump' }),
  ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].flatMap((step) => change(step)),
  entry('finished'),
]

describe('a journal that is full', () => {
  const full = Array.from({ length: 40 }, wholeRun).flat().reduce<readonly Entry[]>(withNumber, [])
  const { entries } = bounded({ ...emptyJournal, entries: full })
  const runs = journalRuns(entries, { asOf })

  test('keeps who did what and how it ended of every run, and the last run whole', () => {
    expect(entries.length).toBeLessThanOrEqual(300)
    expect(runs.map(({ run: number }) => number)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
    for (const { result, accepted } of runs) expect([result, accepted.length]).toEqual(['done', 1])
    expect(entriesByRun(entries).at(-1)?.entries).toHaveLength(19)
  })

  test('thins the oldest first', () => {
    const lengths = entriesByRun(entries).map(({ entries: own }) => own.length)
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b))
    expect(lengths[0]).toBe(3)
  })

  test('leaves a run whole whose work nobody has finished: whoever continues reads its intents', () => {
    const procedure = 'eus to 4.20'
    const unfinished = [start({ procedure }), entry('intends', { procedure, step: 'a' })]
    const kept = bounded({ ...emptyJournal, entries: [...unfinished, ...full] }).entries
    expect(kept.slice(0, 2).map(({ what }) => what)).toEqual(['started', 'intends'])
  })
})
