import { expect, test } from 'vitest'
import { type PacingState, stopOf } from '../../../../src/lib/vms/waves/pacing.ts'

const well: PacingState = {
  failed: [],
  canary: false,
  maxFailures: 3,
  split: [],
  missing: [],
  stillAtMost: 60_000,
}
const failed = (...vms: string[]) => vms.map((vm) => ({ vm, reason: 'the CPU lacks a feature' }))

test.each<[string, Partial<PacingState>, string | undefined]>([
  ['all is well', {}, undefined],
  ['fewer failures than are taken', { failed: failed('a', 'b') }, undefined],
  ['as many', { failed: failed('a', 'b', 'c') }, 'too-many-failures'],
  ['one of the canary', { failed: failed('a'), canary: true }, 'canary-failed'],
  [
    'W5 two launchers for one VMI, before all else',
    { split: ['a'], missing: ['b'], failed: failed('c', 'd', 'e') },
    'two-launchers',
  ],
  ['W3 one that did not come back', { missing: ['b'], failed: failed('c', 'd', 'e') }, 'did-not-come-back'],
  ['nothing moves', { still: 60_001 }, 'update-stalled'],
  ['nothing moves, but not for long', { still: 60_000 }, undefined],
])('%s', (_, more, reason) => {
  expect(stopOf({ ...well, ...more })?.reason).toBe(reason)
})

test('W5 failures with one reason are named together', () => {
  const text = stopOf({ ...well, failed: [...failed('a', 'b'), { vm: 'c', reason: 'timeout' }] })?.text
  expect(text).toBe('3 of at most 3 failures: a, b: the CPU lacks a feature; c: timeout')
})
