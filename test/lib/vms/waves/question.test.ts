import { expect, test } from 'vitest'
import { notMovedLines, questionOf } from '../../../../src/lib/vms/waves/wave-run.ts'
import { aCandidate } from './a-candidate.ts'

const first = aCandidate('demo/a')
const second = aCandidate('demo/b')

test('the question names the canary, and how many are moved by what', () => {
  const canary = { id: 'canary', vms: [first] }
  expect(questionOf(['migration'], [{ id: 'wave', vms: [second] }])).toBe('Migrate 1 VM?')
  expect(questionOf(['migration', 'migration'], [canary])).toBe(
    'Migrate 2 VMs (demo/a first, the others if that succeeds)?',
  )
  expect(questionOf(['migration', 'restart'], [canary])).toBe(
    'Migrate 1 VM (demo/a first, the others if that succeeds) and restart 1, which interrupts them?',
  )
})

test('before it, VMs that are not moved are counted by what keeps them', () => {
  const host = 'not migratable: a host device'
  expect(
    notMovedLines([
      { vm: 'demo/gpu', why: host },
      { vm: 'demo/db', why: 'left out by --exclude' },
      { vm: 'demo/stuck', why: host },
    ]),
  ).toEqual([
    '2 VMs are not moved: not migratable: a host device (demo/gpu, demo/stuck)',
    '1 VM is not moved: left out by --exclude (demo/db)',
  ])
})
