import type { AcceptedRisk } from '../../releases/hop-findings.ts'
import type { Reported, ReportedCheck, ReportedFinding } from '../../checks/check-run.ts'
import type { Document, Paint, Size, View } from '../printer.ts'
import {
  brief,
  firstClause,
  count,
  displayWidth,
  fenced,
  headed,
  markdownText,
  paintedWidth,
  wrap,
  helpLine,
  plainHelpLine,
} from '../text.ts'
import { onOneLine, toType } from '../terminal.ts'
import type { ClusterAddress } from '../../kube/cluster.ts'
import { element, escaped, xmlFile } from '../formats/junit.ts'

/** `kvup.io/v1alpha1 CheckReport`: what `kvup check` found. */
export interface CheckDocument extends Document, Reported {
  kind: 'CheckReport'
  takenAt: string
  /** Absent of a saved cluster. */
  cluster?: ClusterAddress
  kubevirt: { name: string; namespace: string; version?: string }
  /** Absent where KubeVirt is not HyperConverged's. */
  hyperconverged?: { version: string }
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
  /** A later patch of the target, with the fix of these findings; absent where nothing is known of the target that a later patch lacks. */
  better?: { to: string; fixes: readonly string[] }
  /** What to type next. */
  next: readonly string[]
}

/** Findings, worst first; of what passed the numbers. */
export const checkView: View<CheckDocument> = viewOf(false)
/** With `--all`: every check by its title, and every finding with what helps. */
export const wholeCheckView: View<CheckDocument> = viewOf(true)

function viewOf(isWhole: boolean): View<CheckDocument> {
  return {
    text(document, paint, size) {
      const style = { paint, size, detail: isWhole || size.wide ? 'whole' : 'findings' } as const
      const lines = shownLines(document, style)
      const isTooMuch = Number.isFinite(size.columns) && lines.length > screen
      return isTooMuch && style.detail !== 'whole' && document.outcome === 'blocked'
        ? shownLines(document, { ...style, detail: 'blockers' })
        : lines
    },
    names: ({ items }) => [
      ...new Set(items.flatMap(({ findings }) => findings.map(({ id }) => `check/${id}`))),
    ],
    formats: { junit, markdown: checkMarkdown },
  }
}

/** So many lines stay in sight on the smallest terminal that people use; what blocks has to be among them. */
const screen = 24

interface Style {
  paint: Paint
  size: Size
  /** `whole`: each check, and what helps against an info; `blockers`: what helps against these alone, where all of it is more than a screen. */
  detail: 'whole' | 'findings' | 'blockers'
  /** The flag that shows the whole; default `--all`. */
  all?: string
}

const shownLines = (document: CheckDocument, style: Style): string[] =>
  reportLines(document, style).flatMap((line) => wrap(line, style.size.columns))

/** Under which heading a finding stands. */
type Severity = 'BLOCKER' | 'NOT CHECKED' | 'WARNING' | 'ACCEPTED' | 'INFO'

/** The worst first. */
const severities: readonly Severity[] = ['BLOCKER', 'NOT CHECKED', 'WARNING', 'ACCEPTED', 'INFO']

interface Shown {
  finding: ReportedFinding
  severity: Severity
}

/** Findings as a check shows them, where something else stands beside them: what stops it with what helps, and the others in a line each. With `-o wide` all that helps. */
export function findingSections(
  findings: readonly ReportedFinding[],
  { paint, size }: Pick<Style, 'paint' | 'size'>,
): { stops: readonly string[]; others: readonly string[] } {
  const shown = findings.map((finding) => ({ finding, severity: severityOf(finding) }))
  const linesOf = (severity: Severity): readonly string[] => {
    const own = shown.filter((one) => one.severity === severity).map(({ finding }) => finding)
    if (own.length === 0) return []
    const isBrief = severity === 'WARNING' && !size.wide
    const detail = size.wide ? 'whole' : isBrief ? 'blockers' : 'findings'
    const lines = sectionLines(severity, own, { paint, size, detail, all: '-o wide' })
    const more = isBrief && own.some(({ remedy }) => remedy.length > 0) ? ' (fixes: -o wide)' : ''
    return [`${severity}${more}`, ...lines]
  }
  return {
    stops: [...linesOf('BLOCKER'), ...linesOf('NOT CHECKED')],
    others: [...linesOf('WARNING'), ...linesOf('ACCEPTED'), ...linesOf('INFO')],
  }
}

