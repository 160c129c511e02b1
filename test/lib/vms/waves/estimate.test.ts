import { expect, test } from 'vitest'
import type { Candidate } from '../../../../src/lib/vms/waves/waves.ts'
import { estimateOf } from '../../../../src/lib/vms/waves/pacing.ts'
import { aCandidate } from './a-candidate.ts'

const second = 1000
const many = (count: number, more: Partial<Candidate> = {}) =>
  Array.from({ length: count }, (_, index) => aCandidate(`vm-${index}`, more))
const restart = { by: 'restart', grace: 180 * second } as const

test.each<[string, readonly Candidate[], { parallel: number; soak: number }, number]>([
  ['nothing', [], { parallel: 2, soak: 0 }, 0],
  ['as many at a time as may be', many(10), { parallel: 5, soak: 0 }, 60],
  ['without a limit all at a time', many(10), { parallel: Infinity, soak: 0 }, 30],
  ['W4 grace periods count in the estimate', many(4, restart), { parallel: 2, soak: 0 }, 2 * 240],
  [
    'the longest one is the least',
    [...many(9), aCandidate('slow', restart)],
    { parallel: 100, soak: 0 },
    240,
  ],
  [
    'W4 those that are kept apart follow each other, each after its soak',
    many(3, { apart: 'db' }),
    { parallel: 5, soak: 60 },
    3 * 30 + 2 * 60,
  ],
])('%s', (_, vms, { parallel, soak }, expected) => {
  expect(estimateOf(vms, { parallel, soak: soak * second })).toBe(expected * second)
})
