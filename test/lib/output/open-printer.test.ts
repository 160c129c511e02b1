import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { spanText } from '../../../src/lib/kube/duration.ts'
import { timeOfDay } from '../../../src/lib/output/age.ts'
import { formatAsked, parseOutput } from '../../../src/lib/output/formats/output-format.ts'
import { openPrinter, type PrinterOptions } from '../../../src/lib/output/open-printer.ts'
import type { Document, View } from '../../../src/lib/output/printer.ts'
import { table } from '../../../src/lib/output/table.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { blocked, timedOut } from '../../../src/lib/kube/errors.ts'
import { Pipe, Terminal } from './terminal.ts'
import { at, upgradeEvents } from './upgrade-events.ts'
import fixture from './open-printer.json' with { type: 'json' }

interface Things extends Document {
  kind: 'ThingList'
  items: { name: string; message: string }[]
}
const things = (...names: string[]): Things => ({
  apiVersion: 'kvup.io/v1alpha1',
  kind: 'ThingList',
  items: names.map((name) => ({ name, message: `says \u001b]0;owned\u0007${name} →` })),
})
const view: View<Things> = {
  text: ({ items }, paint, size) =>
    table<Things['items'][number]>(
      [
        { name: 'NAME', cell: ({ name }) => name, tone: () => 'good' },
        { name: 'MESSAGE', cell: ({ message }) => message },
      ],
      items,
      { ...size, paint },
    ),
  names: ({ items }) => items.map(({ name }) => `thing/${name}`),
}

const utf8 = { LANG: 'en_US.UTF-8', TERM: 'xterm' }
async function open(options: Partial<PrinterOptions> = {}) {
  const stdout = new Pipe()
  const stderr = new Pipe()
  const printer = await openPrinter({
    stdout,
    stderr,
    output: 'table',
    headers: true,
    color: 'auto',
    env: utf8,
    clock: new SimClock(at('13:14')),
    beat: () => () => undefined,
    ...options,
  })
  return { printer, stdout, stderr }
}

/** One command that gives `names` and may fail; both streams. */
async function run(options: Partial<PrinterOptions>, names: string[] | undefined, error?: unknown) {
  const { printer, stdout, stderr } = await open(options)
  if (names) printer.result(things(...names), view)
  printer.finish(error)
  return { out: stdout.text, err: stderr.text }
}

const failure = blocked('snag', 'cannot do it', {
  object: 'things/a',
  remedy: ['kvup mend a', 'or leave it'],
})

describe('formats', () => {
  test('table', async () => {
    expect((await run({}, ['b', 'a'])).out).toBe('NAME   MESSAGE\nb      says b →\na      says a →\n')
  })
  test('no headings, sorted', async () => {
    const { out } = await run({ headers: false, sortBy: '.name' }, ['b', 'a'])
    expect(out).toBe('a     says a →\nb     says b →\n')
  })
  test('name', async () => {
    expect((await run({ output: 'name' }, ['b', 'a'])).out).toBe('thing/b\nthing/a\n')
  })
  test('jsonpath, from the flag and from a file', async () => {
    const template = '{range .items[*]}{.name}={.message}{"\\n"}{end}{.status}'
    const expected = 'b=says b →\ncomplete'
    expect((await run({ output: `jsonpath=${template}` }, ['b'])).out).toBe(expected)
    const file = await run({ output: 'jsonpath-file=t', readText: async () => template }, ['b'])
    expect(file.out).toBe(expected)
  })
  test('custom columns', async () => {
    expect((await run({ output: 'custom-columns=N:.name' }, ['b', 'a'])).out).toBe('N\nb\na\n')
  })
  test('json: status and error come last, sorted items too', async () => {
    const { out } = await run({ output: 'json', sortBy: 'name' }, ['b', 'a'])
    expect(Object.keys(JSON.parse(out) as object)).toEqual(['apiVersion', 'kind', 'items', 'status'])
    expect(out.indexOf('"a"')).toBeLessThan(out.indexOf('"b"'))
  })
  test('a template that does not parse is a usage error before anything is done', async () => {
    for (const output of [
      'jsonpath={.a',
      'custom-columns=NAME',
      'custom-columns=A:.x[',
      'jsonpath=',
      'xml',
      'go-template=x',
    ]) {
      await expect(open({ output })).rejects.toMatchObject({ exitCode: 2 })
    }
    await expect(open({ sortBy: '.a[' })).rejects.toMatchObject({ exitCode: 2 })
  })
  test('the template that is advised prints what this document has', async () => {
    const broken: unknown = await open({ output: 'jsonpath={.a' }).catch((error: unknown) => error)
    const [advice = ''] = (broken as { remedy: readonly string[] }).remedy
    const template = /'(.*)'/u.exec(advice)?.[1] ?? ''
    expect((await run({ output: `jsonpath=${template}` }, ['b', 'a'])).out).toBe('complete\nb\na')
  })
  test('manner 16: an unknown format lists the known ones', () => {
    expect(() => parseOutput('xml')).toThrow(
      expect.objectContaining({ remedy: [expect.stringContaining('custom-columns=')] }),
    )
  })
  test('a template that does not fit is a warning: the work is done', async () => {
    const { out, err } = await run({ output: 'jsonpath={.items[9].name}' }, ['b'])
    expect(out).toBe('')
    expect(err).toMatch(/^warning: .*index 9, length 1/)
  })
})

