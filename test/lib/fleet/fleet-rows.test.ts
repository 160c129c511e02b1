import { expect, test } from 'vitest'
import { endedBy } from '../../../src/lib/fleet/fleet-report.ts'
import { failedRow, fleetCode, type FleetRow, inOrder, isWell } from '../../../src/lib/fleet/fleet-rows.ts'
import { type FleetCheckRow, checksInOrder } from '../../../src/lib/fleet/fleet-checks.ts'
import { checkWords, stateWords } from '../../../src/lib/output/views/fleet-words.ts'
import { exitCode, type ExitCode, KvupError } from '../../../src/lib/kube/errors.ts'

const place = { name: 'prod-1', context: 'prod-1' }
const row = (state: FleetRow['state'], more: Partial<FleetRow> = {}): FleetRow => ({
  ...place,
  state,
  ...more,
})
const checkRow = (state: FleetCheckRow['state']): FleetCheckRow => ({ ...place, state, findings: [] })
const failed = (code: ExitCode, reason = 'why') => failedRow(place, new KvupError(code, reason, 'words'))

test('what could not be read is a row by its error', () => {
  expect(failed(exitCode.unreachable).state).toBe('Unreachable')
  expect(failed(exitCode.forbidden).state).toBe('Forbidden')
  expect(failed(exitCode.blocked, 'no-kubevirt').state).toBe('NotInstalled')
  expect(failed(exitCode.usage)).toMatchObject({
    state: 'Failed',
    why: 'words',
    error: { code: 2, reason: 'why' },
  })
})

test('the worst first, and what is alike in the order of the fleet', () => {
  const rows = [
    row('Healthy'),
    row('Updating', { name: 'b' }),
    row('Unreachable'),
    row('Updating', { name: 'a' }),
  ]
  expect(inOrder(rows).map(({ state, name }) => `${state} ${name}`)).toEqual([
    'Unreachable prod-1',
    'Updating b',
    'Updating a',
    'Healthy prod-1',
  ])
})

test('the words of the screen stand in the same order', () => {
  const states = Object.keys(stateWords) as FleetRow['state'][]
  expect(inOrder(states.toReversed().map((state) => row(state))).map(({ state }) => state)).toEqual(states)
  const checks = Object.keys(checkWords) as FleetCheckRow['state'][]
  const checked = checks.toReversed().map(checkRow)
  expect(checksInOrder(checked).map(({ state }) => state)).toEqual(checks)
})

test('the exit code is that of the worst; verdicts count only where they are asked for', () => {
  const degraded = row('Degraded', { verdict: 'Degraded' })
  expect(fleetCode([degraded, row('Healthy', { verdict: 'Healthy' })], false)).toBe(exitCode.done)
  expect(fleetCode([degraded], true)).toBe(exitCode.blocked)
  expect(fleetCode([row('Updating', { verdict: 'Updating' })], true)).toBe(exitCode.asked)
  expect(fleetCode([degraded, failed(exitCode.unreachable)], true)).toBe(exitCode.unreachable)
  // A verdict that nobody knows, and one that is missing, are no success.
  expect(fleetCode([row('Healthy', { verdict: 'constructor' })], true)).not.toBe(exitCode.done)
  expect(fleetCode([row('Running')], true)).not.toBe(exitCode.done)
})

test('well is what was upgraded, whatever is busy around it; nothing that stands still or could not be read', () => {
  for (const state of ['Healthy', 'NotChecked', 'Waiting'] as const) expect(isWell({ state })).toBe(true)
  expect(isWell({ state: 'Updating', kubevirt: 'Healthy' })).toBe(true)
  expect(isWell({ state: 'Updating', kubevirt: 'Updating' })).toBe(false)
  for (const state of [
    'Unreachable',
    'Failed',
    'Forbidden',
    'Degraded',
    'Stalled',
    'OutOfStep',
    'Interrupted',
  ] as const)
    expect(isWell({ state, kubevirt: 'Healthy' })).toBe(false)
})

test.each([
  [exitCode.interrupted, 'interrupted', 'interrupted'],
  [exitCode.terminated, 'interrupted', 'interrupted'],
  [exitCode.unreachable, 'unreachable', 'unreachable'],
  [exitCode.drifted, 'drifted', 'needs-person'],
  [exitCode.blocked, 'approval-needed', 'needs-person'],
  [exitCode.blocked, 'admin-gate', 'needs-person'],
  [exitCode.blocked, 'job-exists', 'needs-person'],
  // Another run is about to do it: no further wave begins over that.
  [exitCode.locked, 'locked', 'needs-person'],
  // Nobody has to be asked: the cluster is not as it should be.
  [exitCode.blocked, 'degraded', 'failed'],
  [exitCode.blocked, 'not-healthy', 'failed'],
  [exitCode.timedOut, 'stalled', 'failed'],
  [exitCode.forbidden, 'forbidden', 'failed'],
  [exitCode.lost, 'workloads-lost', 'failed'],
] as const)('an upgrade that ends with %d, %s: %s', (code, reason, outcome) => {
  const ended = endedBy(new KvupError(code, reason, 'words', { remedy: 'kvup status' }))
  expect(ended).toEqual({ outcome, error: { code, reason, message: 'words', remedy: ['kvup status'] } })
})
