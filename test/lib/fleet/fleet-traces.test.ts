import { expect, test } from 'vitest'
import type { Entry } from '../../../src/lib/engine/journal.ts'
import { wavesOf, traceOf } from '../../../src/lib/fleet/fleet-waves.ts'

const entry = (minute: number, what: Entry['what'], more: Partial<Entry> = {}): Entry => ({
  at: `2026-01-01T00:0${minute}:00Z`,
  by: 'me@here',
  procedure: 'upgrade to v1.8.4',
  step: 'run',
  what,
  text: 'words',
  fleet: { uid: 'own', wave: 1 },
  ...more,
})
const at = (minute: number) => Date.parse(`2026-01-01T00:0${minute}:00Z`)

test('nothing of a fleet: no run has begun here', () => {
  const alone = { ...entry(0, 'finished') }
  delete alone.fleet
  expect(traceOf([], 'own')).toEqual({ hasBegun: false })
  expect(traceOf([alone], 'own')).toEqual({ hasBegun: false })
})

test('begun, failed, and done at the second attempt', () => {
  const begun = traceOf([entry(0, 'started')], 'own')
  expect(begun).toMatchObject({ hasBegun: true, beganAt: entry(0, 'started').at })
  expect([begun.doneAt, begun.endedAt]).toEqual([undefined, undefined])
  const failed = traceOf([entry(0, 'started'), entry(1, 'failed')], 'own')
  expect(failed.doneAt).toBeUndefined()
  expect(failed.endedAt).toBe(entry(1, 'failed').at)
  const done = traceOf([entry(0, 'started'), entry(1, 'failed'), entry(2, 'finished')], 'own')
  expect(done).toMatchObject({ doneAt: at(2), beganAt: entry(0, 'started').at })
})

test('a run that ended incomplete is not done', () => {
  expect(traceOf([entry(1, 'finished', { text: 'incomplete: VMs left' })], 'own').doneAt).toBeUndefined()
})

test('of another fleet run nothing counts, but that it was the last and is not over', () => {
  const other = { uid: 'other', wave: 0 }
  const trace = traceOf([entry(1, 'finished', { fleet: other })], 'own')
  expect(trace).toEqual({
    hasBegun: false,
    last: { ...other, by: 'me@here', at: entry(1, 'finished').at, isOver: false },
  })
  const over = entry(2, 'closed', { fleet: { ...other, over: true } })
  expect(traceOf([entry(1, 'finished', { fleet: other }), over], 'own').last?.isOver).toBe(true)
})

test('waves that are named have gaps: they are counted through; without a canary from 1', () => {
  expect(
    wavesOf([{ name: 'a', wave: 7 }, { name: 'b' }, { name: 'c', wave: 3 }, { name: 'd' }, { name: 'e' }], 2),
  ).toEqual([
    { wave: 1, clusters: ['c'] },
    { wave: 2, clusters: ['a'] },
    { wave: 3, clusters: ['b', 'd'] },
    { wave: 4, clusters: ['e'] },
  ])
})
