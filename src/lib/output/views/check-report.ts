import type { AcceptedRisk } from '../../releases/hop-findings.ts'
import type { Reported, ReportedCheck, ReportedFinding } from '../../checks/check-run.ts'
import type { Document, Paint, Size, View } from '../printer.ts'
import { brief, count, displayWidth, fenced, headed, markdownText, paintedWidth, wrap } from '../text.ts'
import { onOneLine } from '../terminal.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { jsonText } from '../formats/output-format.ts'
import { element, escaped, xmlFile } from '../formats/junit.ts'

/** `kvup.io/v1alpha1 CheckReport`: what `kvup check` found. */
export interface CheckDocument extends Document, Reported {
  kind: 'CheckReport'
  takenAt: string
  kubevirt: { name: string; namespace: string; version?: string }
  kubernetes?: string
  /** Absent: nothing was asked about a change. */
  to?: string
  method?: string
  strict: boolean
  accepted: readonly AcceptedRisk[]
  /** The day of the release data. */
  releasesAsOf: string
  /** Of kvup itself. */
  kvup: string
}

export const checkView: View<CheckDocument> = {
  text: (document, paint, size) =>
    reportLines(document, paint, size).flatMap((line) => wrap(line, size.columns)),
  names: ({ items }) =>
    items.filter(({ is }) => is === 'found' || is === 'not-checked').map(({ id }) => `check/${id}`),
  formats: { junit, sarif, markdown: checkMarkdown },
}

function reportLines(document: CheckDocument, paint: Paint, size: Size): string[] {
  const shown = document.items.filter(({ is }) => size.wide || is !== 'skipped')
  const groups = [...new Set(shown.map(({ group }) => group))]
  const linesOf = (group: string) =>
    shown.filter((item) => item.group === group).flatMap((item) => checkLines(item, paint, size))
  return [
    ...groups.flatMap((group) => [group as string].concat(linesOf(group))),
    '',
    ...checkSummary(document, paint),
  ]
}

/** No sentence is wider, however wide the terminal is. */
const readable = 100
/** Below this many columns an id does not stand at the right any more. */
const roomForRight = 60
/** Of its objects a finding shows so many. */
const objectsShown = 3

/**
 * A check that passed by its title, which is true then; one that found something by what it found, each finding with its mark, the
 * name to accept it by, its objects and what helps.
 */
function checkLines(item: ReportedCheck, paint: Paint, size: Size): string[] {
  if (item.is === 'passed') return [` ${paint.good(paint.mark.done)} ${item.title}`]
  if (item.is === 'skipped')
    return [` ${paint.dim(paint.mark.dot)} skipped without ${item.without ?? '--to'}: ${item.title}`]
  return item.findings.flatMap((finding) => findingLines(finding, item, { paint, size }))
}

interface LineStyle {
  paint: Paint
  size: Size
}

function findingLines(finding: ReportedFinding, { is }: ReportedCheck, style: LineStyle): string[] {
  const { paint, size } = style
  const { accepted, reason, summary, remedy } = finding
  const taken = accepted ? `accepted${reason ? `, ${reason}` : ''}: ` : ''
  const mark = accepted ? paint.dim(paint.mark.dot) : markOf(is === 'not-checked' ? is : finding.level, paint)
  const objects = objectsText(finding, size)
  return [
    ...named(` ${mark} ${taken}${brief(summary)}`, finding.id, style),
    ...(objects === '' ? [] : [paint.dim(`   namely ${objects}`)]),
    ...remedy.map((line) => `   ${paint.dim(paint.mark.next)} ${line}`),
  ]
}

/** The shape of a level; the legend below the report says the same in words. */
function markOf(level: ReportedFinding['level'], paint: Paint): string {
  if (level === 'blocker') return paint.bad(paint.mark.failed)
  if (level === 'not-checked') return paint.bad('?')
  return level === 'warning' ? paint.warn(paint.mark.warning) : paint.dim(paint.mark.dot)
}

/** The name stands at the right, on a line of its own where there is no room, and in brackets where nothing is cut. */
function named(head: string, id: string, { paint, size: { columns } }: LineStyle): string[] {
  if (!Number.isFinite(columns)) return [`${head} ${paint.dim(`(${id})`)}`]
  const room = Math.min(columns, readable)
  const lines = wrap(head, room)
  const last = lines.pop() ?? ''
  const left = room - paintedWidth(last) - displayWidth(id)
  if (columns < roomForRight) return [...lines, last, `   ${paint.dim(id)}`]
  if (left >= 2) return [...lines, `${last}${' '.repeat(left)}${paint.dim(id)}`]
  return [...lines, last, `${' '.repeat(Math.max(3, room - displayWidth(id)))}${paint.dim(id)}`]
}

