import { describe, expect, test } from 'vitest'
import { annotationLine, annotationReport } from '../../../src/lib/output/formats/annotations.ts'
import { junitReport } from '../../../src/lib/output/formats/junit.ts'
import { reportAnswer, type Told } from '../../../src/lib/output/formats/reports.ts'
import { verdictOf } from '../../../src/lib/output/formats/verdicts.ts'
import { openPrinter } from '../../../src/lib/output/open-printer.ts'
import { progressFailed, progressOf } from '../../../src/lib/output/progress/run-progress.ts'
import type { Document, ReportFormat } from '../../../src/lib/output/printer.ts'
import { withoutRunnerCommands } from '../../../src/lib/output/terminal.ts'
import { waitView } from '../../../src/lib/output/views/status.ts'
import { blocked, timedOut } from '../../../src/lib/kube/errors.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { parseXml } from './parse-xml.ts'
import { Pipe } from './terminal.ts'
import { at, steps, upgradeEvents as half } from './upgrade-events.ts'
import verdicts from './verdicts.json' with { type: 'json' }
import fixture from './ci-formats.json' with { type: 'json' }

const now = '2026-11-25T13:14:00.000Z'
const events = [
  ...half,
  ...Object.values(steps).map(
    (step) => ({ kind: 'step-done', at: now, step, changed: true, tookMs: 1500 }) as const,
  ),
]
const told = (more: Partial<Told> = {}): Told => ({
  command: 'kvup upgrade',
  run: progressOf([]),
  at: now,
  ...more,
})

const unescape = (text: string, tokens: readonly (readonly [string, string])[]) =>
  tokens.reduce((all, [to, from]) => all.replaceAll(from, to), text)

/** What the runner makes of a line, as its own unescaping does: `%25` last. */
function readByRunner(line: string) {
  const [, level, title = '', data = ''] = /^::(\w+) title=([^:,]*)::(.*)$/u.exec(line) ?? []
  const ofData = [
    ['\r', '%0D'],
    ['\n', '%0A'],
  ] as const
  const ofTitle = [...ofData, [':', '%3A'], [',', '%2C']] as const
  return {
    level,
    title: unescape(title, [...ofTitle, ['%', '%25']]),
    data: unescape(data, [...ofData, ['%', '%25']]),
  }
}

describe('GitHub annotations', () => {
  test.each(fixture.annotations)('%s is read back by the runner as it was', (_, title, text) => {
    const line = annotationLine({ level: 'error', title, lines: text.split('\n') })
    expect(line.split('\n')).toHaveLength(1)
    expect(readByRunner(line)).toEqual({ level: 'error', title, data: text })
  })

  test('a failure is an error with its reason, its notes and what to type', () => {
    const error = {
      code: 4,
      reason: 'stalled',
      message: 'stalled for 5m',
      notes: ['paused'],
      remedy: ['kvup status'],
    }
    expect(annotationReport(told({ error }))).toBe(
      '::error title=kvup upgrade%3A stalled::stalled for 5m%0Apaused%0A-> kvup status\n',
    )
  })

  test.each([
    ['::error::x', ': :error::x'],
    ['  ::add-mask::x\n\t::x::y', '  : :add-mask::x\n\t: :x::y'],
    ['pod says ##[add-mask]x', 'pod says ## [add-mask]x'],
    ['a::b and [x]', 'a::b and [x]'],
  ])('in a job the text of others is no command: %j', (text, safe) => {
    expect(withoutRunnerCommands(text)).toBe(safe)
  })

  test('on a runner both streams are guarded, elsewhere neither', async () => {
    for (const [env, expected] of [
      [{ GITHUB_ACTIONS: 'true' }, 'warning: x\n: :error::owned\n'],
      [{}, 'warning: x\n::error::owned\n'],
    ] as const) {
      const { printer, stderr } = await opened('table', env)
      printer.warn('x')
      printer.note('::error::owned')
      printer.finish()
      expect(stderr.text).toBe(expected)
    }
  })
})

async function opened(output: string, env: Record<string, string> = {}, more: { quiet?: boolean } = {}) {
  const [stdout, stderr] = [new Pipe(), new Pipe()]
  const printer = await openPrinter({
    stdout,
    stderr,
    output,
    headers: true,
    color: 'never',
    env: { LANG: 'C.UTF-8', ...env },
    clock: new SimClock(at('13:14')),
    beat: () => () => undefined,
    formats: ['junit', 'github'],
    command: 'kvup wait',
    ...more,
  })
  return { printer, stdout, stderr }
}

