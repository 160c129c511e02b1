import { expect, test } from 'vitest'
import { MigrationLedger, ObservedMoves } from '../../../../src/lib/vms/migrations/migration-ledger.ts'
import { trafficOf, type UpdateSnapshot } from '../../../../src/lib/vms/waves/update-fleet.ts'
import { SoakWatch } from '../../../../src/lib/vms/waves/update-run.ts'
import type { Candidate } from '../../../../src/lib/vms/waves/waves.ts'

const minute = 60_000
const movedAt = Date.parse('2026-01-10T12:00:00Z')
const candidate = (vm: string): Candidate => ({
  vm,
  uid: vm,
  by: 'migration',
  wave: '',
  canary: false,
  apart: 'db',
  memory: 0,
  bornAt: 0,
})
const known = new Map(['shop/a', 'shop/b'].map((vm) => [vm, candidate(vm)]))

/** Until when `shop/b` is kept apart, ms; without its soak. */
async function wellAt(ready: object | undefined, soak = minute, looks = 1) {
  let asked = 0
  const object = {
    metadata: { name: 'a' },
    status: { conditions: ready ? [{ type: 'Ready', ...ready }] : [] },
  }
  const reader = { get: async () => (asked++, { is: 'object', object }) } as never
  const moves = new ObservedMoves(0)
  moves.succeeded.set('shop/a', movedAt)
  const watch = new SoakWatch(soak)
  let found: ReadonlyMap<string, number> = new Map()
  for (let reads = 0; reads < looks; reads++)
    found = await watch.read(reader, moves, { known, now: movedAt + 2 * minute })
  const fleet = { candidates: new Map(), left: new Map(), loses: new Map(), unread: [] }
  const snapshot: UpdateSnapshot = {
    now: 0,
    fleet,
    ledger: new MigrationLedger(),
    moves,
    restarts: [],
    wellAt: found,
  }
  return { until: trafficOf(snapshot, known, 0).apart.get('db'), asked }
}

test('W4 the next only after Ready: moved, and not Ready, is not well', async () => {
  expect(await wellAt({ status: 'False' })).toMatchObject({ until: Infinity })
  expect(await wellAt(undefined)).toMatchObject({ until: Infinity })
})

test('W4 the soak begins with Ready, and with the end of the migration where it was Ready all the time', async () => {
  const late = { status: 'True', lastTransitionTime: '2026-01-10T12:01:30Z' }
  expect(await wellAt(late)).toMatchObject({ until: movedAt + 1.5 * minute })
  const always = { status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }
  expect(await wellAt(always)).toMatchObject({ until: movedAt })
})

test('whose soak is over is not asked again', async () => {
  expect(await wellAt({ status: 'True' }, minute, 3)).toMatchObject({ asked: 1 })
  expect(await wellAt({ status: 'True' }, 10 * minute, 3)).toMatchObject({ asked: 3 })
})
