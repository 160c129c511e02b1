import { brief } from '../brief.ts'
import { displayWidth, pad } from '../display-width.ts'
import type { Paint, Size, View } from '../printer.ts'
import { wrap } from '../wrap.ts'
import type { EusPlanDocument } from './eus-plan-document.ts'
import { eusPlanMarkdown } from './eus-plan-markdown.ts'
import {
  headText,
  outageLines,
  isStop,
  keptLines,
  wayLines,
  type WayLine,
  wayText,
  whyNotYet,
} from './eus-plan-words.ts'
import { acceptanceText, judgedFindings, sealText } from './upgrade-plan-words.ts'

export const eusPlanView: View<EusPlanDocument> = {
  text: (plan, paint, size) => lines({ plan, paint, size }).flatMap((line) => wrap(line, size.columns)),
  names: ({ steps }) => steps.map(({ id }) => `step/${id}`),
  formats: { markdown: eusPlanMarkdown },
}

interface Page {
  plan: EusPlanDocument
  paint: Paint
  size: Size
}

const indent = ' '.repeat(4)

function lines(page: Page): readonly string[] {
  const { plan, paint } = page
  return [
    paint.strong(headText(plan, paint.mark.next)),
    wayText(plan),
    'nothing was changed',
    ...(plan.seal ? [sealText(plan.seal)] : []),
    ...section(judgedFindings(plan).flatMap((judged) => findingLines(judged, page))),
    ...section(wayLines(plan).flatMap((line, i) => stopLines(line, i + 1, page))),
    ...section(labelled(keptLines(plan), paint)),
    ...section(outageLines(plan)),
    ...section(plan.notes.map((line) => `${paint.mark.dot} ${line}`)),
    ...section(plan.unknown.map((line) => `? not known: ${brief(line)}`)),
    '',
    ...endLines(page),
  ]
}

const section = (some: readonly string[]): readonly string[] => (some.length === 0 ? [] : ['', ...some])

function findingLines(
  { finding, accepted }: ReturnType<typeof judgedFindings>[number],
  { paint }: Page,
): readonly string[] {
  const { id, level, summary, remedy } = finding
  if (accepted) {
    const taken = ['accepted', acceptanceText(accepted)].filter(Boolean).join(', ')
    return [`${paint.mark.dot} ${taken}: ${brief(summary)} (${id})`]
  }
  return [
    `${markOf(level, paint)} ${level === 'info' ? 'note' : level}: ${brief(summary)} (${id})`,
    ...remedy.map((line) => `  ${paint.mark.next} ${line}`),
  ]
}

function markOf(level: EusPlanDocument['findings'][number]['level'], paint: Paint): string {
  if (isStop(level)) return paint.bad(paint.mark.failed)
  return level === 'info' ? paint.mark.dot : paint.warn(paint.mark.warning)
}

function stopLines(
  { what, why, done, under }: WayLine,
  number: number,
  { plan, paint, size }: Page,
): string[] {
  const width = size.columns < 60 ? 0 : Math.max(0, ...wayLines(plan).map((line) => displayWidth(line.what)))
  const head = `${String(number).padStart(3)} ${pad(what, width)}   ${why}`
  return [
    done ? paint.dim(head) : head,
    ...under.map(([label, text]) => `${indent}${paint.dim(`${label}:`)} ${text}`),
  ]
}

function labelled(entries: readonly (readonly [string, string])[], paint: Paint): readonly string[] {
  const width = Math.max(0, ...entries.map(([label]) => label.length))
  return entries.map(([label, text]) => `${paint.dim(pad(label, width))}   ${text}`)
}

function endLines({ plan, paint }: Page): readonly string[] {
  const why = whyNotYet(plan)
  const mark = plan.pending ? paint.bad(paint.mark.failed) : paint.good(paint.mark.done)
  return [
    ...(plan.pending ? [`takes ${plan.time.says}`] : []),
    ...(why === undefined ? [] : [`${mark} ${why}`]),
    ...(plan.next ?? []).map((line) => `${paint.mark.next} ${line}`),
  ]
}
