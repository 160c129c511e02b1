import { expect, test } from 'vitest'
import { seal } from '../../../../src/lib/output/printer.ts'
import { blocked, timedOut } from '../../../../src/lib/kube/errors.ts'
import { recorded, reported, sourceOf } from './recorded.ts'

const passed = () => ({
  apiVersion: 'kvup.io/v1alpha1' as const,
  kind: 'CheckReport',
  outcome: 'passed',
  to: 'v1.8.4',
  counts: { blockers: 0, notChecked: 0, warnings: 0 },
  items: [{ id: 'node-ready', is: 'passed', findings: [] as object[] }],
})
const ended = recorded('upgrade.ndjson').document
const plan = recorded('plan.json').document
const { outcome: _, ...cutShort } = ended
const verdictOf = (document: object) => reported(sourceOf(document)).verdict

test('what nothing speaks against is good', () => {
  expect(verdictOf(passed())).toEqual({ is: 'good', text: 'READY for v1.8.4' })
  expect(verdictOf({ ...plan, pending: false, steps: [] }).is).toBe('good')
})

test('a check that was not made is counted as that, whatever its finding weighs', () => {
  const finding = { id: 'node-ready', level: 'warning', summary: 'worker-1 is not ready' }
  const notMade = { id: 'rbac-diff', is: 'not-checked', findings: [finding] }
  const document = { ...passed(), counts: { blockers: 0, notChecked: 1, warnings: 0 }, items: [notMade] }
  expect(verdictOf(document)).toMatchObject({
    is: expect.not.stringMatching('bad') as string,
    text: expect.stringMatching(/^READY for v1\.8\.4/u) as string,
  })
})

const stalled = timedOut('stalled', 'virt-api does not roll\n  more of it')

test.each([
  [cutShort, stalled, 'Stalled: virt-api does not roll'],
  [ended, stalled, 'Failed: virt-api does not roll'],
  [passed(), stalled, 'Failed: virt-api does not roll'],
  [plan, blocked('node-ready', 'worker-1 is not ready'), 'Blocked: worker-1 is not ready'],
  [recorded('rehearsal.json').document, stalled, 'Failed: virt-api does not roll'],
  [{ kind: 'UpgradeReport' }, new Error('x of undefined'), 'Failed: x of undefined'],
] as const)('a document with an error is bad, and says it: %#', (document, error, text) => {
  expect(verdictOf(seal(document as never, 'complete', error))).toEqual({ is: 'bad', text })
})
