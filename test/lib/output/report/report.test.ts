import { expect, test } from 'vitest'
import type { ReportSource } from '../../../../src/lib/output/report/fields.ts'
import { reportMarkdown } from '../../../../src/lib/output/report/report-markdown.ts'
import { timelineOf } from '../../../../src/lib/output/report/timeline.ts'
import { vmTableOf } from '../../../../src/lib/output/report/vm-table.ts'
import { bare, check, page, type Recorded, recorded, recordedFiles, reported } from './recorded.ts'
import fixture from './report.json' with { type: 'json' }

test.each<[Recorded, string, string]>(fixture.verdicts as never)('the verdict of %s', (file, is, text) => {
  expect(reported(recorded(file)).verdict).toEqual({ is, text })
})

test('findings are sorted, the worst first, and say what helps', () => {
  const { findings, next } = reported(check())
  const order = ['blocker', 'not-checked', 'warning', 'accepted', 'info']
  const levels = findings.map(({ level }) => order.indexOf(level))
  expect(levels).toEqual(levels.toSorted((a, b) => a - b))
  expect(findings[0]).toMatchObject({ id: 'minor-skipped', level: 'blocker' })
  expect(next).toEqual(['kvup upgrade --to v1.6.6'])
})

test('risks are told with reason and who', () => {
  const source = recorded('history.json')
  const runs = [
    {
      ...(source.document['runs'] as object[])[0],
      accepted: [{ id: 'downgrade', reason: 'tested', user: 'jane' }],
    },
  ]
  const { tables } = reported({ ...source, document: { ...source.document, runs } })
  expect(tables.map(({ title, rows }) => [title, rows])).toEqual([
    ['Accepted risks', [['downgrade', 'tested', 'ops@bastion.example.com', 'jane']]],
  ])
})

test('of a stalled rehearsal nothing is to be continued, undone or restored in the cluster', () => {
  const { next, remarks, notes } = reported(recorded('stalled-rehearsal.json'))
  expect(next).toEqual(['kvup check --to v1.8.4     # says what can be seen beforehand'])
  expect(remarks).toEqual(['Played on a twin: 9 nodes, 12 running VMs. Nothing was changed in the cluster.'])
  const noted = new Map(notes.map(({ title, lines }) => [title, lines]))
  expect([...noted.keys()]).toEqual([
    'In the twin at its end',
    'Left behind in the twin',
    'If this happens in the cluster',
    'Not in the twin, and so not shown',
  ])
  // What resumes is said once.
  expect(noted.get('If this happens in the cluster')?.map((line) => line.split('     ')[0])).toEqual([
    'kubectl describe node worker-1',
    'kvup upgrade --to v1.8.4',
    'kvup upgrade --to v1.7.4',
    'kvup workloads resume-updates',
  ])
})

test('VMs of a rehearsal that does not go through are still on what they were on', () => {
  const table = vmTableOf(recorded('stalled-rehearsal.json'))
  expect(table?.says.slice(1)).toEqual([
    'KubeVirt tries to: nothing 12',
    'Becomes in the twin: still on v1.7.4 12',
  ])
})

test('of very many VMs a table has the first, those of rare values before all others, and says so', () => {
  const items = Array.from({ length: 10_000 }, (_, n) => ({
    namespace: 'demo',
    name: `vm-${n}`,
    outcome: n === 9_999 ? 'failed' : 'updated',
  }))
  const { rows, says } = vmTableOf({ document: { kind: 'WorkloadsUpdate', items } }) ?? { rows: [], says: [] }
  expect(rows).toHaveLength(500)
  expect(rows[0]).toContain('vm-9999')
  expect(says).toContain('Outcome: updated 9999, failed 1')
  expect(says.join()).toContain('-o json of the command has all')
})

test('the title of a step that reads like a command is none', () => {
  const plan = page(recorded('eus-plan.json'))
  expect(plan).not.toContain('<code>kvup eus abort undoes')
  expect(reported(recorded('eus-plan.json')).remarks[0]).toMatch(/^There is no way back to 4\.18/u)
})

