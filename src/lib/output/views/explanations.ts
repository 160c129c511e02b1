import type { Explanation } from '../../checks/explanations.ts'
import type { Group } from '../../checks/check.ts'
import { pad } from '../display-width.ts'
import type { Document, Paint, Size, View } from '../printer.ts'
import { wrap } from '../wrap.ts'

export interface ExplanationsDocument extends Document {
  kind: 'Explanations'
  /** One was asked for, and is shown whole. */
  whole: boolean
  /** `meaning` is what it says in a line; `title` what is true when the check of this name passes. */
  items: readonly (Explanation & { meaning: string; title?: string; group?: Group; runbook?: string })[]
}

type Item = ExplanationsDocument['items'][number]

export const explanationsView: View<ExplanationsDocument> = {
  text: ({ items, whole }, paint, size) =>
    whole ? items.flatMap((item) => page(item, paint, size)) : list(items, size),
  names: ({ items }) => items.map(({ id }) => `finding/${id}`),
}

const readable = 100
/** Below this many columns a meaning stands below its name. */
const roomForBoth = 60

function list(items: readonly Item[], { columns, headers }: Size): string[] {
  const widest = Math.max(0, ...items.map(({ id }) => id.length)) + 3
  if (columns < roomForBoth)
    return items.flatMap(({ id, meaning }) => [id, ...wrap(`  ${meaning}`, columns).map(hanging)])
  return [
    ...(headers === false ? [] : [`${pad('ID', widest)}MEANING`]),
    ...items.flatMap(({ id, meaning }) => wrap(pad(id, widest) + meaning, columns)),
  ]
}

const hanging = (line: string): string => line.replace(/^ {4}/u, '  ')

function page(item: Item, paint: Paint, { columns }: Size): string[] {
  const width = Math.min(columns, readable)
  return [
    paint.strong(item.id),
    ...about(item).flatMap((line) => wrap(line, width)),
    '',
    ...prose(item.text, width),
  ]
}

/** Markdown as it is read: paragraphs that fit, links as their words. */
function prose(text: string, width: number): string[] {
  return text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/gu, '$1')
    .split(/\n{2,}/u)
    .flatMap((paragraph) => wrap(paragraph.replaceAll('\n', ' '), width))
    .map((line) => line.trimStart())
}

function about({ title, group, runbook }: Item): string[] {
  return [
    ...(title === undefined ? [] : [`a check of ${group ?? 'the upgrade'}; it passes when ${title}`]),
    ...(runbook === undefined ? [] : [`runbook: https://kubevirt.io/monitoring/runbooks/${runbook}`]),
  ]
}
