import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Override } from '../../../src/lib/engine/journal.ts'
import { statusReport } from '../../../src/lib/status/status-report.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { statusView } from '../../../src/lib/output/views/status.ts'
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
  harmless: 'for days; hotplug and volume changes wait',
  procedure: 'upgrade to v1.8.4',
})

test('README shows the lock and the loan as kvup status prints them', async () => {
  const { reader, clock } = example('healthy')
  const report = await statusReport(reader, clock)
  const lines = statusView.text(
    {
      apiVersion: 'kvup.io/v1alpha1',
      kind: 'Status',
      ...report,
      running: { holder: 'admin@laptop/7192/e02e1cda', renewed: before(report.takenAt, 3) },
      overrides: { settings: [override(before(report.takenAt, 25))] },
    },
    paintFor({ colour: false, unicode: true }),
    { columns: Infinity, wide: false },
  )
  const ours = lines.filter((line) => /^(?:kvup|temporary|\s+→ kvup)/u.test(line))
  expect(ours).toHaveLength(4)
  for (const line of ours) expect(readme).toContain(`${line}\n`)
})