test('changes are diffs of a plan, and sentences of a run', () => {
  expect(reported(recorded('plan.json')).changes.flatMap(({ lines }) => lines)).toEqual(
    expect.arrayContaining(['- spec.imageTag: v1.7.4', '+ spec.imageTag: v1.8.4']),
  )
  const { sentences } = fixture
  for (const file of ['upgrade.ndjson', 'history.json'] as const)
    expect(reported(recorded(file)).changes.map(({ says }) => says.replace(/^[\d:]{8} UTC: /u, ''))).toEqual(
      sentences,
    )
})

test('what failed is a change only where it was about to be written, and counts as none', () => {
  const source = recorded('history.json')
  const [start, intends] = source.document['items'] as { text: string; step: string }[]
  const failed = (step: string, text: string) => ({ ...start, what: 'failed', step, text })
  const changes = (...items: unknown[]) =>
    reported({ ...source, document: { ...source.document, items: [start, ...items] } }).changes
  expect(changes(failed('virt-api', 'timed out after 3 m'))).toEqual([])
  const [refused, ...others] = changes(
    intends,
    failed(intends?.step ?? '', `${intends?.text}: refused (403)`),
  )
  expect(others).toEqual([])
  expect(refused).toMatchObject({ title: intends?.step, lines: [], isOpen: true })
  expect(refused?.says).toMatch(/^20:23:51 UTC: not done: set workloadUpdateMethods .*: refused \(403\)$/u)
})

test('of a manifest it is said that its fields are not recorded', () => {
  const source = recorded('upgrade.ndjson')
  const applied = source.events.find((one) => one['event'] === 'step-applied')
  const change = 'apply operator.yaml (sha256 0123456789abcdef…): 1 object changes, 1 is new: ClusterRole a'
  const [first] = reported({ ...source, events: [{ ...applied, change }] }).changes
  expect(first).toMatchObject({ lines: [] })
  expect(first?.says).toContain('Its fields are not recorded: kvup plan -o wide shows them')
})

test('the timeline of a run has its stages, steps, nodes, changes and temporary changes by their times', () => {
  const timeline = timelineOf(recorded('upgrade.ndjson'))
  expect([...new Set(timeline?.lanes.map(({ group }) => group))]).toEqual([
    'Stages',
    'Steps',
    'Nodes and pods',
    'Changes',
    'Temporary changes',
  ])
  const handler = timeline?.lanes.find(({ group, name }) => group === 'Stages' && name === 'virt-handler')
  expect(handler?.bars[0]?.text).toBe('virt-handler: 24 s')
  expect(timeline?.lanes.at(-1)?.bars[0]?.text).toBe('pause automatic VM updates: restored after 2 m 21 s')
  expect(timeline?.lanes.map(({ name }) => name)).toContain('worker-6 restarting')
})

test('an EUS upgrade shows how long each pool was paused', () => {
  const lanes = timelineOf(recorded('eus-run.ndjson'))?.lanes.filter(
    ({ group }) => group === 'Temporary changes',
  )
  expect(lanes?.map(({ name }) => name)).toContain('pause pool worker')
  expect(lanes?.every(({ bars }) => bars.every(({ text }) => text.includes('restored after')))).toBe(true)
})

test('VMs of a rehearsal have a lane each, and very many one curve', () => {
  const source = recorded('rehearsal.json')
  const vms = source.document['vms'] as object[]
  const laneNames = (some: readonly object[]) =>
    timelineOf({ ...source, document: { ...source.document, vms: some } })?.lanes.filter(
      ({ group }) => group === 'VMs',
    )
  expect(laneNames(vms)).toHaveLength(12)
  const many = Array.from({ length: 10_000 }, (_, n) => ({
    ...vms[n % 12],
    name: `vm-${n}`,
    begins: 90 + n,
    ends: 100 + n,
  }))
  const [one, ...others] = laneNames(many) ?? []
  expect(others).toEqual([])
  expect(Math.max(...(one?.curve ?? []).map(([, value]) => value))).toBe(10)
})

