import { expect, test } from 'vitest'
import { failedRow, fleetCode, type FleetRow, inOrder } from '../../../src/lib/fleet/fleet-rows.ts'
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
