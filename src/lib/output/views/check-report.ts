import type { AcceptedRisk, Reported, ReportedCheck, ReportedFinding } from '../../checks/check-run.ts'
import type { Document, Paint, Size, View } from '../printer.ts'
import { checkMarkdown, junit, sarif } from './check-report-files.ts'
import { brief, count, displayWidth, paintedWidth, wrap } from '../text.ts'
import { onOneLine } from '../sanitise.ts'

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

interface Look {
  paint: Paint
  size: Size
}

function findingLines(finding: ReportedFinding, { is }: ReportedCheck, look: Look): string[] {
  const { paint, size } = look
  const { accepted, reason, summary, remedy } = finding
  const taken = accepted ? `accepted${reason ? `, ${reason}` : ''}: ` : ''
  const mark = accepted ? paint.dim(paint.mark.dot) : markOf(is === 'not-checked' ? is : finding.level, paint)
  const objects = objectsText(finding, size)
  return [
    ...named(` ${mark} ${taken}${brief(summary)}`, finding.id, look),
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
function named(head: string, id: string, { paint, size: { columns } }: Look): string[] {
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

function next({ items, to, strict }: CheckDocument, outcome: Reported['outcome']): string[] {
  if (outcome === 'passed') return to === undefined ? [] : [`kvup upgrade --to ${to}`]
  const stops = new Set(['blocker', 'not-checked', ...(strict ? ['warning'] : [])])
  const first = items
    .flatMap(({ findings }) => findings)
    .find(({ level, accepted }) => !accepted && stops.has(level))
  return first ? [`kvup explain ${first.id}`] : []
}