test('a measurement is drawn where the document has one', () => {
  const source = recorded('upgrade.ndjson')
  const outage = { begin: '2026-11-27T20:25:26Z', end: '2026-11-27T20:25:29Z', rolling: ['virt-api'] }
  const measured = { begin: '2026-11-27T20:23:52Z', end: '2026-11-27T20:26:20Z' }
  const availability = {
    ...measured,
    promise: { is: 'broken', text: 'not confirmed, unavailable were vm-create 3 s' },
    probes: [{ probe: 'vm-create', outages: [outage] }],
  }
  const document = { ...source.document, availability }
  const bars = [{ tone: 'good' }, { tone: 'bad', text: 'vm-create: no answer for 3 s while virt-api rolled' }]
  expect(timelineOf({ ...source, document })?.lanes.at(-1)).toMatchObject({
    group: 'Availability',
    name: 'vm-create',
    bars,
  })
  expect(reported({ ...source, document }).facts).toContainEqual({
    name: 'Availability',
    value: 'not confirmed, unavailable were vm-create 3 s',
  })
})

const moment = (seconds: number): string => new Date(Date.UTC(2026, 10, 27, 20, 24, seconds)).toISOString()
/** Of a run in which a VM was restarted, two migrated, and an agent was lost. */
const measuredRun = fixture.measuredRun

test('a sentence about kvup is none of its commands', () => {
  const { document, events } = recorded('stalled.ndjson')
  const said = 'kvup changed nothing more; what is rolling goes on by itself'
  const notes = { ...(document['error'] as object), notes: [said, 'kvup status     shows it'] }
  const html = page({ document: { ...document, error: notes }, events })
  expect(html).toContain(`<li><span>${said}</span></li>`)
  expect(html).toContain('<code>kvup status</code>')
})

test('of a measured run the table has what became of each VM, and the notes what was not measured', () => {
  const document = { ...recorded('upgrade.ndjson').document, availability: measuredRun }
  const source = { document, events: [] }
  expect(reported(source).notes).toContainEqual({
    title: 'Measured',
    lines: ['create (undefined) was not measured to the end: 403'],
  })
  const { heads = [], rows, says } = vmTableOf(source) ?? {}
  const cell = (row: readonly string[], head: string) => row[heads.indexOf(head)]
  expect(rows?.map((row) => ['VM', 'What', 'Begins (UTC)', 'Takes'].map((head) => cell(row, head)))).toEqual(
    fixture.measuredRows,
  )
  expect(says).toContain('Measured were 72: the document names the first of each kind.')
})

test('VMs, outages and steps of a measured run are drawn by their times, with its events and without', () => {
  const { document, events } = recorded('upgrade.ndjson')
  const measured = { ...document, availability: measuredRun }
  for (const source of [
    { document: measured, events },
    { document: measured, events: [] },
  ]) {
    const timeline = timelineOf(source)
    const lanesOf = (group: string) => timeline?.lanes.filter((one) => one.group === group) ?? []
    expect(timeline?.isRelative).toBe(false)
    expect(lanesOf('Steps').length).toBeGreaterThan(5)
    expect(lanesOf('VMs').map(({ name, bars }) => [name, bars.map(({ text }) => text)])).toEqual([
      ['demo/pet', ['demo/pet: interrupted: restarted']],
      ['demo/web-1', ['demo/web-1: migrated', 'demo/web-1: guest agent not connected']],
      ['demo/web-2', ['demo/web-2: migration failed: guest CPU']],
    ])
    expect(lanesOf('Availability')[0]?.bars[1]?.text).toBe('create: no answer for 4 s during virt-api')
  }
})