/** Those that the sentence does not name; that it is about the KubeVirt resource goes without saying. */
function objectsText({ objects = [], summary }: ReportedFinding, { wide }: Size): string {
  const words = new Set(summary.split(/[\s(),;:"]+/u))
  const isSaid = (name: string) => words.has(name) || words.has(name.slice(name.indexOf('/') + 1))
  const more = objects.filter((name) => !isSaid(bare(name)) && !name.startsWith('kubevirt/'))
  const shown = wide ? more : more.slice(0, objectsShown)
  const rest = more.length - shown.length
  return onOneLine(rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', '))
}

/** Without what is said of it: `demo/web-1 (why)`, `VIRT_API_IMAGE=image`. */
const bare = (name: string): string => name.replace(/[=( ].*$/su, '')

/** How many checks there were and what became of them, then what they found, with its marks; both add up. Last, what to do next. */
function checkSummary(document: CheckDocument, paint: Paint): string[] {
  const { items, outcome } = document
  const findings = items.filter(({ is }) => is === 'found').flatMap((item) => item.findings)
  return [
    `${count(items.length, 'check')}: ${became(items, paint).join(', ')}`,
    ...(findings.length > 0 ? [`${count(findings.length, 'finding')}: ${levels(findings, paint)}`] : []),
    ...next(document, outcome).map((line) => `${paint.mark.next} ${line}`),
  ]
}

function became(items: readonly ReportedCheck[], paint: Paint): string[] {
  const many = (wanted: ReportedCheck['is']) => items.filter(({ is }) => is === wanted).length
  const skipped = (flag: string) =>
    items.filter(({ is, without = '--to' }) => is === 'skipped' && without === flag).length
  const parts: readonly (readonly [number, (n: number) => string])[] = [
    [many('passed'), (n) => `${paint.good(paint.mark.done)} ${n} passed`],
    [many('found'), (n) => `${n} found something`],
    [many('not-checked'), (n) => `${markOf('not-checked', paint)} ${n} not checked`],
    ...(['--to', '--probe-images'] as const).map(
      (flag) => [skipped(flag), (n: number) => `${n} skipped without ${flag}`] as const,
    ),
  ]
  return parts.filter(([n]) => n > 0).map(([n, words]) => words(n))
}

function levels(findings: readonly ReportedFinding[], paint: Paint): string {
  const open = findings.filter(({ accepted }) => !accepted)
  const nouns = { blocker: 'blocker', warning: 'warning', info: 'note' } as const
  const parts = (['blocker', 'warning', 'info'] as const).map((level) => {
    const n = open.filter((finding) => finding.level === level).length
    return n === 0 ? [] : [`${markOf(level, paint)} ${count(n, nouns[level])}`]
  })
  const taken = findings.length - open.length
  return [...parts.flat(), ...(taken > 0 ? [`${taken} accepted`] : [])].join(', ')
}

function next({ items, to, strict, kubevirt }: CheckDocument, outcome: Reported['outcome']): string[] {
  // Where it is there already nothing is to be typed.
  if (outcome === 'passed') return to === undefined || to === kubevirt.version ? [] : [upgradeLine(to, items)]
  const stops = new Set(['blocker', 'not-checked', ...(strict ? ['warning'] : [])])
  const first = items
    .flatMap(({ findings }) => findings)
    .find(({ level, accepted }) => !accepted && stops.has(level))
  return first ? [`kvup explain ${first.id}`] : []
}

/** With the risks that were accepted here: without them it would be refused. */
function upgradeLine(to: string, items: readonly ReportedCheck[]): string {
  const accepted = items.flatMap(({ findings }) => findings).filter((finding) => finding.accepted)
  const risks = new Map(accepted.map(({ id, reason }) => [id, reason === undefined ? id : `${id}=${reason}`]))
  return [
    `kvup upgrade --to ${to}`,
    ...[...risks.values()].map((risk) => `--accept ${shellWord(risk)}`),
  ].join(' ')
}

/** JUnit XML: a suite for each group, a case for each check. A blocker fails; what could not be made is skipped. */
export function junit(document: CheckDocument): string {
  const groups = [...new Set(document.items.map(({ group }) => group))]
  return xmlFile(
    element(
      'testsuites',
      { name: 'kvup check', ...totals(document.items, document.strict) },
      groups.map((group) => suite(group, document)),
    ),
  )
}

function suite(group: string, { items, strict, takenAt }: CheckDocument): string {
  const own = items.filter((item) => item.group === group)
  const timestamp = takenAt.replace(/\.\d+|Z$/gu, '')
  const cases = own.map((item) => testCase(item, strict))
  return element('testsuite', { name: group, ...tally(own, strict), timestamp }, cases)
}

function tally(items: readonly ReportedCheck[], strict: boolean): Record<string, number> {
  const outcomes = items.map((item) => outcomeOf(item, strict))
  const many = (is: string) => outcomes.filter((one) => one === is).length
  return { tests: items.length, failures: many('failure'), errors: 0, skipped: many('skipped') }
}

/** The schema knows no sum of the skipped ones. */
function totals(items: readonly ReportedCheck[], strict: boolean): Record<string, number> {
  const { skipped: _, ...rest } = tally(items, strict)
  return rest
}

type Outcome = 'failure' | 'skipped' | 'passed'

function outcomeOf({ is, findings }: ReportedCheck, strict: boolean): Outcome {
  if (is === 'skipped' || is === 'not-checked') return 'skipped'
  return findings.some((finding) => fails(finding, strict)) ? 'failure' : 'passed'
}

function fails({ level, accepted }: ReportedFinding, strict: boolean): boolean {
  return !accepted && (level === 'blocker' || (strict && level === 'warning'))
}

function testCase(item: ReportedCheck, strict: boolean): string {
  const { id, group, title, findings, without } = item
  const outcome = outcomeOf(item, strict)
  const message = findings.map(({ summary }) => summary).join('; ')
  const body = {
    failure: () => [
      element(
        'failure',
        {
          message: findings
            .filter((one) => fails(one, strict))
            .map(({ summary }) => summary)
            .join('; '),
          type: 'blocker',
        },
        [escaped(findings.map(textOf).join('\n'))],
      ),
    ],
    skipped: () => [element('skipped', {}, [escaped(message || `needs ${without ?? '--to'}`)])],
    passed: () =>
      findings.length > 0 ? [element('system-out', {}, [escaped(findings.map(textOf).join('\n'))])] : [],
  }[outcome]()
  return element('testcase', { name: `${id}: ${title}`, classname: `kvup.${group}`, time: 0 }, body)
}

const textOf = ({ id, level, summary, remedy, accepted }: ReportedFinding) =>
  [`${accepted ? 'accepted ' : ''}${level} ${id}: ${summary}`, ...remedy.map((line) => `-> ${line}`)].join(
    '\n',
  )

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

const sarifLevels: Readonly<Record<ReportedFinding['level'], string>> = {
  blocker: 'error',
  warning: 'warning',
  info: 'note',
  'not-checked': 'none',
}

/** SARIF 2.1.0: a rule for each check, a result for each finding; what was accepted is suppressed. */
export function sarif(document: CheckDocument): string {
  const { items, kvup, takenAt } = document
  const run = {
    tool: { driver: { name: 'kvup', semanticVersion: kvup, rules: items.map(rule) } },
    invocations: [{ executionSuccessful: true, endTimeUtc: takenAt }],
    results: items.flatMap((item, ruleIndex) =>
      item.findings.map((finding) => result(finding, item, ruleIndex)),
    ),
  }
  return jsonText({ $schema: schema, version: '2.1.0', runs: [run] })
}

function rule({ id, title, group, runbook }: ReportedCheck): object {
  const more = runbook && { helpUri: `https://kubevirt.io/monitoring/runbooks/${runbook}` }
  return {
    id,
    shortDescription: { text: title },
    help: { text: `kvup explain ${id}` },
    ...more,
    properties: { group },
  }
}

/** What could not be looked at is `open`, and an `open` result has no level (3.27.10). */
function result(finding: ReportedFinding, { id, is }: ReportedCheck, ruleIndex: number): object {
  const { level, summary, remedy, accepted, reason, objects = [] } = finding
  const open = is === 'not-checked'
  return {
    ruleId: id,
    ruleIndex,
    kind: open ? 'open' : 'fail',
    level: open ? 'none' : sarifLevels[level],
    message: { text: [summary, ...remedy.map((line) => `-> ${line}`)].join('\n') },
    ...(objects.length > 0 && { locations: [{ logicalLocations: objects.map(location) }] }),
    ...(accepted && {
      suppressions: [{ kind: 'external', status: 'accepted', ...(reason && { justification: reason }) }],
    }),
    properties: { finding: finding.id, level },
  }
}

const location = (name: string) => ({ fullyQualifiedName: name, kind: 'resource' })

/** For a merge request: what was found first, what passed below it. */
export function checkMarkdown(document: CheckDocument): string {
  const { items, counts, outcome, kubevirt, to } = document
  const found = items.filter(({ findings }) => findings.length > 0)
  const passed = items.filter(({ is }) => is === 'passed')
  return [
    `# kvup check: KubeVirt ${markdownText(kubevirt.version ?? 'unknown')}${to === undefined ? '' : ` to ${markdownText(to)}`}: ${outcome}`,
    '',
    `${counts.blockers} blockers, ${counts.warnings} warnings, ${counts.notChecked} not checked, ${counts.accepted} accepted, ${counts.passed} passed`,
    '',
    ...found.flatMap(section),
    ...headed(
      'Passed',
      passed.map(({ id, title }) => `- \`${id}\`: ${markdownText(title)}`),
    ),
  ].join('\n')
}

function section({ id, group, findings }: ReportedCheck): string[] {
  return [`## ${group}: \`${id}\``, '', ...findings.flatMap(entry), '']
}

function entry({ id, level, summary, remedy, accepted, reason }: ReportedFinding): string[] {
  const taken = accepted ? ` (accepted${reason ? `: ${markdownText(reason)}` : ''})` : ''
  return [
    `- **${level}** \`${id}\`${taken}: ${markdownText(summary)}`,
    ...(remedy.length > 0 ? ['', ...fenced(remedy).map((line) => `  ${line}`), ''] : []),
  ]
}
