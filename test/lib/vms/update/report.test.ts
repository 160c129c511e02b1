import { expect, test } from 'vitest'
import { MigrationLedger, ObservedMoves } from '../../../../src/lib/vms/migrations/migration-ledger.ts'
import type { UpdateSnapshot } from '../../../../src/lib/vms/waves/update-fleet.ts'
import { outcomeOf } from '../../../../src/lib/vms/waves/update-run.ts'
import { aCandidate } from '../waves/a-candidate.ts'

test('the report of many VMs asks once who failed, and names the first reason of each', async () => {
  const known = new Map(Array.from({ length: 5000 }, (_, i) => [`shop/vm-${i}`, aCandidate(`shop/vm-${i}`)]))
  const snapshot: UpdateSnapshot = {
    now: 0,
    fleet: { candidates: known, left: new Map(), loses: new Map(), unread: [] },
    ledger: new MigrationLedger(),
    moves: new ObservedMoves(0),
    restarts: [],
    wellAt: new Map(),
  }
  let asked = 0
  const failed = () => {
    asked++
    return [
      { vm: 'shop/vm-7', reason: 'too slow' },
      { vm: 'shop/vm-7', reason: 'refused' },
    ]
  }
  const run = { read: async () => snapshot, known, failed }
  const { totals, items } = await outcomeOf({} as never, run)
  expect(asked).toBe(1)
  expect(totals).toMatchObject({ total: 5000, waiting: 4999, failed: 1 })
  expect(items[0]).toMatchObject({ name: 'vm-7', outcome: 'failed', why: 'too slow' })
})