test('what is told on the way and how many VMs a step waits for are drawn', () => {
  const { document, events } = recorded('workloads-update.ndjson')
  const text = 'the migration of demo/web-1 failed'
  const remark = { event: 'remark', at: '2026-11-27T20:42:50Z', text }
  const lanes = timelineOf({ document, events: [...events, remark] })?.lanes ?? []
  expect(lanes.find(({ group }) => group === 'Remarks')?.bars).toMatchObject([{ text, tone: 'warn' }])
  const waits = lanes.filter(({ group }) => group === 'VMs')
  expect(waits.map(({ name }) => name)).toEqual(['canary', 'VMs'])
  expect(waits[1]?.bars[0]?.text).toBe('5 VMs that are moving')
})

/** Cells of the table that stands below the drawing. */
const tableRows = (source: ReportSource): readonly string[] =>
  [
    ...(
      /<details><summary>The (?:same|first)[\s\S]*?<\/details>/u.exec(bare(page(source)))?.[0] ?? ''
    ).matchAll(/<tr><td>(.*?)<\/tr>/gu),
  ].map(([, row = '']) => row)

test('every bar that is drawn stands in the table below it, and of very many the first of each group', () => {
  for (const file of recordedFiles) {
    const source = recorded(file)
    const bars = timelineOf(source)?.lanes.flatMap((one) => one.bars) ?? []
    expect([file, tableRows(source)]).toEqual([file, expect.objectContaining({ length: bars.length })])
  }
  const { document, events } = recorded('upgrade.ndjson')
  const remarks = Array.from({ length: 2000 }, (_, n) => ({
    event: 'remark',
    at: moment(n),
    text: `remark ${n}`,
  }))
  const crowded = { document, events: [...events, ...remarks] }
  const rows = tableRows(crowded)
  expect(rows).toHaveLength(500)
  expect(new Set(rows.map((row) => row.split('</td>', 1)[0])).size).toBe(6)
  expect(page(crowded)).toMatch(/The first 500 of 2\d\d\d parts as a table/u)
})

const said = (source: ReportSource): boolean =>
  [bare(page(source)), reportMarkdown(source)].some((text) => text.includes('Nothing to do.'))

test('"Nothing to do." is said where all is well, and nowhere else', () => {
  const { document, events } = recorded('upgrade.ndjson')
  expect(said({ document: { ...document, next: [] }, events })).toBe(true)
  const stopped = { step: 'virt-api', because: 'until' }
  for (const change of [{ outcome: 'stopped-before', stoppedBefore: stopped }, { outcome: 'failed' }])
    expect(said({ document: { ...document, next: [], ...change }, events })).toBe(false)
  for (const file of ['plan.json', 'eus-plan.json', 'rehearsal.json'] as const)
    expect(said({ document: { ...recorded(file).document, next: [] }, events: [] })).toBe(false)
  const status = 'kvup status     shows how the cluster is now, and what to type next'
  const history = recorded('history.json')
  const [run] = history.document['runs'] as [object]
  for (const result of ['done', 'interrupted', 'failed', 'cut-off']) {
    const source = { ...history, document: { ...history.document, runs: [{ ...run, result }] } }
    expect(said(source)).toBe(false)
    expect(reported(source).next).toEqual([status])
  }
})

test('of a measured run the journal keeps the outages of the API', () => {
  const source = recorded('history.json')
  const [run] = source.document['runs'] as [object]
  const availability = {
    text: '3 s unavailable',
    begin: '2026-11-27T20:23:52Z',
    end: '2026-11-27T20:26:20Z',
    outages: [{ begin: '2026-11-27T20:26:10Z' }],
  }
  const document = { ...source.document, runs: [{ ...run, availability }] }
  expect(timelineOf({ ...source, document })?.lanes.at(-1)).toMatchObject({
    group: 'Availability',
    bars: [{ tone: 'good' }, { tone: 'bad', text: 'API: no answer for 10 s' }],
  })
})

