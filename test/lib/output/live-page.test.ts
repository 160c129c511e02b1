import { timeOfDay } from '../../../src/lib/output/age.ts'
import { describe, expect, test } from 'vitest'
import { LivePage } from '../../../src/lib/output/progress/progress-output.ts'
import { openPrinter } from '../../../src/lib/output/open-printer.ts'
import type { Document, View } from '../../../src/lib/output/printer.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { interrupted } from '../../../src/lib/kube/errors.ts'
import { Pipe, Terminal } from './terminal.ts'

function open(width = 40, height = 10) {
  const terminal = new Terminal(width, height)
  terminal.write('$ kvup status -w\n')
  return { terminal, page: new LivePage(terminal) }
}

const command = `→ kubectl -n kubevirt describe pod ${'x'.repeat(60)}`

describe('a page on a terminal', () => {
  test('takes the place of the one before, in one write', () => {
    const { terminal, page } = open()
    page.show(() => ['updating', '0/3', 'waiting for worker-1'])
    const before = terminal.written.length
    page.show(() => ['healthy', '3/3'])
    expect(terminal.lines).toEqual(['$ kvup status -w', 'healthy', '3/3'])
    expect(terminal.written).toHaveLength(before + 1)
  })

  test('leaves nothing behind of a line that the terminal had to break', () => {
    const { terminal, page } = open()
    page.show(() => ['stalled', command, 'end'])
    expect(terminal.lines).toHaveLength(6)
    page.show(() => ['healthy', 'a', 'b', 'c', 'd'])
    expect(terminal.lines).toEqual(['$ kvup status -w', 'healthy', 'a', 'b', 'c', 'd'])
  })

  test('is never higher than the terminal, and says what is left out', () => {
    const { terminal, page } = open(40, 6)
    const many = Array.from({ length: 9 }, (_, index) => `line ${index}`)
    page.show(() => many)
    page.show(() => many)
    expect(terminal.lines).toEqual(['$ kvup status -w', ...many.slice(0, 4), '(5 more lines)'])
  })

  test('is drawn anew, as it fits, when the size changes', () => {
    const { terminal, page } = open()
    page.show((columns) => [`${columns} columns`])
    terminal.resize(30, 10)
    expect(terminal.lines).toEqual(['$ kvup status -w', '29 columns'])
  })

  test('makes room for what is said, and stays when it is over; the cursor comes back', () => {
    const { terminal, page } = open()
    page.show(() => ['healthy'])
    page.above(() => terminal.write('warning: slow\n'))
    expect(terminal.lines).toEqual(['$ kvup status -w', 'warning: slow', 'healthy'])
    expect(terminal.isCursorShown).toBe(false)
    page.release()
    terminal.write('error: interrupted\n')
    terminal.resize(30, 10)
    expect(terminal.lines).toEqual(['$ kvup status -w', 'warning: slow', 'healthy', 'error: interrupted'])
    expect(terminal.isCursorShown).toBe(true)
  })
})

interface Snapshot extends Document {
  kind: 'Seen'
  verdict: string
}
const view: View<Snapshot> = {
  text: ({ verdict }) => [`it is ${verdict}`, 'second line'],
  names: () => ['seen'],
}
const verdicts = ['updating', 'healthy']

/** A command with -w that gives both verdicts, warns in between, and is interrupted. */
async function watched(
  stdout: Pipe | Terminal,
  more: { output?: string; env?: Record<string, string> } = {},
) {
  const printer = await openPrinter({
    stdout,
    stderr: stdout,
    output: 'table',
    headers: true,
    color: 'auto',
    env: { LANG: 'C.UTF-8', TERM: 'xterm' },
    clock: new SimClock(),
    watch: true,
    beat: () => () => undefined,
    ...more,
  })
  for (const verdict of verdicts) {
    printer.result<Snapshot>({ apiVersion: 'kvup.io/v1alpha1', kind: 'Seen', verdict }, view)
    if (verdict === 'updating') printer.warn('a watch was refused')
  }
  printer.finish(interrupted('SIGINT'))
}

