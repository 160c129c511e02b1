import { expect, test } from 'vitest'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import type { WorkloadsUpdateDocument } from '../../../src/lib/vms/waves/wave-run.ts'
import { workloadsUpdateView } from '../../../src/lib/output/views/vms/wave-run.ts'
import type { UpdatedVm } from '../../../src/lib/vms/waves/update-run.ts'

const left = (name: string, more: Partial<UpdatedVm> = {}): UpdatedVm => ({
  namespace: 'demo',
  name,
  outcome: 'left',
  why: 'not migratable',
  remedy: [`virtctl restart ${name} -n demo`],
  ...more,
})

/** What stands behind arrows. */
function helps(items: readonly UpdatedVm[]): readonly string[] {
  const document: WorkloadsUpdateDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadsUpdate',
    kubevirt: { name: 'kubevirt', namespace: 'kubevirt' },
    selection: {},
    outcome: 'done',
    totals: {
      total: items.length,
      migrated: 0,
      restarted: 0,
      moving: 0,
      failed: 0,
      left: items.length,
      waiting: 0,
      replaced: 0,
      gone: 0,
    },
    items,
  }
  const paint = paintFor({ colour: false, unicode: true })
  const lines = workloadsUpdateView.text(document, paint, { columns: Infinity, wide: false })
  return lines.filter((line) => line.startsWith('  → ')).map((line) => line.slice(4))
}

test('one that only a restart helps is named; several are restarted in an order, by one command', () => {
  expect(helps([left('a')])).toEqual(['virtctl restart a -n demo'])
  const losing = left('d', {
    remedy: ['virtctl restart d -n demo     restarts the guest; emptyDisk x is lost'],
  })
  expect(helps([left('a'), losing])).toEqual([
    'kvup workloads outdated     # shows why each is not moved',
    'kvup workloads update --restart-unmigratable --accept data-loss     # restarts the VMs that are left, one by one; the data in their pods is lost',
  ])
  expect(helps([left('a'), left('b'), left('c', { remedy: ['kubectl describe c'] })])).toEqual([
    'kubectl describe c',
    'kvup workloads update --restart-unmigratable     # restarts the VMs that are left, one by one',
  ])
})

test('where restarts were asked for already, those that are left are named', () => {
  const back = left('x', { outcome: 'restarted', by: 'restart', remedy: [] })
  expect(helps([left('a'), left('b'), back])).toEqual([
    'virtctl restart a -n demo',
    'virtctl restart b -n demo',
  ])
})
