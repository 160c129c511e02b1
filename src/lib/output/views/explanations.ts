import type { Explanation } from '../../checks/explanations.ts'
import type { Group } from '../../checks/check.ts'
import type { Column, Document, View } from '../printer.ts'
import { table } from '../table.ts'

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
      ? items.flatMap((item) => [paint.strong(item.id), ...about(item), '', ...item.text.split('\n')])
      : table(columns, items, { ...size, paint }),
  names: ({ items }) => items.map(({ id }) => `finding/${id}`),
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
