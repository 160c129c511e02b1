import { expect, test } from 'vitest'
import { clustersOf, fleetFindings } from '../../../../src/lib/output/report/report-clusters.ts'
import { reportMarkdown } from '../../../../src/lib/output/report/report-markdown.ts'
import { sanitise } from '../../../../src/lib/output/terminal.ts'
import { hostile } from './hostile.ts'
import { bare, made, page, reported, sourceOf, withTexts } from './recorded.ts'
import fixture from './fleet-verdicts.json' with { type: 'json' }

const apiVersion = 'kvup.io/v1alpha1'
const warning = { id: 'kubernetes-window', level: 'warning', summary: 'Kubernetes is newer' }
const planOf = (name: string, group = 1) => ({
  name,
  context: name,
  uid: name,
  group,
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
  clusters: [planOf('prod-0', 0), planOf('prod-1')] as readonly object[],
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

const verdictOf = (document: object) => reported(sourceOf(document)).verdict

test.each([plan, check, status])('what speaks against nothing is good: $kind', (document) => {
  expect(verdictOf(document).is).toBe('good')
})

test.each(fixture.rows as unknown as [object, string, string][])('%#: %j is %s', (document, is, text) => {
  expect(verdictOf(document)).toEqual({ is, text: expect.stringContaining(text) as string })
})

test('a table of each kind; none of another document', () => {
  expect(clustersOf(plan)?.rows[1]).toEqual([
    'prod-1',
    '1',
    'v1.7.4',
    'image-tag',
    '20 m',
    'kubernetes-window',
  ])
  expect(clustersOf(check)?.rows).toEqual([['prod-0', 'Passed', '', '0', '', '0', '']])
  expect(clustersOf(status)?.rows).toEqual([['prod-0', 'Healthy', 'v1.8.4', '2', '0', '']])
  expect(clustersOf({ kind: 'UpgradeReport', items: [healthy] })).toBeUndefined()
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

test.each([plan, check, status])('texts of others stay texts: $kind', (document) => {
  const source = sourceOf(document)
  const tags = hostile.filter((text) => text.includes('<'))
  for (let first = 0; first < hostile.length; first += 8) {
    const spoilt = sourceOf(withTexts(source, hostile, first).document)
    const html = page(spoilt)
    expect(html).not.toMatch(/<script/iu)
    expect(tags.filter((text) => bare(html).includes(text))).toEqual([])
    const ticket = reportMarkdown(spoilt)
    expect(ticket).toBe(sanitise(ticket))
    expect(made(spoilt)).not.toContain('\u001b]0;')
  }
})
