import type { Reported, ReportedCheck, ReportedFinding } from '../../checks/report.ts'
import type { CheckDocument } from '../check-document.ts'
import { count } from '../count.ts'
import { displayWidth, pad } from '../display-width.ts'
import { junit } from '../junit.ts'
import { checkMarkdown } from '../markdown.ts'
import type { Paint, Size, View } from '../printer.ts'
import { sarif } from '../sarif.ts'
import { wrap } from '../wrap.ts'

export const checkView: View<CheckDocument> = {
  text: (document, paint, size) => lines(document, paint, size).flatMap((line) => wrap(line, size.columns)),
  names: ({ items }) =>
    items.filter(({ is }) => is === 'found' || is === 'not-checked').map(({ id }) => `check/${id}`),
  formats: { junit, sarif, markdown: checkMarkdown },
}

function lines(document: CheckDocument, paint: Paint, size: Size): string[] {
  const shown = document.items.filter(({ is }) => size.wide || is !== 'skipped')
  const groups = [...new Set(shown.map(({ group }) => group))]
  const linesOf = (group: string) =>
    shown.filter((item) => item.group === group).flatMap((item) => checkLines(item, paint))
  return [
    ...groups.flatMap((group) => [group as string].concat(linesOf(group))),
    '',
    summary(document, paint),
  ]
}

const titleColumn = 58

function checkLines(item: ReportedCheck, paint: Paint): string[] {
  const named = item.is === 'passed' || item.is === 'skipped' ? '' : item.id
  const title = displayWidth(item.title) < titleColumn ? pad(item.title, titleColumn) : `${item.title}  `
  const head = ` ${markOf(item, paint)} ${named === '' ? item.title : title + paint.dim(named)}`
  return [
    head + (item.is === 'skipped' ? paint.dim('   needs --to') : ''),
    ...item.findings.flatMap((finding) => findingLines(finding, item, paint)),
  ]
}

function findingLines(finding: ReportedFinding, item: ReportedCheck, paint: Paint): string[] {
  const name = finding.id === item.id ? '' : ` (${finding.id})`
  const taken = finding.accepted ? `accepted${finding.reason ? `, ${finding.reason}` : ''}: ` : ''
  return [
    `     ${taken}${finding.summary}${name}`,
    ...finding.remedy.map((line) => `     ${paint.dim(paint.mark.next)} ${line}`),
  ]
}

/** A shape for each; the worst of what was not accepted. */
function markOf({ is, findings }: ReportedCheck, paint: Paint): string {
  const { mark } = paint
  if (is === 'passed') return paint.good(mark.done)
  if (is === 'skipped') return paint.dim(mark.dot)
  const levels = new Set(findings.filter(({ accepted }) => !accepted).map(({ level }) => level))
  if (levels.has('blocker')) return paint.bad(mark.failed)
  if (levels.has('not-checked')) return paint.bad('?')
  if (levels.has('warning')) return paint.warn(is === 'not-checked' ? '?' : mark.warning)
  return paint.dim(mark.dot)
}

/** `1 blocker, 2 warnings, 22 passed · kvup explain kubernetes-window` */
function summary(document: CheckDocument, paint: Paint): string {
  const { counts, outcome } = document
  const parts = [
    ...(counts.blockers > 0 ? [paint.bad(count(counts.blockers, 'blocker'))] : []),
    ...(counts.notChecked > 0 ? [paint.bad(`${counts.notChecked} not checked`)] : []),
    ...(counts.warnings > 0 ? [paint.warn(count(counts.warnings, 'warning'))] : []),
    ...(counts.accepted > 0 ? [`${counts.accepted} accepted`] : []),
    ...(counts.skipped > 0 ? [`${counts.skipped} skipped without --to`] : []),
    `${counts.passed} passed`,
  ]
  return [parts.join(', '), ...next(document, outcome)].join(` ${paint.mark.dot} `)
}

function next({ items, to, strict }: CheckDocument, outcome: Reported['outcome']): string[] {
  if (outcome === 'passed') return to === undefined ? [] : [`kvup upgrade --to ${to}`]
  const stops = new Set(['blocker', 'not-checked', ...(strict ? ['warning'] : [])])
  const first = items
    .flatMap(({ findings }) => findings)
    .find(({ level, accepted }) => !accepted && stops.has(level))
  return first ? [`kvup explain ${first.id}`] : []
}