function reportLines(document: CheckDocument, style: Style): string[] {
  const all = document.items.flatMap((item) =>
    item.findings.map((finding): Shown => ({ finding, severity: severityOf(finding, item) })),
  )
  const shown = severities.flatMap((wanted) => all.filter(({ severity }) => severity === wanted))
  const found = severities.flatMap((severity) => {
    const own = shown.filter((one) => one.severity === severity).map(({ finding }) => finding)
    if (own.length === 0) return []
    const lines = sectionLines(severity, own, style)
    // Of names alone one line.
    const isNames = severity === 'INFO' && style.detail === 'blockers'
    const more = severity === 'WARNING' && style.detail === 'blockers' ? ' (fixes: --all)' : ''
    return isNames ? lines.map((line) => `${severity}${line}`) : [`${severity}${more}`].concat(lines)
  })
  return [
    headLine(document, shown, style.paint),
    '',
    ...found,
    ...(found.length > 0 && style.detail === 'whole' ? [''] : []),
    ...(style.detail === 'whole' ? titleLines(document, style) : []),
    tallyLine(document, style),
    ...endLines(document, shown, style.paint),
  ]
}

function severityOf({ accepted, level }: ReportedFinding, check?: ReportedCheck): Severity {
  if (accepted) return 'ACCEPTED'
  if (check?.is === 'not-checked' || level === 'not-checked') return 'NOT CHECKED'
  return ({ blocker: 'BLOCKER', warning: 'WARNING', info: 'INFO' } as const)[level]
}

/** `NOT READY: 1 blocker, 1 warning · KubeVirt v1.7.4 → v1.8.4 on prod-eu (https://10.0.0.1:6443)` */
function headLine(document: CheckDocument, shown: readonly Shown[], paint: Paint): string {
  const { cluster } = document
  const on = cluster === undefined ? '' : ` on ${clusterText(cluster)}`
  const newer = newerText(
    shown.map(({ finding }) => finding),
    paint,
  )
  return `${verdict(document, paint)}: ${countsText(document, shown)} ${paint.mark.dot} ${hopText(document, paint.mark.to)}${newer}${on}`
}

/** The versions on both sides of an arrow are of one thing: by OLM of HyperConverged. */
function hopText({ kubevirt, to, method, hyperconverged }: CheckDocument, arrow: string): string {
  const version = kubevirt.version ?? 'that was never installed completely'
  if (to === undefined || to === version) return `KubeVirt ${version}`
  if (method !== 'olm') return `KubeVirt ${version} ${arrow} ${to}`
  const from = hyperconverged === undefined ? '' : `${hyperconverged.version} `
  return `HyperConverged ${from}${arrow} ${to} (KubeVirt ${version})`
}

/** `prod-eu (https://10.0.0.1:6443)` */
export const clusterText = ({ context, server }: ClusterAddress): string =>
  context === undefined ? server : `${context} (${server})`

/** ` · newer than kvup's data of 2026-08-22` of a release that its manifest proves; else empty. */
export function newerText(
  findings: readonly Pick<ReportedFinding, 'newerThan'>[],
  { mark }: Pick<Paint, 'mark'>,
): string {
  const asOf = findings.find(({ newerThan }) => newerThan !== undefined)?.newerThan
  return asOf === undefined ? '' : ` ${mark.dot} newer than kvup's data of ${asOf}`
}

function verdict({ outcome, items }: CheckDocument, paint: Paint): string {
  if (outcome === 'passed') return paint.good('READY')
  const open = items.flatMap(({ findings }) => findings).filter(({ accepted }) => !accepted)
  const isUnproven = open.some(({ id, level }) => id === 'release-unknown' && level === 'not-checked')
  const isBlocked = open.some(({ level }) => level === 'blocker')
  return paint.bad(isUnproven && !isBlocked ? 'NOT CHECKED' : 'NOT READY')
}

