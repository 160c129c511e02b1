import { expect, test } from 'vitest'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import type { WorkloadsUpdateDocument } from '../../../src/lib/vms/waves/wave-run.ts'
import { workloadsUpdateView } from '../../../src/lib/output/views/vms/wave-run.ts'
import type { UpdatedVm } from '../../../src/lib/vms/waves/update-run.ts'
import fixture from './workloads-update.json' with { type: 'json' }

const left = (name: string, more: Partial<UpdatedVm> = {}): UpdatedVm => ({
  namespace: 'demo',
  name,
  outcome: 'left',
  why: 'not migratable',
  remedy: [`virtctl restart ${name} -n demo`],
  ...more,
})

type More = Pick<WorkloadsUpdateDocument, 'paused' | 'next'>

/** What stands behind arrows. */
const helps = (items: readonly UpdatedVm[], more: More = {}): readonly string[] =>
  told(items, more).flatMap((line) => (line.startsWith('  → ') ? [line.slice(4)] : []))

function told(items: readonly UpdatedVm[], more: More): readonly string[] {
  const totals = { ...fixture.totals, total: items.length, left: items.length }
  const document = { ...fixture, totals, items, ...more } as WorkloadsUpdateDocument
  const paint = paintFor({ colour: false, unicode: true })
  return workloadsUpdateView.text(document, paint, { columns: Infinity, wide: false }).map(printedLine)
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

test('what loses data comes last, behind the line that shows whose; and who keeps updates paused is said first', () => {
  const remedy = ['virtctl restart d -n demo     restarts the guest; emptyDisk x is lost']
  expect(helps([left('d', { remedy })])).toEqual([
    'kvup workloads outdated     # shows why each is not moved',
    'virtctl restart d -n demo     restarts the guest; emptyDisk x is lost',
  ])
  const paused = { by: 'root@jump', at: '2026-11-25T12:00:00Z' }
  const next = ['kvup workloads resume-updates     resumes automatic VM updates']
  expect(helps([left('d', { remedy })], { paused, next })[0]).toBe(next[0])
  expect(told([], { paused })).toContain('! automatic VM updates are still paused')
})

test('where restarts were asked for already, those that are left are named', () => {
  const back = left('x', { outcome: 'restarted', by: 'restart', remedy: [] })
  expect(helps([left('a'), left('b'), back])).toEqual([
    'virtctl restart a -n demo',
    'virtctl restart b -n demo',
  ])
})

test('the line that restarts those that are left leaves out what was left out by --exclude', () => {
  const excluded = left('keep', { why: 'left out by --exclude', remedy: [] })
  expect(helps([left('a'), left('b'), excluded])).toEqual([
    'kvup workloads update --exclude demo/keep --restart-unmigratable     # restarts the VMs that are left, one by one',
  ])
})