test('stages of an EUS upgrade come one after the other, with what came up during the run', () => {
  const stages = timelineOf(recorded('eus-run.ndjson'))?.lanes.filter(({ group }) => group === 'Stages') ?? []
  const spans = stages.flatMap(({ bars }) => bars)
  expect(spans.filter(({ from }, i) => from < (spans[i - 1]?.to ?? 0))).toEqual([])
  expect(stages.map(({ bars }) => bars[0]?.text)).toContain('Update virtualization to 4.19: 6 m 33 s')
})

/** ms for which the processor worked: others have it too. */
function workOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test('thousands of steps and pauses take no time in proportion to their square', () => {
  const events = Array.from({ length: 20_000 }, (_, n) => ({
    event: n % 4 === 0 ? 'step-started' : 'step-applied',
    at: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
    step: { id: `${n % 2 ? 'pause' : 'resume'}-${n >> 1}`, title: `step ${n}` },
    change: 'x'.repeat(100),
  }))
  const source = { document: { kind: 'Events' }, events }
  expect(workOf(() => [reported(source), timelineOf(source)])).toBeLessThan(5000)
})

test('a rehearsal is compared with what happened', () => {
  const source = recorded('upgrade.ndjson')
  const rehearsal = {
    seed: 1,
    sameOrder: true,
    stages: [{ name: 'virt-handler', rehearsed: 18, took: 24, agrees: true }],
    vms: { total: 12, agreed: 11, open: 1, items: [] },
  }
  const [table, ...others] = reported({ ...source, document: { ...source.document, rehearsal } }).tables
  expect(others).toEqual([])
  expect(table).toMatchObject({
    rows: [['virt-handler', '18 s', '24 s', 'yes']],
    says: [
      'The stages came in this order.',
      'With 11 of 12 VMs KubeVirt tried what was rehearsed; KubeVirt has not come to 1 yet.',
    ],
  })
})

test('a journal that was cut says so', () => {
  const source = recorded('history.json')
  const items = source.document['items'] as { what: string; step: string }[]
  const remarks = (change: object) =>
    reported({ ...source, document: { ...source.document, ...change } }).remarks.join('\n')
  expect(remarks({})).not.toContain('cut')
  expect(remarks({ items: items.slice(1) })).toContain('no longer has the start of this run')
  expect(remarks({ items: items.filter(({ step }) => step !== 'set-image-tag') })).toContain(
    'no longer has these changes of this run: set-image-tag',
  )
  const runs = [{ ...(source.document['runs'] as object[])[0], result: 'cut-off', step: 'virt-handler' }]
  const killed = reported({ ...source, document: { ...source.document, runs } })
  expect(killed.verdict).toEqual({
    is: 'warning',
    text: 'Run 1: upgrade v1.7.4 → v1.8.4: cut off after 2 m 34 s, after virt-handler',
  })
  expect(killed.remarks[0]).toContain(
    'The journal was cut: this run wrote down no end, and nothing after virt-handler',
  )
})

test('the page of a journal says which KubeVirt and cluster it is of, and what it goes on with', () => {
  const source = recorded('history.json')
  const runs = [{ ...(source.document['runs'] as object[])[0], run: 2, continues: 1, continuedBy: 3 }]
  const cluster = { context: 'prod-eu', server: 'https://10.0.0.1:6443' }
  const { title, facts, remarks, notes } = reported({
    ...source,
    document: { ...source.document, runs, cluster },
  })
  expect(title).toBe('KubeVirt, run 2: v1.7.4 → v1.8.4')
  expect(facts).toEqual(
    expect.arrayContaining([
      { name: 'Cluster', value: 'prod-eu, https://10.0.0.1:6443' },
      { name: 'KubeVirt', value: 'in namespace kubevirt' },
      { name: 'Continues', value: 'run 1' },
      { name: 'Continued by', value: 'run 3' },
    ]),
  )
  // What is always so is said last.
  expect(remarks).toEqual([])
  expect(notes.at(-1)?.title).toBe('About the journal')
})
