import { expect, test } from 'vitest'
import { simulate } from '../../src/simulator/simulated-cluster.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { checkText, recordedText } from '../lib/output/report/recorded.ts'
import { type Place, runText } from '../lib/run-text.ts'

const files = {
  'run.ndjson': recordedText('upgrade.ndjson'),
  'check.json': checkText(),
  'pod.yaml': 'apiVersion: v1\nkind: Pod\n',
}

async function upgraded(work: (place: Place) => Promise<void>): Promise<void> {
  const clock = new SimClock()
  const sim = await simulate({ clock, version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' })
  const place = { cluster: sim.cluster(), clock }
  const { code } = await runText('upgrade --to v1.8.4 --method image-tag --yes'.split(' '), place)
  expect(code).toBe(0)
  try {
    await work(place)
  } finally {
    await sim.stop()
  }
}

const offline: Place = { cluster: {} as Place['cluster'], clock: new SimClock(), files }

test('without an argument it is of the last run, by its number of any', () =>
  upgraded(async (place) => {
    const written: string[] = []
    const onWrite = (file: string, text: string) => written.push(file, text)
    const last = await runText(['report', '--to-file', 'report.html'], { ...place, onWrite })
    expect(last.code).toBe(0)
    expect(last.out).toMatch(/^. Run 1: upgrade v1\.7\.4 (?:→|->) v1\.8\.4: done in /u)
    expect(last.out).toContain(
      'The report is in report.html, without passwords and names of hosts with a domain',
    )
    expect(written[0]).toBe('report.html')
    expect(written[1]).toContain('<!doctype html>')
    const first = await runText(['report', '1', '-o', 'markdown'], place)
    expect(first.out).toContain('# KubeVirt, run 1: v1.7.4 → v1.8.4')
    expect(first.out).toContain('from v1.7.4 to v1.8.4')
    const none = await runText(['report', '7'], place)
    expect(none).toMatchObject({ code: 2, out: '' })
    expect(none.err).toContain('no run 7 is recorded')
  }))

test('a file needs no cluster', async () => {
  const { code, out } = await runText(['report', 'check.json', '-o', 'markdown'], offline)
  expect(code).toBe(0)
  expect(out).toContain('**✖ NOT READY for v1.9.0')
  const summary = await runText(['report', 'run.ndjson'], { ...offline, columns: 100 })
  expect(summary.out).toContain('kvup report run.ndjson --to-file report.html')
})

test('standard input is a file as well', async () => {
  const { code, out } = await runText(['report', '-', '-o', 'json'], {
    ...offline,
    stdin: files['check.json'],
  })
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    kind: 'Report',
    of: 'CheckReport',
    redacted: true,
    status: 'complete',
  })
})

const isNamed = async (...flags: string[]): Promise<boolean> =>
  (await runText(['report', 'run.ndjson', '-o', 'json', ...flags], offline)).out.includes(
    'bastion.example.com',
  )

test('--full leaves nothing out', async () => {
  expect([await isNamed(), await isNamed('--full')]).toEqual([false, true])
})

test.each([
  [['report', 'no.json'], 'cannot read no.json: the file does not exist'],
  [['report', 'pod.yaml'], 'no report can be made of "pod.yaml": it is of kind "Pod"'],
  [['report', 'run.ndjson', '--to-file', '-'], 'the report cannot be written to -: it is no name of a file'],
  [
    ['report', 'run.ndjson', '--to-file', './run.ndjson'],
    'the report cannot be written to ./run.ndjson: it is the document of the report',
  ],
  [['report', 'run.ndjson', '-o', 'sarif'], 'kvup report has no -o sarif any more'],
])('%j is refused', async (argv, why) => {
  const { code, out, err } = await runText(argv, offline)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain(why)
})

test.each([[['--to-file', 'ticket.md']], [['--to-file', 'ticket.txt', '-o', 'markdown']]])(
  '%j writes Markdown into the file',
  async (flags) => {
    const written: string[] = []
    const onWrite = (file: string, text: string) => written.push(file, text)
    const { code, out, err } = await runText(['report', 'run.ndjson', ...flags], { ...offline, onWrite })
    expect({ code, file: written[0] }).toEqual({ code: 0, file: flags[1] })
    expect(out).not.toContain('# Upgrade')
    expect(written[1]).toMatch(/^# Upgrade: v1\.7\.4 → v1\.8\.4\n/u)
    expect(out + err).toContain(`The report is in ${flags[1]}`)
  },
)

const noFolder = (): never => {
  throw Object.assign(new Error("ENOENT: open '/nonexist/x.7bc75bc5.part'"), { code: 'ENOENT' })
}

test('a number that is no run says so, and a folder that is not there', async () => {
  const { err } = await runText(['report', '0'], offline)
  expect(err).toContain('there is no run 0, and no file of that name can be read: the file does not exist')
  const place = { ...offline, onWrite: noFolder }
  const saved = await runText(['report', 'run.ndjson', '--to-file', '/nonexist/x'], place)
  expect(saved.err).toContain('the report cannot be written to /nonexist/x: there is no such folder')
  expect(saved.err).not.toContain('.part')
})

const fullDisk = (): never => {
  throw new Error('the disk is full')
}

test('a page that cannot be written says why, and prints no report', async () => {
  const place = { ...offline, onWrite: fullDisk }
  const { code, out, err } = await runText(['report', 'run.ndjson', '--to-file', '/x/r.html'], place)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain('the report cannot be written to /x/r.html: the disk is full')
})
