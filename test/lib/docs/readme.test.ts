import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Override } from '../../../src/lib/engine/journal.ts'
import { statusReport } from '../../../src/lib/status/status-report.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { stateLines } from '../../../src/lib/output/views/cluster-state.ts'
import { clusterState } from '../../../src/lib/status/cluster-state.ts'
import { example } from '../kubevirt/example.ts'

const readme = readFileSync('README.md', 'utf8')
const before = (time: string, seconds: number) => new Date(Date.parse(time) - seconds * 1000).toISOString()

const override = (at: string): Override => ({
  id: 'workload-updates',
  object: {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    name: 'kubevirt',
    namespace: 'kubevirt',
    uid: 'u',
  },
  path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
  was: { present: true, value: ['LiveMigrate'] },
  by: 'admin@laptop',
  at,
  harmless: 'for days; hotplug and volume changes wait meanwhile',
  procedure: 'upgrade to v1.8.4',
})

test('README shows an interrupted upgrade as kvup status prints it', async () => {
  const { reader, clock } = example('updating-canary-passed')
  const { takenAt, ...report } = await statusReport(reader, clock)
  const at = (seconds: number) => before(takenAt, seconds)
  const entry = { by: 'admin@laptop', procedure: 'upgrade to v1.8.4', step: 'virt-handler', text: '' }
  const state = clusterState({
    report: {
      ...report,
      takenAt,
      observed: { version: 'v1.7.4' },
      waitingFor: 'virt-handler: 5/6 updated, worker-2 (not ready, 2s)',
      workloads: { instances: 12, outdated: { labelled: 0 } },
    },
    cluster: 'prod-eu',
    entries: [
      { ...entry, at: at(41), what: 'started' },
      { ...entry, at: at(25), what: 'interrupted', place: { step: 4, of: 10 } },
    ],
    overrides: [override(at(40))],
  })
  const lines = stateLines(state, paintFor({ colour: false, unicode: true }), { columns: Infinity })
  expect(lines).toHaveLength(6)
  for (const line of lines)
    expect(readme).toContain(`${line.replace(/ {5}(?=continues|resumes)/u, '     # ')}\n`)
})
