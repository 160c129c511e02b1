import { exitCode } from '../../kube/errors.ts'
import type { StepLine } from '../progress/run-progress.ts'
import type { Document } from '../printer.ts'
import type { EusReportDocument } from '../../eus/run/window-report.ts'
import type { UpgradeReport } from '../../upgrade/upgrade-report.ts'
import type { WaitDocument } from '../views/status.ts'
import type { PlanDocument } from '../../upgrade/plan/plan-document.ts'
import type { Told } from './reports.ts'
import { plainHelpLine } from '../text.ts'
import { verdictOf } from './verdicts.ts'

/** One element of XML. Children that are elements stand on lines of their own. */
export function element(
  name: string,
  attributes: Record<string, string | number>,
  children: readonly string[] = [],
): string {
  const words = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
  const open = `<${name}${words.join('')}`
  return children.length === 0
    ? `${open}/>`
    : `${open}>${children.join(children.some((child) => child.startsWith('<')) ? '\n' : '')}</${name}>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** What XML 1.0 cannot hold was taken out with the other control characters; lone surrogates and the two that are no characters are left. */
export function escaped(raw: string): string {
  return raw
    .toWellFormed()
    .replaceAll(/[\uFFFE\uFFFF]/gu, '\uFFFD')
    .replaceAll(/[&<>"]/gu, (found) => entities[found] ?? found)
}

/** A report as it stands in a file. */
export const xmlFile = (root: string): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`

type Outcome = 'passed' | 'failure' | 'error' | 'skipped'

/** One step of a run, or the whole of a command that has none. */
interface Case {
  name: string
  seconds: number
  is: Outcome
  /** Of what failed its reason (`stalled`), the sentence, and lines with notes and what to type. */
  type?: string
  message?: string
  lines?: readonly string[]
}

/**
 * JUnit XML. A document that has a form of its own keeps it; of a run each step is a test case, and the one at which it ended fails with the cause and the next
 * lines. What ends before the first step fails under the name of the command.
 */
export function junitReport(told: Told): string {
  const own = told.document && told.view?.formats?.junit
  if (own && told.document) return own(told.document)
  const cases = casesOf(told)
  const many = (is: Outcome) => cases.filter((one) => one.is === is).length
  const counts = { tests: cases.length, failures: many('failure'), errors: many('error') }
  const seconds = secondsText(cases.reduce((sum, one) => sum + one.seconds, 0))
  const verdict = told.document && verdictOf(told.document)
  const classname = told.command.replaceAll(' ', '.')
  const suite = element(
    'testsuite',
    {
      name: told.run.procedure || told.command,
      ...counts,
      skipped: many('skipped'),
      time: seconds,
      timestamp: (told.run.startedAt ?? told.at).replace(/\.\d+|Z$/gu, ''),
    },
    [
      ...cases.map((one) => caseElement(one, classname)),
      ...(verdict ? [element('system-out', {}, [escaped(verdict.text)])] : []),
    ],
  )
  return xmlFile(element('testsuites', { name: told.command, ...counts, time: seconds }, [suite]))
}

function casesOf({ command, document, run, error }: Told): readonly Case[] {
  const failure = error && failureOf(error)
  if (run.steps.length === 0) return [...dryRunCases(document), { ...wholeOf(command, document), ...failure }]
  const isOpen = run.steps.some(({ shape }) => shape === 'failed')
  const stop = document && stopOf(document)
  return [
    ...run.steps.map((step) => caseOf(step, { stop, failure, at: run.finishedAt })),
    // It ended between two steps, or behind the last.
    ...(failure && !isOpen ? [{ name: command, seconds: 0, ...failure }] : []),
  ]
}

/** Nothing was tried: each step says what it would do. */
function dryRunCases(document: Document | undefined): readonly Case[] {
  const { dryRun, steps = [] } = (document ?? {}) as Partial<Pick<PlanDocument, 'dryRun' | 'steps'>>
  if (dryRun === undefined) return []
  const said = {
    'would-change': 'would change',
    'already-so': 'already so',
    depends: 'depends on a step before it',
  }
  return steps.map(({ id, title, state, change }) => ({
    name: `${id}: ${title}`,
    seconds: 0,
    is: 'skipped',
    message: `dry run: ${state in said ? said[state as keyof typeof said] : 'would wait'}${change === undefined ? '' : `: ${change}`}`,
  }))
}

interface CaseEnd {
  /** That the run was told to stop. */
  stop: string | undefined
  failure: Pick<Case, 'is' | 'type' | 'message' | 'lines'> | undefined
  /** RFC 3339: when the run ended. */
  at: string | undefined
}

function caseOf(
  { id, title, shape, startedAt, tookMs, note }: StepLine,
  { stop, failure, at }: CaseEnd,
): Case {
  const isOver = startedAt !== undefined && at !== undefined
  const ranFor = isOver ? Math.max(0, Date.parse(at) - Date.parse(startedAt)) : 0
  const step = { name: `${id}: ${title}`, seconds: (tookMs ?? ranFor) / 1000 }
  if (shape === 'failed' && failure) return { ...step, ...failure }
  if (shape === 'done') return { ...step, is: 'passed', ...(note && { lines: [note] }) }
  return { ...step, seconds: 0, is: 'skipped', message: stop ?? 'not reached' }
}

/** Of a command without steps: what it was asked for. */
function wholeOf(command: string, document: Document | undefined): Case {
  if (document === undefined) return { name: command, seconds: 0, is: 'passed' }
  const { for: condition, tookSeconds = 0 } = document as Partial<WaitDocument>
  return { name: condition ?? command, seconds: tookSeconds, is: 'passed' }
}

function stopOf(document: Document): string | undefined {
  const { stoppedBefore } = document as Partial<UpgradeReport | EusReportDocument>
  return (
    stoppedBefore && `the run was told to stop before ${stoppedBefore.step}, by --${stoppedBefore.because}`
  )
}

/** What kept it from being tried at all is an error; what was tried and did not come is a failure. */
const notTried: ReadonlySet<number> = new Set([
  exitCode.bug,
  exitCode.usage,
  exitCode.locked,
  exitCode.forbidden,
  exitCode.unreachable,
  exitCode.interrupted,
  exitCode.terminated,
])

function failureOf({ code, reason, message, object, notes = [], remedy = [] }: NonNullable<Told['error']>) {
  return {
    is: notTried.has(code) ? 'error' : 'failure',
    type: reason,
    message,
    lines: [message, ...(object === undefined ? [] : [object]), ...notes, ...remedy.map(plainHelpLine)],
  } as const
}

function caseElement(
  { name, seconds, is, type = '', message = '', lines = [] }: Case,
  classname: string,
): string {
  const text = escaped(lines.join('\n'))
  const body = {
    passed: () => (lines.length > 0 ? [element('system-out', {}, [text])] : []),
    skipped: () => [element('skipped', {}, [escaped(message)])],
    failure: () => [element('failure', { message, type }, [text])],
    error: () => [element('error', { message, type }, [text])],
  }[is]()
  return element('testcase', { name, classname, time: secondsText(seconds) }, body)
}

const secondsText = (seconds: number): string => seconds.toFixed(3)
