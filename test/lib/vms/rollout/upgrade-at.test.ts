import { expect, test } from 'vitest'
import type { Entry } from '../../../../src/lib/engine/journal.ts'
import { upgradeAt } from '../../../../src/lib/vms/rollout/restart-required.ts'
import fixture from './upgrade-at.json' with { type: 'json' }

const time = (minute: number) => new Date(Date.UTC(2026, 10, 20, 7, minute)).toISOString()

const entries = fixture.entries as unknown as readonly Entry[]

test.each<[string, number, string | null]>(fixture.times as never)('%s', (_, minute, procedure) => {
  expect(upgradeAt(entries, time(minute))?.procedure ?? null).toBe(procedure)
})

test('a resumed upgrade is one: it is told with its first start', () => {
  expect(upgradeAt(entries, time(55))).toEqual({ procedure: 'upgrade to v1.8.4', at: time(0) })
})

test('without a time nothing is claimed', () => {
  expect(upgradeAt(entries, undefined)).toBeUndefined()
})