describe('JUnit of a run', () => {
  const failed = {
    code: 4,
    reason: 'stalled',
    message: 'stalled at <x> & "y"',
    remedy: ['kvup upgrade --to v1.8.4'],
  }

  test('each step is a case with its time; the one that failed has the cause and the next line, the rest is skipped', () => {
    const run = progressFailed(progressOf(half), now)
    const [suite] = parseXml(junitReport(told({ run, error: failed }))).children
    const cases = suite!.children.filter(({ name }) => name === 'testcase')
    expect(cases).toHaveLength(run.steps.length)
    const became = cases.map(({ children }) => children[0]?.name ?? 'passed')
    expect(became.filter((is) => is === 'failure')).toHaveLength(1)
    expect(became.slice(became.indexOf('failure') + 1).every((is) => is === 'skipped')).toBe(true)
    const failure = cases.flatMap(({ children }) => children).find(({ name }) => name === 'failure')
    expect(failure?.attributes).toEqual({ message: failed.message, type: 'stalled' })
    expect(junitReport(told({ run, error: failed }))).toContain(
      '>stalled at &lt;x&gt; &amp; &quot;y&quot;\n-&gt; kvup upgrade --to v1.8.4</failure>',
    )
    expect(suite?.attributes).toMatchObject({ failures: '1', errors: '0', tests: String(cases.length) })
  })

  test('a run that is done: every step passed, and no case is left out', () => {
    const run = progressOf(events)
    const [suite] = parseXml(junitReport(told({ run }))).children
    expect(suite?.attributes).toMatchObject({
      failures: '0',
      errors: '0',
      skipped: '0',
      tests: String(run.steps.length),
    })
    expect(suite?.children.every(({ attributes }) => Number(attributes['time']) >= 0)).toBe(true)
  })

  test.each([
    [8, 'error'],
    [7, 'error'],
    [3, 'failure'],
    [4, 'failure'],
  ])('exit %i before the first step is a case of the command itself: %s', (code, is) => {
    const [suite] = parseXml(junitReport(told({ error: { code, reason: 'r', message: 'm' } }))).children
    expect(
      suite?.children.map(({ attributes, children }) => [attributes['name'], children[0]?.name]),
    ).toEqual([['kvup upgrade', is]])
  })

  test('a failure between two steps is a case of its own', () => {
    const [suite] = parseXml(junitReport(told({ run: progressOf(events), error: failed }))).children
    expect(suite?.children.at(-1)).toMatchObject({ attributes: { name: 'kvup upgrade' } })
    expect(suite?.attributes['failures']).toBe('1')
  })

  test('what XML cannot hold is replaced', () => {
    const message = `a\u{FFFF}b\u{FFFE}c\u{D800}d`
    const xml = junitReport(told({ error: { code: 3, reason: 'r', message } }))
    expect(xml).toContain('message="a\u{FFFD}b\u{FFFD}c\u{FFFD}d"')
  })
})

const answer = async (format: ReportFormat, isWatch = false) => {
  let out = ''
  const made = await reportAnswer(format, {
    command: 'kvup wait',
    write: (text) => void (out += text),
    now: () => new Date(now),
    isWatch,
    making: { version: '1.2.3' },
  })
  return { made, out: () => out }
}

describe('a report is told once, at the end, with the failure', () => {
  const document = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Wait',
    for: 'healthy',
    met: false,
    tookSeconds: 5,
    waitingFor: 'x\u001b[31m',
  } as const
  const given = { document: document as Document, view: waitView as never, status: 'complete' } as const

  test('a document and then its error are one report', async () => {
    const { made, out } = await answer('junit')
    made.give(given)
    expect(out()).toBe('')
    made.end(timedOut('wait-timed-out', 'too late'))
    expect(parseXml(out()).children).toHaveLength(1)
    expect(out()).toContain('<failure message="too late" type="wait-timed-out">')
    expect(out()).not.toContain('\u001b')
  })

  test('with -w each document at once', async () => {
    const { made, out } = await answer('github', true)
    made.give(given)
    made.give(given)
    made.end()
    expect(out().trimEnd().split('\n')).toHaveLength(2)
  })

  test('nothing was said and nothing failed: nothing is told', async () => {
    const { made, out } = await answer('github')
    made.end()
    expect(out()).toBe('')
  })
})

describe('-q', () => {
  const holds = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Wait',
    for: 'healthy',
    met: true,
    tookSeconds: 5,
  } as const

  test('the verdict alone; no story, no warning, no event', async () => {
    const { printer, stdout, stderr } = await opened('table', {}, { quiet: true })
    printer.note('about to begin')
    printer.warn('careful')
    for (const event of events) printer.event(event)
    printer.result(holds, waitView)
    printer.finish()
    expect({ out: stdout.text, err: stderr.text }).toEqual({ out: 'healthy is met after 5 s\n', err: '' })
  })

  test('errors are whole, with what helps', async () => {
    const { printer, stdout, stderr } = await opened('table', {}, { quiet: true })
    printer.finish(blocked('snag', 'cannot do it', { remedy: 'kvup mend' }))
    expect(stdout.text).toBe('')
    expect(stderr.text).toBe('error: cannot do it\n  → kvup mend\n')
  })

  test('a document for programs is whole', async () => {
    const { printer, stdout } = await opened('json', {}, { quiet: true })
    printer.result(holds, waitView)
    printer.finish()
    expect(JSON.parse(stdout.text)).toMatchObject({ kind: 'Wait', met: true })
  })

  test('what has no verdict is shown whole', async () => {
    const { printer, stdout } = await opened('table', {}, { quiet: true })
    printer.result(
      { apiVersion: 'kvup.io/v1alpha1', kind: 'Releases' },
      { text: () => ['a', 'b'], names: () => [] },
    )
    expect(stdout.text).toBe('a\nb\n')
  })

  test.each(verdicts)('$text', ({ document, is, text }) => {
    expect(verdictOf(document as never)).toEqual({ is, text })
  })
})