describe('the format asked for, even where the rest of the line is wrong', () => {
  test.each<[string[], string]>(fixture.asked as never)('%o', (argv, is) => {
    expect(formatAsked(argv)).toMatchObject({ is })
  })
})

describe('failure', () => {
  const error = {
    code: 3,
    reason: 'snag',
    message: 'cannot do it',
    object: 'things/a',
    remedy: ['kvup mend a', 'or leave it'],
  }
  const text = 'error: cannot do it\n  things/a\n  → kvup mend a\n  or leave it\n'

  test('json: one document, of the command and with the error', async () => {
    const { out, err } = await run({ output: 'json', failureKind: 'Upgrade' }, undefined, failure)
    expect(JSON.parse(out)).toEqual({
      apiVersion: 'kvup.io/v1alpha1',
      kind: 'Upgrade',
      outcome: 'blocked',
      status: 'failed',
      error,
    })
    expect(err).toBe(text)
  })
  test('json: an error after the answer is in the same document', async () => {
    const { out } = await run({ output: 'json' }, ['a'], failure)
    const document = JSON.parse(out) as object
    expect(document).toMatchObject({ kind: 'ThingList', status: 'failed', error })
    expect(Object.keys(document).slice(-2)).toEqual(['status', 'error'])
  })
  test('yaml and ndjson likewise', async () => {
    const yaml = await run({ output: 'yaml' }, ['a'], failure)
    const documents = parseAllDocuments(yaml.out)
    expect(documents).toHaveLength(1)
    expect((documents[0] as { toJS(): unknown }).toJS()).toMatchObject({ status: 'failed', error })
    const ndjson = await run({ output: 'ndjson' }, undefined, failure)
    expect(JSON.parse(ndjson.out)).toMatchObject({ kind: 'Error', error })
  })
  test('a partial answer stays partial', async () => {
    const { printer, stdout } = await open({ output: 'json' })
    printer.result(things('a'), view, 'partial')
    printer.finish(timedOut('timeout', 'too late'))
    expect(JSON.parse(stdout.text)).toMatchObject({ status: 'partial', error: { code: 4 } })
  })
  test.each(['table', 'wide', 'name', 'jsonpath={.kind}', 'custom-columns=A:.kind'])(
    '-o %s: nothing on stdout',
    async (output) => {
      expect(await run({ output }, undefined, failure)).toEqual({ out: '', err: text })
    },
  )
  test('a bug says so, with a stack only from -v 6', async () => {
    const bug = new TypeError('x is not a function\u001b[2J')
    const { err } = await run({}, undefined, bug)
    expect(err).toContain('error: TypeError: x is not a function\n')
    expect(err).toContain('this is a bug in kvup')
    expect(err).not.toContain('    at ')
    expect((await run({ verbosity: 6 }, undefined, bug)).err).toContain('    at ')
  })
})

