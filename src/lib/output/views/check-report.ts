import type { CheckDocument } from '../check-document.ts'
import { junit } from '../junit.ts'
import { checkMarkdown } from '../markdown.ts'
import type { Paint, Size, View } from '../printer.ts'
import { sarif } from '../sarif.ts'
import { wrap } from '../wrap.ts'
import { checkLines } from './check-lines.ts'
import { checkSummary } from './check-summary.ts'

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
    shown.filter((item) => item.group === group).flatMap((item) => checkLines(item, paint, size))
  return [
    ...groups.flatMap((group) => [group as string].concat(linesOf(group))),
    '',
    ...checkSummary(document, paint),
  ]
}
