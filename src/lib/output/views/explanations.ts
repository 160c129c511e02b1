import type { Explanation } from '../../checks/explanations.ts'
import type { Group } from '../../checks/check-definition.ts'
import { pad, wrap } from '../text.ts'
import type { Document, Paint, Size, View } from '../printer.ts'

export interface ExplanationsDocument extends Document {
  kind: 'Explanations'
  /** One was asked for, and is shown whole. */
  whole: boolean
  /** The command or the group of checks that was asked for: `items` are the findings that it meets. */
  subject?: {
    name: string
    description?: string
    commands: readonly { command: string; description: string }[]
  }
  /** `meaning` is what it says in a line; `title` what is true when the check of this name passes; `is` of what KubeVirt's programs log. */
  items: readonly (Explanation & {
    meaning: string
    title?: string
    group?: Group
    runbook?: string
    is?: 'harmless' | 'fault'
  })[]
}

type Item = ExplanationsDocument['items'][number]

export const explanationsView: View<ExplanationsDocument> = {
  text: ({ items, whole, subject }, paint, size) =>
    whole
      ? items.flatMap((item) => page(item, paint, size))
      : [...(subject ? subjectLines(subject, paint, size) : []), ...list(items, size)],
  names: ({ items }) => items.map(({ id, is }) => `${is === undefined ? 'finding' : 'message'}/${id}`),
}

const readable = 100

type Subject = NonNullable<ExplanationsDocument['subject']>

/** Above the findings; a group of checks has no more than its name, which was typed. */
function subjectLines(
  { name, description, commands }: Subject,
  paint: Paint,
  { columns }: Size,
): readonly string[] {
  if (description === undefined) return []
  const width = Math.min(columns, readable)
  const widest = Math.max(0, ...commands.map(({ command }) => command.length)) + 3
  const rows = commands.map((one) => `${pad(one.command, widest)}${one.description}`)
  const help = `kvup ${name} --help says more; what it may meet:`
  return [paint.strong(name), ...[description, ...rows, help].flatMap((line) => wrap(line, width)), '']
}

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
