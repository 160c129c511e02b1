import { expect, test } from 'vitest'
import { type PacingState, stopOf } from '../../../../src/lib/vms/waves/pacing.ts'
import fixture from './stop-rules.json' with { type: 'json' }

const well: PacingState = {
  failed: [],
  canary: false,
  maxFailures: 3,
  split: [],
  missing: [],
  stillAtMost: 60_000,
}
const failed = (...vms: string[]) => vms.map((vm) => ({ vm, reason: 'the CPU lacks a feature' }))

test.each<[string, Partial<PacingState>, string | null]>(fixture.stops as never)('%s', (_, more, reason) => {
  expect(stopOf({ ...well, ...more })?.reason).toBe(reason ?? undefined)
})

test('W5 failures with one reason are named together', () => {
  const text = stopOf({ ...well, failed: [...failed('a', 'b'), { vm: 'c', reason: 'timeout' }] })?.text
  expect(text).toBe('3 of at most 3 failures: a, b: the CPU lacks a feature; c: timeout')
})