function countsText({ items, strict }: CheckDocument, shown: readonly Shown[]): string {
  const many = (wanted: Severity) => shown.filter(({ severity }) => severity === wanted).length
  const unseen = items.filter(({ is }) => is === 'not-checked').length
  const parts: readonly (readonly [number, string])[] = [
    [many('BLOCKER'), count(many('BLOCKER'), 'blocker')],
    [unseen, `${unseen} not checked`],
    [many('WARNING'), `${count(many('WARNING'), 'warning')}${strict ? ' (--strict)' : ''}`],
    [many('ACCEPTED'), `${many('ACCEPTED')} accepted`],
    [many('INFO'), count(many('INFO'), 'info')],
  ]
  const there = parts.filter(([n]) => n > 0).map(([, text]) => text)
  return there.length === 0 ? 'nothing found' : there.join(', ')
}

/** No sentence is wider, however wide the terminal is. */
const readable = 100
/** Below this many columns an id does not stand at the right any more. */
const roomForRight = 60
/** Of its objects a finding shows so many. */
const objectsShown = 3

function sectionLines(severity: Severity, findings: readonly ReportedFinding[], style: Style): string[] {
  if (severity === 'INFO' && style.detail !== 'whole') return infoLines(findings, style)
  if (severity === 'NOT CHECKED') return uncheckedLines(findings, style)
  if (severity === 'WARNING' && style.detail === 'blockers') return warningLines(findings, style)
  return findings.flatMap((finding) => findingLines(finding, severity, style))
}

/** So many checks with the same remedy are told in full; of the others the names. */
const uncheckedShown = 2

/** Many checks may lack one and the same: it is said once, in one line, and what gives it below the last of them. Those that block come first. */
function uncheckedLines(findings: readonly ReportedFinding[], style: Style): string[] {
  const { paint, detail } = style
  const sorted = findings.toSorted((a, b) => Number(isBlocking(b)) - Number(isBlocking(a)))
  const byRemedy = Map.groupBy(sorted, ({ remedy }) => remedy.join('\n'))
  const lines: string[] = []
  for (const alike of byRemedy.values()) {
    const { shared = [], own = [] } = Object.groupBy(alike, (finding) =>
      detail !== 'whole' && hasCompany(finding, alike) ? 'shared' : 'own',
    )
    for (const [why, lack] of Map.groupBy(shared, reasonOf)) {
      const ids = lack.map(({ id }) => id).join(', ')
      lines.push(
        ` ${markOf('NOT CHECKED', paint)} ${lack.length} checks were not made: ${brief(why ?? '')} (${ids})`,
      )
    }
    const most = detail === 'whole' || own.length <= uncheckedShown + 1 ? own.length : uncheckedShown
    for (const finding of own.slice(0, most)) lines.push(...headLines(finding, 'NOT CHECKED', style))
    const others = own.slice(most).map(({ id }) => id)
    if (others.length > 0)
      lines.push(` ${markOf('NOT CHECKED', paint)} ${others.length} more: ${others.join(', ')}`)
    lines.push(...remedyLines(alike[0]?.remedy ?? [], paint))
  }
  return lines
}

/** What a check lacks: behind what was not done. */
const reasonOf = ({ summary }: ReportedFinding): string | undefined =>
  /^.*? (?:was|were) not .*?: (?<why>.*)$/su.exec(summary)?.groups?.['why']

/** Others lack the very same. */
function hasCompany(finding: ReportedFinding, among: readonly ReportedFinding[]): boolean {
  const why = reasonOf(finding)
  return why !== undefined && among.some((other) => other !== finding && reasonOf(other) === why)
}

const isBlocking = ({ level }: ReportedFinding): boolean => level === 'not-checked'

/** What each is, in a line; what helps stands behind `--all`. */
function warningLines(findings: readonly ReportedFinding[], style: Style): string[] {
  const { paint } = style
  return findings.flatMap((finding) =>
    named(` ${markOf('WARNING', paint)} ${firstClause(finding.summary)}`, finding.id, style),
  )
}

