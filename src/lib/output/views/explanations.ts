import type { Explanation } from '../../checks/explanations.ts'
import type { Group } from '../../checks/check.ts'
import type { Column, Document, View } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'

export interface ExplanationsDocument extends Document {
  kind: 'Explanations'
  /** One was asked for, and is shown whole. */
  whole: boolean
  items: readonly (Explanation & { title?: string; group?: Group; runbook?: string })[]
}

type Item = ExplanationsDocument['items'][number]

export const explanationsView: View<ExplanationsDocument> = {
  text: ({ items, whole }, paint, size) =>
    whole
      ? items.flatMap((item) => [
          paint.strong(item.id),
          ...about(item),
          '',
          ...prose(item.text, size.columns),
        ])
      : table(columns, items, { ...size, paint }),
  names: ({ items }) => items.map(({ id }) => `finding/${id}`),
}

const readable = 100

/** Markdown as it is read: paragraphs that fit, links as their words. */
function prose(text: string, columns: number): string[] {
  return text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/gu, '$1')
    .split(/\n{2,}/u)
    .flatMap((paragraph) => wrap(paragraph.replaceAll('\n', ' '), Math.min(columns, readable)))
}

function about({ title, group, runbook }: Item): string[] {
  return [
    ...(title === undefined ? [] : [`${group ?? ''}: ${title}`]),
    ...(runbook === undefined ? [] : [`runbook: https://kubevirt.io/monitoring/runbooks/${runbook}`]),
  ]
}

const columns: readonly Column<Item>[] = [
  { name: 'ID', cell: ({ id }) => id },
  { name: 'GROUP', cell: ({ group }) => group ?? 'upgrade' },
  { name: 'TITLE', cell: ({ title, text }) => title ?? firstSentence(text) },
]

const firstSentence = (text: string) => /^.*?[.:](?=\s|$)/su.exec(text)?.[0].replaceAll(/\s+/gu, ' ') ?? text
