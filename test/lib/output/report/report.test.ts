import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { redactedSource } from '../../../../src/commands/report/redacted-source.ts'
import { reportPage } from '../../../../src/lib/output/report/report-page.ts'
import { type Report, reportOf } from '../../../../src/lib/output/report/report-model.ts'
import { parseReportSource, type ReportSource } from '../../../../src/lib/output/report/report-source.ts'
import { reportMarkdown, reportView } from '../../../../src/lib/output/report/report-view.ts'
import { timelineOf } from '../../../../src/lib/output/report/timeline.ts'
import { vmTableOf } from '../../../../src/lib/output/report/vm-table.ts'
import { paintFor, sanitise } from '../../../../src/lib/output/terminal.ts'
import { readSchema, validate } from '../../docs/json-schema.ts'
import { forms, planted as plantedIn, unmarked as unmarkedOf } from '../../kube/http/secret-forms.ts'
import { hostile } from './hostile.ts'
import { checkText, recorded, recordedFiles, recordedText, withTexts } from './recorded.ts'

const reported = (source: ReportSource): Report => reportOf(source, { redacted: true })
const page = (source: ReportSource): string =>
  reportPage(reported(source), source, { version: '1.2.3', at: new Date('2026-01-01T00:00:00Z') })
const check = () => parseReportSource(checkText(), 'check.json')

const schemaFiles = readdirSync('docs/schema').filter((name) => name.endsWith('.json'))
const schemas = new Map(schemaFiles.map((file) => [file, readSchema('docs/schema', file)]))

test.each([
  ['plan.json', 'good', 'Plan of KubeVirt v1.7.4 → v1.8.4: 11 of 11 steps to do, 45 s to 5 m'],
  [
    'rehearsal.json',
    'good',
    'Rehearsal: KubeVirt v1.7.4 → v1.8.4 goes through in 1 m 30 s, and its VMs follow in 16 s.',
  ],
  ['faults.json', 'warning', 'The upgrade goes through without a fault; it goes through with 0 of 2 faults'],
  ['history.json', 'good', 'Run 1: upgrade v1.7.4 → v1.8.4: done in 2 m 34 s'],
  ['upgrade.ndjson', 'good', 'KubeVirt v1.7.4 → v1.8.4 in 2 m 37 s'],
  ['stalled.ndjson', 'bad', 'Timed out after 3 m 02 s (--timeout) while installing CRDs and RBAC'],
  ['workloads-update.ndjson', 'bad', 'Update of VMs: incomplete: 1 of 11 VMs failed'],
  ['eus-plan.json', 'good', 'Plan of the EUS upgrade 4.18.21 → 4.20: 38 steps'],
  ['eus-run.ndjson', 'good', 'EUS upgrade 4.18 → 4.20: done in 2 h 28 m'],
] as const)('the verdict of %s', (file, is, text) => {
  expect(reported(recorded(file)).verdict).toEqual({ is, text })
})

test.each(recordedFiles)('the report of %s is as its schema has it', (file) => {
  const document = { ...reported(recorded(file)), status: 'complete' }
  expect(validate(document, 'report.json', schemas)).toEqual([])
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
  const { accepted } = reported({ ...source, document: { ...source.document, runs } })
  expect(accepted).toEqual([
    { id: 'downgrade', reason: 'tested', by: 'ops@bastion.example.com', user: 'jane' },
  ])
})

test('changes are diffs, of a plan and of a run', () => {
  const wanted = ['- spec.imageTag: v1.7.4', '+ spec.imageTag: v1.8.4']
  expect(reported(recorded('plan.json')).changes.flatMap(({ lines }) => lines)).toEqual(
    expect.arrayContaining(wanted),
  )
  const run = reported(recorded('upgrade.ndjson')).changes
  expect(run.map(({ lines }) => lines)).toEqual([
    [
      '  kubevirts/kubevirt in namespace kubevirt',
      '- workloadUpdateMethods: LiveMigrate',
      '+ workloadUpdateMethods: none',
    ],
    ['  kubevirts/kubevirt in namespace kubevirt', '- imageTag: v1.7.4', '+ imageTag: v1.8.4'],
    [
      '  kubevirts/kubevirt in namespace kubevirt',
      '- workloadUpdateMethods: none',
      '+ workloadUpdateMethods: LiveMigrate',
    ],
  ])
  expect(reported(recorded('history.json')).changes.map(({ lines }) => lines)).toEqual(
    run.map(({ lines }) => lines),
  )
  const pools = reported(recorded('eus-run.ndjson')).changes.find(
    ({ title }) => title === 'unpause pool worker',
  )
  expect(pools?.lines).toEqual([
    '  MachineConfigPool worker',
    '- spec.paused: paused',
    '+ spec.paused: false',
  ])
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
  expect(timeline?.lanes.at(-1)?.bars[0]?.text).toMatch(
    /^workloadUpdateMethods of .*: restored after 2 m 21 s$/u,
  )
  expect(timeline?.lanes.map(({ name }) => name)).toContain('worker-6 restarting')
})

