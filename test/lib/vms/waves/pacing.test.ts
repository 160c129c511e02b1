import { expect, test } from 'vitest'
import type { Candidate } from '../../../../src/lib/vms/waves/waves.ts'
import { type Pacing, parseWindow, type Traffic, turnOf } from '../../../../src/lib/vms/waves/pacing.ts'
import { aCandidate } from './a-candidate.ts'

const usual: Pacing = { parallel: 5, perNode: 2, pause: 0, soak: 0, windows: [] }
const quiet: Traffic = { moving: new Set(), fromNode: new Map(), apart: new Map(), notBefore: new Map() }
const now = Date.parse('2026-01-10T12:00:00Z')

function turn(queue: readonly Candidate[], pacing: Partial<Pacing> = {}, traffic: Partial<Traffic> = {}) {
  const chosen = turnOf(queue, { ...quiet, ...traffic }, { pacing: { ...usual, ...pacing }, now })
  return chosen.is === 'begin' ? chosen.vms.map(({ vm }) => vm) : chosen
}

test('as many as are free, those of others included', () => {
  const queue = ['a', 'b', 'c'].map((vm) => aCandidate(vm))
  expect(turn(queue, { parallel: 2 })).toEqual(['a', 'b'])
  expect(turn(queue, { parallel: 2 }, { moving: new Set(['x']) })).toEqual(['a'])
  expect(turn(queue, { parallel: 2 }, { moving: new Set(['x', 'y']) })).toMatchObject({
    is: 'wait',
    on: '2 VMs that are moving',
  })
})

test('never one that is under way already, whoever began it', () => {
  expect(turn([aCandidate('a'), aCandidate('b')], {}, { moving: new Set(['a']) })).toEqual(['b'])
})

test('not more away from a node than KubeVirt takes; a restart is none', () => {
  const queue = [
    aCandidate('a', { node: 'n' }),
    aCandidate('b', { node: 'n' }),
    aCandidate('c', { node: 'm' }),
    aCandidate('r', { node: 'n', by: 'restart' }),
  ]
  expect(turn(queue, { perNode: 1 })).toEqual(['a', 'c', 'r'])
  expect(turn(queue.slice(0, 2), {}, { fromNode: new Map([['n', 2]]) })).toMatchObject({
    is: 'wait',
    on: '2 migrations away from n',
  })
})

test('W4 two of one value are never under way together, and the next waits for the soak', () => {
  const queue = [aCandidate('a', { apart: 'db' }), aCandidate('b', { apart: 'db' }), aCandidate('c')]
  expect(turn(queue)).toEqual(['a', 'c'])
  expect(turn(queue, { soak: 60_000 }, { apart: new Map([['db', Infinity]]) })).toEqual(['c'])
  const soaking = { apart: new Map([['db', now - 59_000]]) }
  expect(turn(queue.slice(0, 2), { soak: 60_000 }, soaking)).toMatchObject({ is: 'wait', until: now + 1000 })
  expect(turn(queue.slice(0, 2), { soak: 59_000 }, soaking)).toEqual(['a'])
})

test('back-off is waited for, the soonest is named', () => {
  const notBefore = new Map([
    ['a', now + 9000],
    ['b', now + 5000],
  ])
  expect(turn([aCandidate('a'), aCandidate('b')], {}, { notBefore })).toEqual({
    is: 'wait',
    on: 'the back-off of b',
    until: now + 5000,
  })
  expect(turn([aCandidate('a'), aCandidate('c')], {}, { notBefore })).toEqual(['c'])
})

test('while others are under way they are waited for, and the back-off is only one thing more', () => {
  const notBefore = new Map([['a', now + 9000]])
  const on = (...vms: string[]) => turn([aCandidate('a')], {}, { notBefore, moving: new Set(vms) })
  expect(on('x')).toMatchObject({ on: '1 VM that is moving, and the back-off of a', until: now + 9000 })
  expect(on('x', 'y')).toMatchObject({ on: '2 VMs that are moving, and the back-off of a' })
})

test('nothing begins outside the windows, nor in the pause between waves', () => {
  const windows = [parseWindow('Sat 22:00-04:00 Europe/Prague')]
  expect(turn([aCandidate('a')], { windows })).toEqual({
    is: 'wait',
    on: 'the time window to open at 2026-01-10T21:00:00.000Z',
    until: Date.parse('2026-01-10T21:00Z'),
  })
  expect(turn([aCandidate('a')], { pause: 60_000 }, { wavedAt: now - 1000 })).toMatchObject({
    is: 'wait',
    until: now + 59_000,
  })
  expect(turn([aCandidate('a')], { pause: 60_000 }, { wavedAt: now - 60_000 })).toEqual(['a'])
})
