import { expect, test } from 'vitest'
import type { FleetPlanDocument } from '../../../src/lib/fleet/fleet-plan.ts'
import type { FleetReport } from '../../../src/lib/fleet/fleet-report.ts'
import { clustersOf } from '../../../src/lib/output/report/report-clusters.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { fleetPlanView, fleetReportView } from '../../../src/lib/output/views/fleet-plan.ts'

const size = { columns: Infinity, wide: false }
const paint = paintFor({ colour: false, unicode: true })
const common = { name: 'east', context: 'east', uid: 'u' }

test('what another process did took as long as its journal says', () => {
  const item = { ...common, wave: 1, outcome: 'done' } as const
  const times = { began: '2026-08-22T10:00:00Z', ended: '2026-08-22T10:05:20Z' }
  const report = (more: object): FleetReport => ({
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'FleetReport',
    fleet: 'f',
    to: 'v1.8.4',
    items: [{ ...item, ...more }],
  })
  const shown = (more: object) => fleetReportView.text(report(more), paint, size).join('\n')
  expect(shown(times)).toContain('5 m 20 s')
  expect(shown({ seconds: 7 })).toContain('7 s')
  expect(shown({ ...times, seconds: 7 })).toContain('5 m 20 s')
})

test('against a cluster stands what somebody has to look at, each check once', () => {
  const findings = [
    { id: 'kubernetes-window', level: 'warning' },
    { id: 'kubernetes-window', level: 'warning' },
    { id: 'cannot-be-undone', level: 'info' },
  ]
  const document = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'FleetPlan',
    to: 'v1.8.4',
    waves: [{ wave: 1, clusters: ['east'] }],
    soakSeconds: 0,
    stopAfter: '1',
    clusters: [{ ...common, windows: [], plan: { findings } }],
  } as unknown as FleetPlanDocument
  const row = fleetPlanView.text(document, paint, size).find((line) => line.includes('east'))
  expect(row).toMatch(/ kubernetes-window$/u)
  expect(clustersOf(document as never)?.rows[0]?.at(-1)).toBe('kubernetes-window')
})
