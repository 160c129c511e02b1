import { expect, test } from 'vitest'
import { MigrationLedger } from '../../../../src/lib/vms/migrations/migration-ledger.ts'
import { paceOf, timeFor } from '../../../../src/lib/vms/migrations/migration-report.ts'
import { at, object, type Shape } from './shapes.ts'

function ledgerOf(...shapes: Shape[]): MigrationLedger {
  const ledger = new MigrationLedger()
  for (const shape of shapes) ledger.add(object(shape))
  return ledger
}

test('failures in a row are those after the last success, the newest first', () => {
  const ledger = ledgerOf(
    { phase: 'Failed', since: 500, reason: 'before' },
    { phase: 'Succeeded', since: 400 },
    { phase: 'Failed', since: 300, reason: 'first' },
    { phase: 'Failed', since: 200, reason: 'second' },
    { phase: 'Pending', since: 100 },
  )
  const { kept, failures } = ledger.pastOf('demo/web-1')
  expect(failures.map(({ failureReason }) => failureReason)).toEqual(['second', 'first'])
  expect(kept).toBe(4)
  expect(ledger.openByVm.get('demo/web-1')).toHaveLength(1)
  expect(ledger.failing).toEqual(['demo/web-1'])
})

test('a VMI that succeeded after all is not failing, and VMIs of one name in two namespaces are two', () => {
  const ledger = ledgerOf(
    { phase: 'Failed', since: 500 },
    { phase: 'Succeeded', since: 400 },
    { phase: 'Failed', since: 500, namespace: 'other' },
  )
  expect(ledger.failing).toEqual(['other/web-1'])
  expect(ledger.finished()).toEqual({ succeeded: 1, failed: 2 })
  expect(ledger.finished('other')).toEqual({ succeeded: 0, failed: 1 })
})

test('what is followed: it runs, it ends once, it is collected', () => {
  const ledger = ledgerOf({ name: 'one', phase: 'Pending' })
  expect(ledger.running).toEqual([])
  ledger.update(object({ name: 'one', phase: 'Running' }))
  expect(ledger.running).toHaveLength(1)
  const ended = object({ name: 'one', phase: 'Succeeded', since: 0 })
  ledger.update(ended)
  ledger.update(ended)
  expect([ledger.open.length, ledger.finished().succeeded, ledger.pastOf('demo/web-1').kept]).toEqual([
    0, 1, 1,
  ])
  expect(ledger.ends()).toEqual([at.getTime()])
  expect(ledger.ends('other')).toEqual([])
  ledger.remove(ended)
  expect([ledger.finished().succeeded, ledger.pastOf('demo/web-1').kept]).toEqual([0, 0])
})

test('a failed one that is collected leaves the others', () => {
  const oldest = { name: 'oldest', phase: 'Failed', since: 600 }
  const ledger = ledgerOf(oldest, { phase: 'Failed', since: 300 })
  ledger.remove(object(oldest))
  expect(ledger.pastOf('demo/web-1')).toMatchObject({ kept: 1, failures: [{}] })
})

test('the pace is the average of the last quarter of an hour', () => {
  const now = at.getTime()
  const ends = [0, 1, 2, 3, 4].map((minute) => now - minute * 60_000)
  expect(paceOf([...ends, now - 3_600_000], at)).toEqual({ perMinute: 1, overSeconds: 240 })
  expect(paceOf([now - 1000], at)).toBeUndefined()
  expect(timeFor(30, { perMinute: 4, overSeconds: 60 })).toBe(450)
})
