import { expect, test } from 'vitest'
import type { Entry } from '../../../../src/lib/engine/journal.ts'
import { upgradeAt } from '../../../../src/lib/vms/rollout/restart-required.ts'

const entry = (minute: number, procedure: string, what: Entry['what']): Entry => ({
  at: time(minute),
  by: 'jane@host',
  procedure,
  step: '',
  what,
  text: '',
})
const time = (minute: number) => new Date(Date.UTC(2026, 10, 20, 7, minute)).toISOString()

const entries = [
  entry(0, 'upgrade to v1.8.4', 'started'),
  entry(5, 'upgrade to v1.8.4', 'interrupted'),
  entry(50, 'upgrade to v1.8.4', 'started'),
  entry(60, 'upgrade to v1.8.4', 'finished'),
  entry(90, 'restore workload updates', 'finished'),
  entry(200, 'upgrade to v1.9.0', 'started'),
  entry(210, 'upgrade to v1.9.0', 'finished'),
]

test.each([
  ['before all', -1, undefined],
  ['at work', 3, 'upgrade to v1.8.4'],
  ['between a stop and its resume', 30, 'upgrade to v1.8.4'],
  ['right after its end', 70, 'upgrade to v1.8.4'],
  ['long after its end, whatever else ran', 95, undefined],
  ['in the next', 205, 'upgrade to v1.9.0'],
])('%s', (_, minute, procedure) => {
  expect(upgradeAt(entries, time(minute))?.procedure).toBe(procedure)
})

test('a resumed upgrade is one: it is told with its first start', () => {
  expect(upgradeAt(entries, time(55))).toEqual({ procedure: 'upgrade to v1.8.4', at: time(0) })
})

test('without a time nothing is claimed', () => {
  expect(upgradeAt(entries, undefined)).toBeUndefined()
})
