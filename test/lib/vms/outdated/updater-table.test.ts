import { expect, test } from 'vitest'
import { type Due, dueFor } from '../../../../src/lib/vms/workload-updater.ts'
import { outlookOf } from '../../../../src/lib/vms/vm-outlook.ts'
import { aVm, aVmi, newLauncher } from './a-vmi.ts'
import fixture from './updater-table.json' with { type: 'json' }

/**
 * Done 1: facts 9.3, KubeVirt's own table of the workload updater, one row or more for each of its tests. Limits and batches (224, 426, 454) say when,
 * not what: whoever waits is told the same fate as who is first. What is due is what the updater counts: the launcher, by both methods, unless it is said.
 */
type Row = [
  what: string,
  /** What is wanted of the VMI. */
  wanted: Parameters<typeof aVmi>[0],
  /** The fate, and the reason that decides. */
  expected: string,
  /** `due` is null where nothing is. */
  more?: { methods?: readonly string[]; due?: Due | null; updating?: boolean; migrating?: boolean },
]

const migrating = new Map([
  ['shop/db-0', { namespace: 'shop', name: 'move', phase: 'Running', since: '2026-11-01T00:00:00Z' }],
])
const launcher = (image: string) => ({ inUse: image === newLauncher, old: false })
const defaults = { clusterEviction: undefined, launcher, methods: ['LiveMigrate', 'Evict'] }

test.each<Row>(fixture.rows as never)('facts 9.3: %s', (_, wanted, expected, more = {}) => {
  const { due = 'launcher', migrating: moves, ...rest } = more
  const vmi = aVmi(wanted)
  expect(dueFor(vmi, newLauncher)).toBe(due ?? undefined)
  const { outcome, why } = outlookOf(vmi, aVm('Always'), {
    ...defaults,
    ...rest,
    ...(moves === true && { migrating }),
  })
  expect(`${outcome} (${why.map(({ id }) => id).join(', ')})`).toBe(expected)
})