describe('streams', () => {
  test('-w: a document per change, each at once', async () => {
    const { printer, stdout } = await open({ output: 'ndjson', watch: true })
    printer.result(things('a'), view)
    expect(stdout.text.split('\n')).toHaveLength(2)
    printer.result(things('b'), view)
    expect(stdout.text.split('\n')).toHaveLength(3)
    printer.finish()
    expect(stdout.text.split('\n')).toHaveLength(3)
  })
  test('-w on a pipe: each line bears the time of its change, in line with those of a run', async () => {
    const clock = new SimClock(at('13:14'))
    const { printer, stdout } = await open({ watch: true, clock })
    printer.result(things('a'), view)
    await clock.sleep(5000)
    printer.result(things('b\nover two lines'), view)
    printer.finish()
    expect(stdout.text.split('\n')).toEqual([
      `${timeOfDay(at('13:14'))} NAME   MESSAGE`,
      `${timeOfDay(at('13:14'))} a      says a →`,
      `${timeOfDay(at('13:19'))} NAME               MESSAGE`,
      `${timeOfDay(at('13:19'))} b over two lines   says b over two lines →`,
      '',
    ])
  })
  test('without -w an answer bears none', async () => {
    expect((await run({}, ['a'])).out).toBe('NAME   MESSAGE\na      says a →\n')
  })
  test('ndjson: events on stdout, one per line; nothing on stderr', async () => {
    const { printer, stdout, stderr } = await open({ output: 'ndjson' })
    upgradeEvents.forEach((event) => printer.event(event))
    printer.finish()
    const lines = stdout.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string })
    expect(lines.map(({ event }) => event)).toEqual(upgradeEvents.map(({ kind }) => kind))
    expect(stderr.text).toBe('')
  })
  test.each([
    'table',
    'wide',
    'name',
    'json',
    'yaml',
    'ndjson',
    'jsonpath={.items[0].message}',
    'custom-columns=A:.message',
  ])('manner 24: a pipe shows no escape byte: -o %s', async (output) => {
    const { printer, stdout, stderr } = await open({ output })
    upgradeEvents.forEach((event) => printer.event(event))
    printer.note('note \u001b[2J')
    printer.warn('warn \u001b]0;owned\u0007')
    printer.result({ ...things('a\u001b[31m'), extra: '\u009b2J\u202e' } as Things, view)
    printer.finish(
      blocked('x\u001b', 'message \u001b[2J', { object: '\u001b]0;x\u0007o', remedy: '\u001bc' }),
    )
    // oxlint-disable-next-line no-control-regex
    expect(stdout.text + stderr.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })
  test('a newline in a text cannot forge a line', async () => {
    const { printer, stdout } = await open()
    const raw: View<Things> = { text: ({ items }) => items.map(({ message }) => message), names: () => [] }
    printer.result({ ...things(), items: [{ name: 'a', message: 'x\nerror: forged' }] }, raw)
    expect(stdout.text).toBe('x error: forged\n')
  })
  test('manner 32: a warning is given once', async () => {
    const { printer, stderr } = await open()
    printer.warn('deprecated')
    printer.warn('deprecated')
    expect(stderr.text).toBe('warning: deprecated\n')
  })
  test('manner 22: each stream is coloured by itself', async () => {
    const terminal = new Terminal()
    const { printer, stderr } = await open({ stdout: terminal })
    printer.warn('w')
    printer.result(things('a'), view)
    expect(stderr.text).toBe('warning: w\n')
    expect(terminal.written.join('')).toContain('\u001b[32ma\u001b[39m')
    expect(terminal.written.join('')).not.toContain('\u001b]0')
  })
  test('ASCII where the locale asks for it, in words too', async () => {
    const { out, err } = await run({ env: { LANG: 'C' } }, ['a'], failure)
    expect(out).toContain('says a ->')
    expect(err).toContain('  -> kvup mend a')
  })
})

describe('one terminal for both streams', () => {
  test('the answer comes below the last frame, a note above a running one', async () => {
    const terminal = new Terminal(80, 24)
    const { printer } = await open({ stdout: terminal, stderr: terminal, env: { ...utf8, NO_COLOR: '1' } })
    upgradeEvents.forEach((event) => printer.event(event))
    printer.note('a note')
    expect(terminal.lines[0]).toBe('a note')
    printer.event({ kind: 'run-finished', at: at('15:00'), procedure: 'p', tookMs: 1 })
    printer.result(things('a'), view)
    printer.finish()
    expect(terminal.lines.filter((line) => line.startsWith('KubeVirt v1.8.4'))).toHaveLength(1)
    expect(terminal.lines.at(-1)).toBe('a      says a →')
    expect(terminal.isCursorShown).toBe(true)
  })
  test('an error comes last, below the frame that shows the failed step', async () => {
    const terminal = new Terminal(80, 24)
    const { printer } = await open({ stdout: terminal, stderr: terminal })
    upgradeEvents.forEach((event) => printer.event(event))
    printer.finish(failure)
    expect(terminal.lines.some((line) => line.startsWith(' ✖ virt-handler'))).toBe(true)
    expect(terminal.lines.slice(-2)).toEqual(['  → kvup mend a', '  or leave it'])
    expect(terminal.isCursorShown).toBe(true)
  })
})

test.each([
  [false, 'Upgrade KubeVirt to v1.9.0\n! There is no way back\n'],
  [true, ''],
])('a screen before a question, quiet %j: what a cluster says in it moves nothing', async (quiet, shown) => {
  const { printer, stderr } = await open({ quiet })
  printer.screen?.((paint) => [
    'Upgrade KubeVirt to v1.9.0\u001b[2J',
    `${paint.mark.warning} There is no way back`,
  ])
  printer.finish()
  expect(stderr.text).toBe(shown)
})

test('the figures of time on a screen are of one clock, whichever it is told to take', async () => {
  const stderr = new Terminal()
  const wall = new SimClock(at('00:00'))
  const simulated = new SimClock(at('13:14'))
  const { printer } = await open({ stdout: stderr, stderr, clock: wall, env: utf8 })
  printer.timeBy?.(simulated)
  upgradeEvents.forEach((event) => printer.event(event))
  printer.finish()
  const elapsed = spanText(simulated.now().getTime() - Date.parse(upgradeEvents[0]?.at ?? ''))
  expect(stderr.lines.join('\n')).toContain(elapsed)
})