test('an EUS upgrade shows how long each pool was paused', () => {
  const lanes = timelineOf(recorded('eus-run.ndjson'))?.lanes.filter(
    ({ group }) => group === 'Temporary changes',
  )
  expect(lanes?.map(({ name }) => name)).toContain('paused of MachineConfigPool worker')
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

test('a rehearsal is compared with what happened', () => {
  const source = recorded('upgrade.ndjson')
  const rehearsal = {
    seed: 1,
    sameOrder: true,
    stages: [{ name: 'virt-handler', rehearsed: 18, took: 24, agrees: true }],
    vms: { total: 12, agreed: 11, open: 1, items: [] },
  }
  expect(reported({ ...source, document: { ...source.document, rehearsal } }).prediction).toEqual({
    by: 'a rehearsal (seed 1)',
    rows: [{ what: 'virt-handler', predicted: '18 s', happened: '24 s', agrees: true }],
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
    text: 'Run 1: upgrade v1.7.4 → v1.8.4: cut off after 2 m 34 s. after virt-handler',
  })
  expect(killed.remarks[0]).toContain(
    'The journal was cut: this run wrote down no end, and nothing after virt-handler',
  )
})

test('events whose end was cut off say where', () => {
  const whole = recordedText('upgrade.ndjson')
  const source = parseReportSource(whole.slice(0, whole.length / 2), 'run.ndjson')
  const { verdict, remarks } = reported(source)
  expect(verdict).toEqual({ is: 'warning', text: 'Cut off: what the file has of this run ends at virt-api' })
  expect(remarks[0]).toContain('The file ends before the run does')
  expect(timelineOf(source)?.lanes.find(({ name }) => name === 'virt-api')?.bars[0]?.tone).toBe('bad')
})

test.each([
  ['', 'it is empty'],
  ['{"kind": "Pod", "metadata": {}}', 'it is of kind "Pod"'],
  ['just words', 'it has no kind'],
  ['[1, 2]', 'it has no kind'],
  ['a: b: c', 'it is neither JSON nor YAML'],
])('%j is no document: %s', (text, why) => {
  expect(() => parseReportSource(text, 'x.json')).toThrow(why)
})

test('a plan is read as YAML too', () => {
  const { document } = parseReportSource(
    'apiVersion: kvup.io/v1alpha1\nkind: UpgradePlan\nto: v1.8.4\n',
    'plan.yaml',
  )
  expect(document).toMatchObject({ kind: 'UpgradePlan', to: 'v1.8.4' })
})

/** Everything that is made of a document. */
function made(source: ReportSource): string {
  const report = reported(source)
  const lines = reportView('kvup report').text(report, paintFor({ colour: false, unicode: true }), {
    columns: 80,
    wide: false,
  })
  return [
    page(source),
    reportMarkdown(report),
    ...lines,
    JSON.stringify([timelineOf(source), vmTableOf(source)]),
  ].join('\n')
}

test.each([...recordedFiles, 'check'] as const)(
  'a document like %s whose fields are of other types fails nothing',
  (file) => {
    const whole = file === 'check' ? check() : recorded(file)
    const source = { ...whole, events: whole.events.slice(0, 5) }
    for (const other of [null, 7, 'text', [], {}, [null], [[1]], { a: { b: 1 } }, true])
      for (const key of Object.keys(source.document)) {
        if (key === 'kind') continue
        expect(made({ ...source, document: { ...source.document, [key]: other } })).toContain(
          '<!doctype html>',
        )
      }
    expect(
      made({ document: { kind: source.document.kind }, events: [{}, { event: 'step-done' }] }),
    ).toContain('<h1')
  },
)

/** The page without the two texts of the build. */
const bare = (text: string): string =>
  text.replace(/<style>[\s\S]*?<\/style>|<script[\s\S]*?<\/script>/gu, '')

/** Elements and attributes that the page has of its own. */
const markup = (text: string): string[] =>
  [
    ...bare(text)
      .replaceAll(/="[^"]*"/gu, '=""')
      .matchAll(/<(\/?[a-z][a-z0-9-]*)([^>]*)>/giu),
  ].map(
    ([, name = '', rest = '']) =>
      `${name} ${[...rest.matchAll(/([a-z-]+)(?==)/giu)].map(([attribute]) => attribute).join(' ')}`,
  )

/** Of each document, with few events: a page of all of them takes long to be looked at so often. */
const every = [...recordedFiles.map(recorded), check()].map(({ document, events }) => ({
  document,
  events: events.slice(0, 8),
}))
/** The markup that such pages have without anybody's texts. */
const allowed = new Set([...recordedFiles.map(recorded), check()].flatMap((source) => markup(page(source))))

test.each(hostile.map((text) => [JSON.stringify(text).slice(0, 60), text] as const))(
  '%s stays text',
  (_, text) => {
    for (const source of every) {
      const spoilt = parseReportSource(JSON.stringify(withTexts(source, [text]).document), 'spoilt.json')
      const html = page({ ...spoilt, events: withTexts(source, [text]).events })
      expect(
        markup(html).filter(
          (one) => !allowed.has(one) && !/^(\/?(div|p|li|ul|note|span|code|dd|dt)) /u.test(one),
        ),
      ).toEqual([])
      expect(html.match(/<script[ >]/giu)).toHaveLength(2)
      expect(bare(html).replaceAll(/="[^"]*"/gu, '=""')).not.toMatch(/<[a-z][^>]*\son[a-z]+=/iu)
      // Nothing that turns text around or hides it is left in what is shown.
      const ticket = reportMarkdown(reported(spoilt))
      expect(ticket).toBe(sanitise(ticket))
    }
  },
)

test('Markdown of hostile text has no markup of its own', () => {
  const text = hostile.find((one) => one.startsWith('| a |')) ?? ''
  const lines = reportMarkdown(reported(withTexts(recorded('upgrade.ndjson'), [text]))).split('\n')
  expect(lines.filter((line) => /^#+ /u.test(line)).every((line) => /^## [A-Z]|^# Upgrade/u.test(line))).toBe(
    true,
  )
  expect(lines.join('\n').replaceAll(/^( *)(`{3,})[^\n]*\n[\s\S]*?\n\1\2$/gmu, '')).not.toMatch(
    /(?<!\\)<b>|(?<!\\)\[link|(?<!\\)!\[x/u,
  )
})

test('the page asks for nothing: what runs and styles is named by its hash', () => {
  const html = page(recorded('rehearsal.json'))
  const policy = /Content-Security-Policy" content="([^"]+)"/u.exec(html)?.[1] ?? ''
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:;/u,
  )
  expect(policy).not.toContain('unsafe')
  expect(bare(html)).not.toMatch(/<[^>]+\s(?:src|href|action|data)="(?!#|data:,)/u)
  expect(bare(html)).not.toMatch(/<[^>]+\sstyle="/u)
})

test('10,000 VMs are less than 2 MB', () => {
  const source = recorded('rehearsal.json')
  const vms = Array.from({ length: 10_000 }, (_, n) => ({
    namespace: `team-${n % 97}`,
    name: `vm-${n.toString(36)}-${(n * 7919) % 10_007}`,
    tries: n % 50 === 0 ? 'evict' : 'migrate',
    becomes: n % 50 === 0 ? 'stopped' : 'updated',
    attempts: 1 + (n % 3),
    begins: 90 + Math.floor(n / 5),
    ends: 96 + Math.floor(n / 5) + (n % 7),
  }))
  const html = page({ ...source, document: { ...source.document, vms } })
  expect(html.length).toBeLessThan(2_000_000)
})

const secrets = {
  password: 'hunter2-secret',
  proxy: 'http://proxyuser:pr0xypass@proxy.corp.internal:3128',
  env: 'env-value-of-somebody',
  note: 'private note of a tenant',
  host: 'bastion.example.com',
  node: 'node-7.rack2.corp.internal',
  ip: '10.20.30.40',
  hostname: 'guest-hostname-x',
  applied: 'last-applied-secret-thing',
  token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl',
}

const path = (name: string): string => `spec.template.spec.containers[virt-operator].env[${name}].value`

/** A plan with all of them, where a manifest or a VM would have them. */
const planted = (): ReportSource => {
  const { document } = recorded('plan.json')
  const [first, ...steps] = document['steps'] as { changes: object[] }[]
  const fields = [
    { path: path('DB_PASSWORD'), from: 'x', to: secrets.password },
    { path: path('HTTPS_PROXY'), to: secrets.proxy },
    { path: path('MY_SETTING'), to: secrets.env },
    { path: path('VIRT_API_IMAGE'), to: 'quay.io/kubevirt/virt-api:v1.8.4' },
    { path: 'metadata.annotations["tenant.example/note"]', to: secrets.note },
    { path: 'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]', to: secrets.applied },
    { path: 'spec.template.spec.hostname', to: secrets.hostname },
  ]
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kubevirt', name: 'virt-operator' }
  return {
    document: {
      ...document,
      steps: [
        { ...first, changes: [...(first?.changes ?? []), { object, is: 'changed', fields }] },
        ...steps,
      ],
      findings: [
        {
          id: 'node-ready',
          level: 'warning',
          summary: `${secrets.node} (${secrets.ip}, fe80::1ff:fe23:4567:890a) says: Authorization: Bearer ${secrets.token}; password=${secrets.password}`,
          remedy: [
            `curl -s https://${secrets.node}:10250/healthz`,
            `read https://github.com/kubevirt/kubevirt/issues/18670`,
          ],
        },
      ],
      vm: {
        metadata: {
          annotations: { 'tenant.example/note': secrets.note, 'kubevirt.io/storage-observed': 'v1' },
        },
        spec: { hostname: secrets.hostname, env: [{ name: 'OTHER_VALUE', value: secrets.env }] },
      },
    },
    events: [
      { event: 'remark', at: '2026-11-27T20:25:26Z', text: `no answer from https://${secrets.host}:6443` },
    ],
  }
}

test('what is forwarded has no secret, no annotation of a tenant and no host', () => {
  const source = redactedSource(planted())
  const texts = `${JSON.stringify(source)}\n${made(source)}`
  for (const [what, secret] of Object.entries(secrets)) expect(texts.includes(secret) ? what : '').toBe('')
  expect(texts).not.toMatch(/pr0xypass|corp\.internal|fe80::1ff/u)
  // What everybody knows, and what says which version it is, stays.
  expect(texts).toContain('quay.io/kubevirt/virt-api:v1.8.4')
  expect(texts).toContain('https://github.com/kubevirt/kubevirt/issues/18670')
  expect(texts).toContain('spec.workloadUpdateStrategy.workloadUpdateMethods')
  expect(texts).toContain('kubevirt.io/storage-observed')
})

/** Sentences as a cluster, a program or a journal has them; what stands in « » has to go. */
const leaky: readonly string[] = [
  'dial tcp «10.1.2.3»:6443: connect: connection refused',
  'lookup «mirror01» on «10.0.0.2»:53: no such host',
  'read tcp «10.0.0.5»:43210->«192.168.7.1»:6443: i/o timeout',
  'from «::ffff:10.1.2.3», «fd00:12::1»: refused by [«fd00:12::2»]:6443',
  'no answer from «w2.acme.ai», «node3.dc1.lab», «shop.com.tr» and «git.corp.redhat.com»',
  'worker «worker-1.ocp.acme.bank» and *.«apps.ocp.acme.bank», in «acme.bank»; in ~/.kube «api-ocp-acme-bank»:6443',
  'pulls «registry.acme.bank»:5000/kubevirt/virt-api:v1.8.4 and «mirror02»:5000/kubevirt/virt-api:v1.8.4',
  'virt-api runs with --token «tok-in-args» --retries 3',
  'set spec.template.spec.containers[virt-operator].env[DB_PASS].value of deployments/virt-operator in namespace kubevirt from «old-pass» to «new-pass», and save the value',
  'set spec.template.spec.containers[virt-operator].env[db_url].value back to «env-back»',
  '/spec/template/spec/containers/0/env/3/value of Deployment virt-operator, which was "«env-kept»"',
  'the patch "[{\\"op\\":\\"add\\",\\"value\\":{\\"name\\":\\"db_url\\",\\"value\\":\\"«env-in-text»\\"}}]" does not apply',
  'the program was started as DB_URL=«env-in-shell» virt-api',
]
const leaks = leaky.flatMap((line) => [...line.matchAll(/«([^»]+)»/gu)].map(([, leak = '']) => leak))
const unmarked = (line: string): string => line.replaceAll(/[«»]/gu, '')

test('no form of a host, an address or a value is forwarded, wherever it stands', () => {
  const patch = JSON.stringify([
    { op: 'add', path: '/spec/template/spec/containers/0/env/-', value: { name: 'db_url', value: 'env-p' } },
    { op: 'add', path: '/spec/template/spec/containers/0/args', value: ['--token', 'arg-p', '-v', '2'] },
  ])
  const field = 'spec.customizeComponents.patches[0].patch'
  const object = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', namespace: 'kubevirt', name: 'kubevirt' }
  const step = { id: 'set-image-tag', title: 'set imageTag' }
  const source: ReportSource = {
    document: {
      kind: 'UpgradePlan',
      cluster: { context: 'admin.acme', server: 'https://api.ocp.acme.bank:6443' },
      findings: leaky.map((line) => ({ id: 'x', level: 'warning', summary: unmarked(line), remedy: [] })),
      containers: [{ env: [{ name: 'db_url', value: 'env-lower' }], args: ['--token', 'arg-list'] }],
      steps: [
        {
          ...step,
          state: 'would-change',
          changes: [{ object, is: 'changed', fields: [{ path: field, from: '[]', to: patch }] }],
        },
      ],
    },
    events: leaky.map((line) => ({
      event: 'step-applied',
      at: '2026-11-27T20:25:26Z',
      step,
      change: unmarked(line),
    })),
  }
  const texts = `${JSON.stringify(redactedSource(source))}\n${made(redactedSource(source))}`
  const others = ['env-p', 'arg-p', 'env-lower', 'arg-list', 'admin.acme', 'api.ocp.acme.bank']
  expect([...leaks, ...others].filter((leak) => texts.includes(leak))).toEqual([])
  // What was done, and to what, is still read.
  for (const kept of ['--retries 3', 'env[DB_PASS].value', '/virt-api:v1.8.4', field])
    expect(texts).toContain(kept)
})

test.each([
  'quay.io/kubevirt/virt-api:v1.9.0@sha256:0a1b2c3d and registry.redhat.io/x:1.2.3',
  'virt-api.kubevirt.svc:443 and virt-api.kubevirt.svc.cluster.local',
  'virtualmachines.kubevirt.io, deployments.apps, cronjobs.v1beta1.batch, packages.operators.coreos.com',
  'spec.imageTag, spec.paused, status.observedKubeVirtVersion, status.phase, data.tls, .metadata.name',
  'kubevirt-operator.yaml, etcd.db, cluster-backup.sh, run.ndjson and main.go:147',
  'kubevirt-hyperconverged-operator.v1.15.0 at 10:11:12, MAC 0a:58:0a:01:02:03, since 2026-11-27T20:25:26.123Z',
  "stopped by --stop-if 'api.unavailable>30s' or vms.interrupted>0",
  'read https://github.com/kubevirt/kubevirt/issues/18670 and https://access.redhat.com/solutions/1',
  'node-role.kubernetes.io/control-plane, cluster.x-k8s.io/paused on worker-1',
])('what names no host stays: %s', (text) => {
  const document = { kind: 'CheckReport', cluster: { server: 'https://api.ocp.acme.bank:6443' }, text }
  expect(redactedSource({ document, events: [] }).document['text']).toBe(text)
})

/** A document with one text, or one thing, as it is forwarded. */
const forwarded = (one: unknown): string => {
  const server = 'https://api.ocp.acme.bank:6443'
  const { document } = redactedSource({
    document: { kind: 'CheckReport', cluster: { server }, one },
    events: [],
  })
  return JSON.stringify(document['one'])
}

test.each([
  ['a list under env', { env: [{ name: 'lower_proxy', value: 'SEK' }] }],
  [
    'a name of one letter, with more fields',
    { env: [{ name: 'a', value: 'SEK', is: 'new', valueFrom: null }] },
  ],
  ['a map under env', { spec: { env: { HTTP_PROXY: 'SEK', x: 'SEK' } } }],
  ['arguments under env', { env: ['x=SEK', 'HTTP_PROXY=SEK'] }],
  ['a field that ends in env', { path: 'spec.containers[a].env', to: [{ name: 'p', value: 'SEK', x: 1 }] }],
  ['the same as a text', { path: 'spec.env', from: '[{"name":"x","value":"SEK"}]', to: 'x=SEK' }],
  ['a field below env', { path: 'spec.env.HTTP_PROXY', from: 'SEK', to: 'SEK' }],
  ['a patch of env', { op: 'add', path: '/spec/env/-', value: { name: 'x', value: 'SEK' } }],
  ['leaves', { leaves: { 'spec.env.HTTP_PROXY': 'SEK', 'spec.env': [{ name: 'q', value: 'SEK' }] } }],
  ['a sentence', 'set spec.env.HTTP_PROXY from SEK to SEK'],
  ['arguments of a program', { args: ['--token', 'SEK', '-v', '2'] }],
  ['a file with logins', { auths: { 'quay.io': { auth: 'SEK' } }, '.dockerconfigjson': 'SEK' }],
  ['a key that hides its name', { 'pass\u00ADword': 'SEK' }],
  ['a login as a key', { 'user:SEK@registry:5000': 1 }],
  ['the first boot of a guest', { chpasswd: { list: 'root:SEK' }, userData: 'SEK' }],
  ['a host with an underscore', 'SEK_01.bank.local is down'],
  ['a host behind an @', 'ops@SEK77 typed it'],
  ['a host that hides its name', 'S\u00ADEK.acme.corp and SE\u200BK.acme.corp'],
  ['a registry behind a login', 'user:pw@SEK:5000/kubevirt/virt-api'],
  ['a customer of a public registry', 'SEK.quay.io and console.SEK.openshift.com'],
])('%s is not forwarded', (_, one) => {
  expect(forwarded(one).replaceAll(/[\u00AD\u200B]/gu, '')).not.toContain('SEK')
})

test.each(forms)('a credential is not forwarded: %s', (form) => {
  const text = forwarded(unmarkedOf(form))
  expect(text).toContain('<redacted>')
  expect(plantedIn(form).filter((one) => text.includes(one))).toEqual([])
})

test.each([
  'a.',
  '_',
  '1.',
  '::',
  '"',
  'a://',
  'a@',
  'env[',
  'spec.env.a from ',
  'name: a value: "',
  'A_B="',
  'lookup ',
])('a megabyte of %j is read to its end', (half) => {
  const text = half.repeat(Math.ceil(1_000_000 / half.length))
  expect(forwarded({ text: `${text} api.ocp.acme.bank`, path: text, to: 'x' })).not.toContain('acme.bank')
})

test.each(recordedFiles)('of %s nothing is left out but hosts', (file) => {
  const [whole, left] = [recorded(file), redactedSource(recorded(file))]
  const bare = (source: ReportSource) =>
    JSON.stringify([source.document, source.events]).replaceAll(
      /bastion\.example\.com|api\.prod\.example\.com|host-\d+/gu,
      'HOST',
    )
  expect(bare(left)).toBe(bare(whole))
})

test('--full has all of it', () => {
  const texts = JSON.stringify(planted())
  for (const secret of Object.values(secrets)) expect(texts).toContain(secret)
})

test('one host is one stand-in everywhere', () => {
  const text = JSON.stringify(redactedSource(recorded('upgrade.ndjson')))
  expect(text).not.toMatch(/bastion|api\.prod/u)
  expect(text).toContain('"by":"ops@host-')
  expect(text).toContain('"context":"prod-eu"')
  const history = redactedSource(recorded('history.json'))
  expect(new Set(JSON.stringify(history).match(/ops@host-\d+/gu))).toEqual(new Set(['ops@host-1']))
})

test.each(recordedFiles)('%s reads the same when its hosts are left out', (file) => {
  const [whole, left] = [recorded(file), redactedSource(recorded(file))]
  expect(reported(left).verdict).toEqual(reported(whole).verdict)
  expect(reported(left).next).toEqual(reported(whole).next)
  expect(timelineOf(left)?.lanes.map(({ name }) => name)).toEqual(
    timelineOf(whole)?.lanes.map(({ name }) => name),
  )
})
