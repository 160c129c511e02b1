import type { Reported, ReportedCheck, ReportedFinding } from '../../checks/report.ts'
import type { CheckDocument } from '../check-document.ts'
import { count } from '../count.ts'
import type { Paint } from '../printer.ts'
import { markOf } from './check-lines.ts'

/** How many checks there were and what became of them, then what they found, with its marks; both add up. Last, what to do next. */
export function checkSummary(document: CheckDocument, paint: Paint): string[] {
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
