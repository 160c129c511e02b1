import { describe, expect, test } from 'vitest'
import { entries, type Entry } from '../../../src/commands/entries.ts'
import { openPrinter, printerWithConnectionFlags } from '../../../src/lib/output/open-printer.ts'
import type { Document, View } from '../../../src/lib/output/printer.ts'
import { commandSpeech, type ConnectionFlag } from '../../../src/lib/output/command-line.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { blocked } from '../../../src/lib/kube/errors.ts'
import { Pipe } from './terminal.ts'
import fixture from './spoken-commands.json' with { type: 'json' }

const context: ConnectionFlag = { names: ['--context'], text: '--context prod', kubectl: true }
const server: ConnectionFlag = { names: ['--server', '-s'], text: '--server https://one:6443', kubectl: true }
const tokenFile: ConnectionFlag = { names: ['--token-file'], text: '--token-file t', kubectl: false }

const inProd = commandSpeech({ name: 'kvup', connection: [context, tokenFile] })
const plugin = commandSpeech({ name: 'kubectl kvup', connection: [context] })
const remedy = (speech: typeof inProd, line: string) => speech.parts({ remedy: [line] }).remedy[0]

test.each(fixture.piped)('where nobody sits a line ends by itself: %s', (line, expected) => {
  expect(remedy(commandSpeech({ name: 'kvup', connection: [], isPiped: true }), line)).toBe(expected)
  expect(remedy(commandSpeech({ name: 'kvup', connection: [] }), line)).toBe(line.replace('     ', '     # '))
})

describe('a command that kvup prints means the cluster that was named', () => {
  test.each(fixture.named)('%s', (line, expected) => {
    expect(remedy(inProd, line)).toBe(expected)
  })

  const leaves = (all: readonly Entry[], before: readonly string[] = []): string[] =>
    all.flatMap(({ name, under }) =>
      under ? leaves(under, [...before, name]) : [[...before, name].join(' ')],
    )
  const withoutCluster = /^(?:explain|releases|rbac|demo|config|completion|complete|help|__)/u
  const onCluster = leaves(entries).filter((path) => !withoutCluster.test(path))

  test.each(onCluster)('of the command tree, as it is today: %s', (path) => {
    expect(remedy(inProd, `kvup ${path} --now`)).toBe(`kvup ${path} --context prod --token-file t --now`)
  })

  test('what was typed whole is repeated as it is, in whichever way a flag was written', () => {
    const speech = commandSpeech({ name: 'kvup', connection: [context, server] })
    for (const line of [
      'kvup upgrade --to v1.8.4 --context=prod -s https://one:6443     # goes on',
      'kvup --context prod upgrade --server=https://one:6443 --to v1.8.4',
    ])
      expect(remedy(speech, line)).toBe(line)
  })

  test('said twice is the same as said once', () => {
    const once = inProd.line('kvup status')
    expect(inProd.line(once)).toBe(once)
  })

  test('manner 40: as a plug-in it is called as it was', () => {
    expect(remedy(plugin, 'kvup upgrade --to v1.8.4')).toBe('kubectl kvup upgrade --context prod --to v1.8.4')
    expect(remedy(plugin, 'kvup rbac kvup-view | kubectl apply -f -')).toBe(
      'kubectl kvup rbac kvup-view | kubectl apply -f -',
    )
    const typed = 'kubectl kvup upgrade --to v1.8.4 --context prod'
    expect(remedy(plugin, typed)).toBe(typed)
  })

  test('what a plan is sealed over stays to the letter', () => {
    const sealed = { seal: { next: 'kvup status' }, request: { undo: 'kvup status' } }
    expect(inProd.parts(sealed)).toEqual(sealed)
  })

  test('what is said behind a command is a comment, so that the line can be pasted; other words stay as they are', () => {
    const plain = commandSpeech({ name: 'kvup', connection: [] })
    const remedies = ['kvup history      shows it', 'kvup history   # shows it', 'wait for the drain', 'a  b']
    expect(plain.parts({ remedy: remedies, summary: 'a     b' })).toEqual({
      remedy: ['kvup history      # shows it', ...remedies.slice(1)],
      summary: 'a     b',
    })
  })
})

interface Found extends Document {
  summary: string
  findings: { remedy: string[] }[]
}
const view: View<Found> = {
  text: ({ findings }, { mark }) => [
    ...findings.flatMap(({ remedy: lines }) => lines),
    `  ${mark.next} kvup history`,
  ],
  names: () => [],
}

async function printed(output: string, kind = 'Found') {
  const [stdout, stderr] = [new Pipe(), new Pipe()]
  const open = { stdout, stderr, output, headers: true, color: 'never', env: { LANG: 'C.UTF-8' } } as const
  const printer = printerWithConnectionFlags(await openPrinter({ ...open, clock: new SimClock() }), inProd)
  const document: Found = {
    apiVersion: 'kvup.io/v1alpha1',
    kind,
    summary: 'kvup status is a word of the cluster here',
    findings: [{ remedy: ['kvup upgrade --to v1.8.4'] }],
  }
  printer.result(document, view)
  printer.note('kvup status shows more')
  printer.finish(blocked('snag', 'cannot', { remedy: 'kvup status' }))
  return { out: stdout.text, err: stderr.text }
}

const flags = '--context prod --token-file t'

test('on a terminal or a pipe: in remedies, in lines that a view makes, in notes and errors', async () => {
  expect(await printed('table')).toEqual({
    out: `kvup upgrade ${flags} --to v1.8.4\n  → kvup history ${flags}\n`,
    err: `kvup status ${flags} shows more\nerror: cannot\n  → kvup status ${flags}\n`,
  })
})

test('in documents: remedies only, for the rest is data', async () => {
  const { out } = await printed('json')
  expect(JSON.parse(out)).toMatchObject({
    summary: 'kvup status is a word of the cluster here',
    findings: [{ remedy: [`kvup upgrade ${flags} --to v1.8.4`] }],
    error: { code: 3, reason: 'snag', remedy: [`kvup status ${flags}`] },
  })
})

test('objects of the cluster are left as they are', async () => {
  expect((await printed('table', 'Snapshot')).out).toBe('kvup upgrade --to v1.8.4\n  → kvup history\n')
})

test('of rows only those with a command are copied, with all else as it was', () => {
  const plain = { name: 'a', remedy: ['none'], why: [{ id: 'x', text: 'y' }] }
  const asTyped = {
    name: 'b',
    remedy: ['kvup status'],
    why: [{ id: 'x', text: 'kvup status' }],
    seal: { next: 'kvup status' },
  }
  const rows = [plain, asTyped]
  const [first, second] = inProd.parts(rows)
  expect(first).toBe(plain)
  expect(second).toEqual({ ...asTyped, remedy: ['kvup status --context prod --token-file t'] })
  expect(Object.keys(second ?? {})).toEqual(Object.keys(asTyped))
  expect(asTyped.remedy).toEqual(['kvup status'])
})