/** The first in a line, the others by their names. That there is no way back comes before everything else, then that nobody knows the target: it may be mistyped. */
function infoLines(findings: readonly ReportedFinding[], style: Style): string[] {
  const { paint, detail, all = '--all' } = style
  const sorted = findings.toSorted((a, b) => Number(isWayBack(b)) - Number(isWayBack(a)))
  const told =
    detail === 'blockers' ? [] : sorted.filter((finding, at) => at === 0 || finding.id === 'release-unknown')
  const names = [...new Set(sorted.filter((one) => !told.includes(one)).map(({ id }) => id))].join(', ')
  const mark = markOf('INFO', paint)
  return [
    ...told.flatMap((finding) => named(` ${mark} ${firstClause(finding.summary)}`, finding.id, style)),
    ...(names === ''
      ? []
      : [
          ` ${mark} ${told.length > 0 ? 'also ' : ''}${names} ${paint.dim(`(kvup explain NAME, or ${all})`)}`,
        ]),
  ]
}

const isWayBack = ({ id }: ReportedFinding): boolean => id === 'cannot-be-undone'

function findingLines(finding: ReportedFinding, severity: Severity, style: Style): string[] {
  const lines = headLines(finding, severity, style)
  return severity === 'ACCEPTED' ? lines : lines.concat(remedyLines(finding.remedy, style.paint))
}

function headLines(
  { summary, reason, id, ...finding }: ReportedFinding,
  severity: Severity,
  style: Style,
): string[] {
  const { paint, size } = style
  const taken = severity === 'ACCEPTED' && reason !== undefined && reason !== '' ? `${reason}: ` : ''
  const objects = objectsText({ ...finding, summary, id }, size)
  return [
    ...named(` ${markOf(severity, paint)} ${taken}${whole(summary, style)}`, id, style),
    ...(objects === '' ? [] : [paint.dim(`   ${objects}`)]),
  ]
}

/** In a pipe a text is whole up to so many letters: the longest of kvup's own is shorter, and what others write may go on for kilobytes. */
const pipedAtMost = 900

function whole(text: string, { size }: Style): string {
  const line = onOneLine(text)
  return Number.isFinite(size.columns) || line.length > pipedAtMost ? brief(text) : line
}

const remedyLines = (remedy: readonly string[], paint: Paint): string[] =>
  remedy.map((line) => `   ${helpLine(line, { mark: { next: paint.dim(paint.mark.next) } })}`)

/** The shape of a severity; its heading says the same in a word. */
function markOf(severity: Severity, paint: Paint): string {
  const { mark } = paint
  return {
    BLOCKER: () => paint.bad(mark.failed),
    'NOT CHECKED': () => paint.bad('?'),
    WARNING: () => paint.warn(mark.warning),
    ACCEPTED: () => paint.dim(mark.dot),
    INFO: () => paint.dim(mark.dot),
  }[severity]()
}

