import { expect, test } from 'vitest'
import { clusterLanes, clustersOf, fleetFindings } from '../../../../src/lib/output/report/report-clusters.ts'
import { parseReportSource } from '../../../../src/lib/output/report/report-source.ts'
import { reportMarkdown } from '../../../../src/lib/output/report/report-view.ts'
import { sanitise } from '../../../../src/lib/output/terminal.ts'
import { hostile } from './hostile.ts'
import { bare, made, page, reported, withTexts } from './recorded.ts'

const apiVersion = 'kvup.io/v1alpha1'
const error = { code: 4, reason: 'stalled', message: 'stalled while updating virt-api' }
const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`

const done = {
  name: 'prod-0',
  context: 'prod-0',
  uid: 'u0',
  wave: 0,
  outcome: 'done',
  from: 'v1.7.4',
  began: at(0),
  ended: at(20),
}
const waiting = { name: 'prod-1', context: 'prod-1', uid: 'u1', wave: 1, outcome: 'not-begun' }
const report = {
  apiVersion,
  kind: 'FleetReport',
  fleet: 'f',
  to: 'v1.8.4',
  items: [done] as readonly object[],
  status: 'complete',
}
const warning = { id: 'kubernetes-window', level: 'warning', summary: 'Kubernetes is newer' }
const blocker = { id: 'node-ready', level: 'blocker', summary: 'worker-1 is not ready' }
const planOf = (name: string) => ({
  name,
  context: name,
  uid: name,
  windows: [],
  plan: {
    from: 'v1.7.4',
    method: 'image-tag',
    pending: true,
    findings: [warning],
    accepted: [],
    time: { highSeconds: 1200 },
    seal: { by: 'me@here' },
  },
})
const plan = {
  apiVersion,
  kind: 'FleetPlan',
  to: 'v1.8.4',
  waves: [
    { wave: 0, clusters: ['prod-0'] },
    { wave: 1, clusters: ['prod-1'] },
  ],
  soakSeconds: 0,
  stopAfter: '1',
  clusters: [planOf('prod-0'), planOf('prod-1')] as readonly object[],
  seal: { by: 'me@here' } as object | undefined,
  status: 'complete',
}
const passed = {
  name: 'prod-0',
  context: 'prod-0',
  state: 'Passed',
  blockers: 0,
  notChecked: 0,
  findings: [],
}
const check = {
  apiVersion,
  kind: 'FleetCheck',
  strict: false,
  items: [passed],
  common: [],
  status: 'complete',
}
const healthy = {
  name: 'prod-0',
  context: 'prod-0',
  state: 'Healthy',
  version: 'v1.8.4',
  vms: 2,
  outdated: 0,
}
const status = { apiVersion, kind: 'FleetStatus', items: [healthy], status: 'complete' }

const sourceOf = (document: object) => parseReportSource(JSON.stringify(document), 'fleet.json')
const verdictOf = (document: object) => reported(sourceOf(document)).verdict

test.each([report, plan, check, status])('what speaks against nothing is good: $kind', (document) => {
  expect(verdictOf(document).is).toBe('good')
})

test.each([
  [{ ...report, items: [done, waiting] }, 'warning', '1 not begun'],
  [{ ...report, items: [done, { ...waiting, outcome: 'needs-person', error }] }, 'warning', 'needs a person'],
  [{ ...report, items: [{ ...done, outcome: 'failed', error }] }, 'bad', '1 failed'],
  [{ ...report, items: [{ ...done, outcome: 'unreachable' }] }, 'bad', '1 unreachable'],
  [{ ...report, items: [{ ...done, error }] }, 'bad', '1 of it failed'],
  [{ ...report, items: [{ ...waiting, outcome: 'nothing-to-do', error }] }, 'bad', '1 of it failed'],
  [{ ...report, items: [{ ...done, outcome: 'well' }] }, 'warning', ''],
  [{ ...report, items: [{ ...done, outcome: 'constructor' }] }, 'warning', ''],
  [{ ...report, items: [] }, 'bad', 'a fleet without clusters'],
  [{ ...report, items: undefined }, 'bad', 'a fleet without clusters'],
  [{ ...report, items: [null] }, 'bad', 'a fleet without clusters'],
  [{ ...report, status: 'failed' }, 'bad', 'Failed'],
  [{ ...report, error }, 'bad', 'stalled while updating virt-api'],
  [{ ...plan, seal: undefined }, 'bad', 'Not sealed'],
  [{ ...plan, clusters: [{ ...planOf('prod-0'), error }] }, 'bad', 'Not sealed'],
  [{ ...plan, clusters: [{ ...planOf('prod-0'), plan: {} }] }, 'bad', '1 of it failed'],
  [{ ...plan, clusters: [] }, 'bad', 'a fleet without clusters'],
  [
    { ...check, items: [{ ...passed, state: 'Blocked', blockers: 1, findings: [blocker] }] },
    'bad',
    '1 blocked',
  ],
  [{ ...check, items: [{ ...passed, state: 'Unreachable', error }] }, 'bad', '1 unreachable'],
  [{ ...check, items: [{ ...passed, findings: [blocker] }] }, 'bad', 'passed, with 1 finding that blocks'],
  [{ ...check, items: [{ ...passed, notChecked: 2 }] }, 'bad', '1 of it failed'],
  [{ ...check, items: [{ ...passed, error }] }, 'bad', '1 of it failed'],
  [{ ...check, items: [{ ...passed, state: 'Fine' }] }, 'warning', 'no verdict'],
  [{ ...check, items: [{ ...passed, state: '__proto__' }] }, 'warning', 'no verdict'],
  [{ ...check, items: [] }, 'bad', 'a fleet without clusters'],
  [{ ...status, items: [healthy, { ...healthy, state: 'Degraded' }] }, 'bad', '1 degraded, 1 healthy'],
  [{ ...status, items: [{ ...healthy, state: 'Updating' }] }, 'good', '1 updating'],
  [{ ...status, items: [{ ...healthy, error }] }, 'bad', '1 of it failed'],
  [{ ...status, items: [{ ...healthy, state: 'Fine' }] }, 'warning', 'no verdict'],
  [{ ...status, items: [{ ...healthy, state: 'toString' }] }, 'warning', 'no verdict'],
])('%#: %j is %s', (document, is, text) => {
  expect(verdictOf(document)).toEqual({ is, text: expect.stringContaining(text) as string })
})

test('a table of each kind; none of another document', () => {
  expect(clustersOf(report)?.rows).toEqual([['prod-0', 'canary', 'done', 'v1.7.4', '20 m', '']])
  expect(clustersOf(plan)?.rows[1]).toEqual([
    'prod-1',
    '1',
    'v1.7.4',
    'image-tag',
    '20 m',
    'always',
    'kubernetes-window',
  ])
  expect(clustersOf(check)?.rows).toEqual([['prod-0', 'Passed', '', '0', '', '0', '']])
  expect(clustersOf(status)?.rows).toEqual([['prod-0', 'Healthy', 'v1.8.4', '2', '0', '']])
  expect(clustersOf({ kind: 'UpgradeReport', items: [done] })).toBeUndefined()
})

test('a bar for each cluster that was begun; one that ended before it began has no length', () => {
  expect(clusterLanes({ items: [done, waiting] })).toHaveLength(1)
  const [backwards] = clusterLanes({ items: [{ ...done, ended: '2025-01-01T00:00:00Z' }] })
  expect(backwards).toMatchObject({
    bars: [{ from: Date.parse(at(0)), to: Date.parse(at(0)), tone: 'good' }],
  })
  expect(clusterLanes({ items: [{ ...done, began: 'yesterday' }] })).toEqual([])
  expect(clusterLanes({ items: 'none' })).toEqual([])
})

test('a finding of several clusters is one, with its clusters; an accepted one is another', () => {
  const [first] = plan.clusters
  const accepted = { ...planOf('prod-2'), plan: { ...planOf('prod-2').plan, accepted: [{ id: warning.id }] } }
  expect(fleetFindings({ clusters: [first, planOf('prod-1'), accepted] })).toEqual([
    { ...warning, objects: ['cluster/prod-0', 'cluster/prod-1'] },
    { ...warning, accepted: true, objects: ['cluster/prod-2'] },
  ])
  expect(fleetFindings({ items: [null, 7, { findings: 'many' }] })).toEqual([])
})

test.each([report, plan, check, status])('texts of others stay texts: $kind', (document) => {
  const source = sourceOf(document)
  const tags = hostile.filter((text) => text.includes('<'))
  for (let first = 0; first < hostile.length; first += 8) {
    const spoilt = sourceOf(withTexts(source, hostile, first).document)
    const html = page(spoilt)
    expect(html).not.toMatch(/<script/iu)
    expect(tags.filter((text) => bare(html).includes(text))).toEqual([])
    const ticket = reportMarkdown(reported(spoilt))
    expect(ticket).toBe(sanitise(ticket))
    expect(made(spoilt)).not.toContain('\u001b]0;')
  }
})