const onePage = [
  'warning: a watch was refused',
  `${timeOfDay(new SimClock().now())}  read 0 s ago`,
  'it is healthy',
  'second line',
  'error: interrupted by SIGINT',
]
const time = timeOfDay(new SimClock().now())
const pages = [
  `${time} it is updating`,
  `${time} second line`,
  'warning: a watch was refused',
  `${time} it is healthy`,
  `${time} second line`,
  'error: interrupted by SIGINT',
]

const seen = (verdict: string): Snapshot => ({ apiVersion: 'kvup.io/v1alpha1', kind: 'Seen', verdict })

/** A page on a terminal whose seconds pass when the test says so. */
async function ticking() {
  const terminal = new Terminal()
  const clock = new SimClock()
  const beats: (() => void)[] = []
  const printer = await openPrinter({
    stdout: terminal,
    stderr: new Terminal(),
    output: 'table',
    headers: true,
    color: 'never',
    env: { LANG: 'C.UTF-8', TERM: 'xterm' },
    clock,
    watch: true,
    beat: (ms, beat) => {
      if (ms === 1000) beats.push(beat)
      return () => void beats.splice(beats.indexOf(beat), 1)
    },
  })
  const after = async (seconds: number) => {
    await clock.sleep(seconds * 1000)
    for (const beat of beats) beat()
    return terminal.lines.join('\n')
  }
  return { printer, after, clock, beats }
}

describe('a page has a clock of its own', () => {
  test('16.1 two frames 3 s apart differ, though the cluster reads the same', async () => {
    const { printer, after, clock } = await ticking()
    printer.result(seen('healthy'), view)
    const first = await after(0)
    const second = await after(3)
    expect(second).not.toBe(first)
    expect(second).toBe(`${timeOfDay(clock.now())}  read 3 s ago\nit is healthy\nsecond line`)
  })

  test('what was read again is young, what was not is said to be old', async () => {
    const { printer, after, clock } = await ticking()
    printer.result(seen('healthy'), view)
    const at = clock.now()
    expect(await after(29)).toMatch(/ {2}read 29 s ago\n/u)
    expect(await after(16)).toContain(`  OLD: read 45 s ago, at ${timeOfDay(at)}\nit is healthy`)
    printer.unchanged(seen('healthy'), view)
    expect(await after(1)).toMatch(/ {2}read 1 s ago\n/u)
  })

  test('nothing ticks any more when it is over', async () => {
    const { printer, beats } = await ticking()
    printer.result(seen('healthy'), view)
    printer.finish()
    expect(beats).toEqual([])
  })

  test('what reads as before is printed nowhere but on a page', async () => {
    const pipe = new Pipe()
    const printer = await openPrinter({
      stdout: pipe,
      stderr: pipe,
      output: 'table',
      headers: true,
      color: 'never',
      env: { LANG: 'C.UTF-8' },
      clock: new SimClock(),
      watch: true,
      beat: () => () => undefined,
    })
    printer.unchanged<Snapshot>({ apiVersion: 'kvup.io/v1alpha1', kind: 'Seen', verdict: 'healthy' }, view)
    printer.finish()
    expect(pipe.text).toBe('')
  })
})

describe('-w', () => {
  test('on a terminal is one page', async () => {
    const terminal = new Terminal()
    await watched(terminal)
    expect(terminal.lines).toEqual(onePage)
    expect(terminal.isCursorShown).toBe(true)
  })

  test.each([{ TERM: 'dumb' }, { CI: 'true', TERM: 'xterm' }])(
    'with %j is a page for each change',
    async (env) => {
      const terminal = new Terminal()
      await watched(terminal, { env: { LANG: 'C.UTF-8', ...env } })
      expect(terminal.lines.map((line) => line.trim())).toEqual(pages)
    },
  )

  test('on a pipe is a page for each change, without an escape', async () => {
    const pipe = new Pipe()
    await watched(pipe)
    expect(pipe.text).toBe(`${pages.join('\n')}\n`)
  })

  test('with -o name and -o ndjson it is a line for each change', async () => {
    const [names, documents] = [new Terminal(), new Terminal(200)]
    await watched(names, { output: 'name' })
    await watched(documents, { output: 'ndjson' })
    expect(names.lines.filter((line) => line === 'seen')).toHaveLength(2)
    expect(documents.lines.filter((line) => line.includes('"verdict"'))).toHaveLength(2)
  })
})