/** The name stands at the right, on a line of its own where there is no room, and in brackets where nothing is cut. */
function named(head: string, id: string, { paint, size: { columns } }: Style): string[] {
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

/** Each check that found nothing, by the sentence that is true then; one that was not made with the reason. */
function titleLines({ items }: CheckDocument, style: Style): string[] {
  const { paint } = style
  const lines: string[] = []
  let group = ''
  for (const item of items.filter(({ is }) => is === 'passed' || is === 'skipped')) {
    if (item.group !== group) lines.push((group = item.group))
    const head =
      item.is === 'passed'
        ? ` ${paint.good(paint.mark.done)} ${item.title}`
        : ` ${paint.dim(paint.mark.dot)} not made (${leftOut(item)}): ${item.title}`
    lines.push(...named(head, item.id, style))
  }
  return lines.length === 0 ? [] : lines.concat('')
}

/** Why a check was not made. */
const leftOut = ({ without = '--to', why }: ReportedCheck): string => why ?? `needs ${without}`

/** `54 checks passed, 3 found something, 1 was not made, 1 needs --probe-images`: each check is in one of them. */
function tallyLine({ items }: CheckDocument, { detail }: Style): string {
  const many = (wanted: ReportedCheck['is']) => items.filter(({ is }) => is === wanted).length
  const parts = [
    `${count(many('passed'), 'check')} passed`,
    ...(many('found') > 0 ? [`${many('found')} found something`] : []),
    ...(many('not-checked') > 0 ? [`${many('not-checked')} ${wasOrWere(many('not-checked'))} not made`] : []),
    ...skippedTexts(items.filter(({ is }) => is === 'skipped')),
  ]
  return `${parts.join(', ')}${detail === 'whole' ? '' : ' (each: --all)'}`
}

const wasOrWere = (n: number): string => (n === 1 ? 'was' : 'were')

/** `22 need a target version (--to)`, for each reason. */
const skippedTexts = (skipped: readonly ReportedCheck[]): readonly string[] =>
  [...Map.groupBy(skipped, leftOut)].map(([why, { length }]) =>
    `${length} ${length === 1 ? why : why.replace(/^needs/u, 'need')}`.replace(
      /--to$/u,
      'a target version (--to)',
    ),
  )

/** The verdict once more, since a long report has scrolled its head away, and what to type. */
function endLines(document: CheckDocument, shown: readonly Shown[], paint: Paint): string[] {
  const stopping = shown.filter((one) => stops(one, document))
  const worst = stopping[0]?.finding
  const more = stopping.length > 1 ? `, and ${stopping.length - 1} more` : ''
  const { better } = document
  const but =
    better === undefined ? '' : `, but ${better.to} is better: it has the fix of ${better.fixes.join(', ')}`
  const why = worst === undefined ? but : `: ${firstClause(worst.summary)} (${worst.id})${more}`
  const [first, ...rest] = document.next
  return [
    `${verdict(document, paint)}${why}`,
    ...(first === undefined ? [] : [toType('Next:', first)]),
    ...rest.map((line) => `      ${line}`),
  ]
}

/** In the order of the report: the worst is first. */
function stops({ severity, finding }: Shown, { strict }: CheckDocument): boolean {
  if (severity === 'NOT CHECKED') return finding.level === 'not-checked' || strict
  return severity === 'BLOCKER' || (strict && severity === 'WARNING')
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
  const { id, group, title, findings } = item
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
    skipped: () => [element('skipped', {}, [escaped(message || leftOut(item))])],
    passed: () =>
      findings.length > 0 ? [element('system-out', {}, [escaped(findings.map(textOf).join('\n'))])] : [],
  }[outcome]()
  return element('testcase', { name: `${id}: ${title}`, classname: `kvup.${group}`, time: 0 }, body)
}

const textOf = ({ id, level, summary, remedy, accepted }: ReportedFinding) =>
  [`${accepted ? 'accepted ' : ''}${level} ${id}: ${summary}`, ...remedy.map(plainHelpLine)].join('\n')

/** For a merge request: what was found first, what passed below it. */
export function checkMarkdown(document: CheckDocument): string {
  const { items, counts, outcome } = document
  const found = items.filter(({ findings }) => findings.length > 0)
  const passed = items.filter(({ is }) => is === 'passed')
  return [
    `# kvup check: ${markdownText(hopText(document, 'to'))}: ${outcome}`,
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

function section({ id, group, is, findings }: ReportedCheck): string[] {
  const told = findings.map((one) => (is === 'not-checked' ? { ...one, level: is } : one))
  return [`## ${group}: \`${id}\``, '', ...told.flatMap(entry), '']
}

function entry({ id, level, summary, remedy, accepted, reason }: ReportedFinding): string[] {
  const taken = accepted ? ` (accepted${reason ? `: ${markdownText(reason)}` : ''})` : ''
  return [
    `- **${level}** \`${id}\`${taken}: ${markdownText(summary)}`,
    ...(remedy.length > 0 ? ['', ...fenced(remedy).map((line) => `  ${line}`), ''] : []),
  ]
}
