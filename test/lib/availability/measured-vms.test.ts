import { expect, test } from 'vitest'
import { MeasuredVms } from '../../../src/lib/availability/measured-vms.ts'
import type { MigrationState, VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import fixture from './measured-vms.json' with { type: 'json' }

interface Vmi {
  name?: string
  uid?: string
  phase?: string
  agent?: boolean
  migration?: MigrationState
}

const vmi = ({
  name = 'web',
  uid = 'a',
  phase = 'Running',
  agent,
  migration,
}: Vmi = {}): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { namespace: 'shop', name, uid },
  status: {
    phase,
    ...(agent !== undefined && {
      conditions: [{ type: 'AgentConnected', status: agent ? 'True' : 'False' }],
    }),
    ...(migration && { migrationState: migration }),
  },
})

/** Each at the second of its place. */
function after(...changes: (Vmi | 'synced' | { gone: Vmi } | { lost: string })[]) {
  const vms = new MeasuredVms()
  for (const [second, change] of changes.entries()) {
    const at = `00:00:0${second}`
    if (change === 'synced') vms.take({ type: 'synced' }, at)
    else if ('gone' in change) vms.take({ type: 'deleted', object: vmi(change.gone) }, at)
    else if ('lost' in change) vms.take({ type: 'lost', why: change.lost }, at)
    else vms.take({ type: 'modified', object: vmi(change) }, at)
  }
  return vms.report()
}

test('a VM that runs on is not interrupted', () => {
  expect(after({}, 'synced', { phase: 'Running' }, {})).toMatchObject({
    watched: 1,
    interrupted: { count: 0, items: [] },
  })
})

test.each<[string, Parameters<typeof after>, object]>(fixture.interrupted as never)(
  '%s interrupts it once',
  (_, changes, item) => {
    const { interrupted } = after({}, 'synced', ...changes)
    expect(interrupted).toEqual({ count: 1, items: [{ vm: 'shop/web', ...item }] })
  },
)

test('one that never ran is not interrupted by being deleted', () => {
  expect(after('synced', { phase: 'Scheduling' }, { gone: { phase: 'Scheduling' } }).interrupted.count).toBe(
    0,
  )
})

const ended = (migrationUid: string, more: MigrationState = {}): MigrationState => ({
  migrationUid,
  completed: true,
  startTimestamp: '2026-01-01T00:00:00Z',
  endTimestamp: '2026-01-01T00:00:30Z',
  ...more,
})

const times = { begin: '2026-01-01T00:00:00Z', end: '2026-01-01T00:00:30Z', seconds: 30 }

test('migrations that end are told by the times of KubeVirt; the one before the measurement is not', () => {
  const { migrations } = after(
    { migration: ended('before') },
    'synced',
    { migration: ended('before') },
    { migration: { migrationUid: 'one', startTimestamp: '2026-01-01T00:01:00Z' } },
    {
      migration: ended('one', {
        targetNodeDomainReadyTimestamp: '2026-01-01T00:00:28Z',
        sourceNode: 'node-1',
        targetNode: 'node-2',
        mode: 'PreCopy',
      }),
    },
    { migration: ended('one') },
    { migration: ended('two', { completed: false, failed: true, failureReason: 'aborted' }) },
  )
  expect(migrations).toEqual({
    count: 2,
    failed: 1,
    longestSeconds: 30,
    items: [
      {
        vm: 'shop/web',
        ...times,
        activeOnTarget: '2026-01-01T00:00:28Z',
        sourceNode: 'node-1',
        targetNode: 'node-2',
        mode: 'PreCopy',
      },
      { vm: 'shop/web', ...times, failed: 'aborted' },
    ],
  })
})

test('a guest agent that is no longer connected while the VM runs is told, with when it was again', () => {
  expect(after({ agent: true }, 'synced', { agent: false }, { agent: true }).agents).toEqual({
    connected: 1,
    lost: { count: 1, items: [{ vm: 'shop/web', at: '00:00:02', connectedAgain: '00:00:03' }] },
  })
})

test('where VMIs may not be watched, that is said', () => {
  expect(after({ lost: 'jane may not watch' }).notWatched).toBe('jane may not watch')
})

test('a watch that is lost later is told with its times, whether it comes back or not', () => {
  const report = after({}, 'synced', { lost: 'server away' }, { lost: 'still' }, 'synced', {
    lost: 'forbidden',
  })
  expect(report.notWatched).toBeUndefined()
  expect(report.gaps).toEqual({
    count: 2,
    items: [
      { begin: '00:00:02', end: '00:00:04', why: 'server away' },
      { begin: '00:00:05', why: 'forbidden' },
    ],
  })
  expect(after({}, 'synced').gaps).toBeUndefined()
})

test('of a hundred thousand short-lived VMs fifty are told, and all are counted', () => {
  const vms = new MeasuredVms()
  vms.take({ type: 'synced' }, '')
  for (let i = 0; i < 100_000; i++) {
    vms.take({ type: 'added', object: vmi({ name: `job-${i}` }) }, '')
    vms.take({ type: 'deleted', object: vmi({ name: `job-${i}` }) }, '')
  }
  const { watched, interrupted } = vms.report()
  expect({ watched, count: interrupted.count, told: interrupted.items.length }).toEqual({
    watched: 100_000,
    count: 100_000,
    told: 50,
  })
})
