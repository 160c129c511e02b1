import { expect, test } from 'vitest'
import type { FleetPlanDocument } from '../../../src/lib/fleet/fleet-plan.ts'
import { clustersOf } from '../../../src/lib/output/report/report-clusters.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { fleetPlanView } from '../../../src/lib/output/views/fleet-plan.ts'

const size = { columns: Infinity, wide: false }
const paint = paintFor({ colour: false, unicode: true })

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
    clusters: [{ name: 'east', context: 'east', uid: 'u', group: 1, plan: { findings } }],
  } as unknown as FleetPlanDocument
  const row = fleetPlanView.text(document, paint, size).find((line) => line.includes('east'))
  expect(row).toMatch(/ kubernetes-window$/u)
  expect(clustersOf(document as never)?.rows[0]?.at(-1)).toBe('kubernetes-window')
})
