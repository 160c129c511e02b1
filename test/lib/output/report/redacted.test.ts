import { expect, test } from 'vitest'
import { redactedSource } from '../../../../src/commands/report/redacted-source.ts'
import type { ReportSource } from '../../../../src/lib/output/report/fields.ts'
import { timelineOf } from '../../../../src/lib/output/report/timeline.ts'
import { forms, planted as plantedIn, unmarked as unmarkedOf } from '../../kube/http/secret-forms.ts'
import { made, recorded, recordedFiles, reported } from './recorded.ts'
import fixture from './redacted.json' with { type: 'json' }

const { secrets } = fixture

/** A plan with all of them, where a manifest or a VM would have them. */
const planted = (): ReportSource => {
  const { fields, findings, vm, events } = fixture.planted
  const { document } = recorded('plan.json')
  const [first, ...steps] = document['steps'] as { changes: object[] }[]
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kubevirt', name: 'virt-operator' }
  const changes = [...(first?.changes ?? []), { object, is: 'changed', fields }]
  return { document: { ...document, steps: [{ ...first, changes }, ...steps], findings, vm }, events }
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
const leaky: readonly string[] = fixture.leaky
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

test.each(fixture.harmless)('what names no host stays: %s', (text) => {
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

test.each(fixture.hidden as unknown as [string, unknown][])('%s is not forwarded', (_, one) => {
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
])('a quarter of a megabyte of %j is read to its end', (half) => {
  const text = half.repeat(Math.ceil(250_000 / half.length))
  expect(forwarded({ text: `${text} api.ocp.acme.bank`, path: text, to: 'x' })).not.toContain('acme.bank')
})

const withoutHosts = (source: ReportSource): string =>
  JSON.stringify([source.document, source.events]).replaceAll(
    /bastion\.example\.com|api\.prod\.example\.com|host-\d+/gu,
    'HOST',
  )

test.each(recordedFiles)('of %s nothing is left out but hosts', (file) => {
  const [whole, left] = [recorded(file), redactedSource(recorded(file))]
  expect(withoutHosts(left)).toBe(withoutHosts(whole))
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
