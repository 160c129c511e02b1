import type { ExplainedKind } from '../../checks/explanations.ts'
import type { Group } from '../../checks/check-definition.ts'
import { pad, wrap, helpLine } from '../text.ts'
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
    /** What is said of it. */
    page?: ExplainedName
  }
  items: readonly ExplainedName[]
}

/** A name and what it says: in one line, in five parts, and all of it as Markdown. */
export interface ExplainedName {
  id: string
  /** The name that was typed, where a page tells of several: `locked` of `exit-6`. */
  asked?: string
  /** What the name is: `message` of a line that KubeVirt's programs log. */
  of: ExplainedKind
  meaning: string
  text: string
  /** At which levels a finding comes; of others what they are. */
  level: string
  means: string
  matters: string
  fix: string
  /** Empty where there is nothing to accept. */
  acceptWith: string
  /** Addresses, and files of kvup's documentation. */
  docs: readonly string[]
  /** What is true when the check of this name passes. */
  title?: string
  group?: Group
  runbook?: string
  is?: 'harmless' | 'fault'
}

export const explanationsView: View<ExplanationsDocument> = {
  text: ({ items, whole, subject }, paint, size) =>
    whole
      ? items.flatMap((item, index) => [...(index === 0 ? [] : ['']), ...page(item, paint, size)])
      : [...(subject ? subjectLines(subject, paint, size) : []), ...lists(items, size)],
  names: ({ items }) => items.map(({ id, of }) => `${of === 'refusal' ? 'finding' : of}/${id}`),
}

const readable = 100

type Subject = NonNullable<ExplanationsDocument['subject']>

/** Above the findings; a group of checks has no more than its name, which was typed. */
function subjectLines(
  { name, description, commands, page: explained }: Subject,
  paint: Paint,
  size: Size,
): readonly string[] {
  if (description === undefined) return []
  const width = Math.min(size.columns, readable)
  const widest = Math.max(0, ...commands.map(({ command }) => command.length)) + 3
  const rows = commands.map((one) => `${pad(one.command, widest)}${one.description}`)
  const head = explained ? page(explained, paint, size) : [paint.strong(name), ...wrap(description, width)]
  const below = rows.length === 0 ? [] : ['', paint.strong('Commands'), ...rows.map((row) => `  ${row}`)]
  return [...head, ...below.flatMap((line) => wrap(line, width)), '', paint.strong('What it may meet')]
}

const headings: Readonly<Record<ExplainedName['of'], string>> = {
  finding: 'FINDING',
  refusal: 'REFUSAL',
  message: 'LOG-LINE',
  alert: 'ALERT',
  condition: 'CONDITION',
  component: 'COMPONENT',
  reason: 'REASON',
  command: 'COMMAND',
  'exit-code': 'EXIT-CODE',
}

/** A table for each kind of name. */
function lists(items: readonly ExplainedName[], size: Size): string[] {
  const kinds = Object.entries(headings).map(
    ([of, heading]) => [heading, items.filter((item) => item.of === of)] as const,
  )
  return kinds
    .filter(([, own]) => own.length > 0)
    .flatMap(([heading, own], index) => (index === 0 ? [] : ['']).concat(list(heading, own, size)))
}

/** Below this many columns a meaning stands below its name. */
const roomForBoth = 60

function list(heading: string, items: readonly ExplainedName[], { columns, headers }: Size): string[] {
  const widest = Math.max(heading.length, ...items.map(({ id }) => id.length)) + 3
  if (columns < roomForBoth)
    return items.flatMap(({ id, meaning }) => [id, ...wrap(`  ${meaning}`, columns).map(hanging)])
  return [
    ...(headers === false ? [] : [`${pad(heading, widest)}MEANING`]),
    ...items.flatMap(({ id, meaning }) => wrap(pad(id, widest) + meaning, columns)),
  ]
}

const hanging = (line: string): string => line.replace(/^ {4}/u, '  ')

function page(item: ExplainedName, paint: Paint, { columns }: Size): string[] {
  const width = Math.min(columns, readable)
  const parts = [
    ['What it means', item.means],
    ['Why it matters', item.matters],
    [item.of === 'command' ? 'How to use it' : 'How to fix', item.fix],
    ['Accept with', item.acceptWith],
  ] as const
  return [
    paint.strong(item.asked ?? item.id),
    ...about(item).flatMap((line) => wrap(line, width)),
    ...parts
      .filter(([, text]) => text !== '')
      .flatMap(([heading, text]) => ['', paint.strong(heading)].concat(prose(text, { paint, columns }))),
    '',
    paint.strong('Docs'),
    ...item.docs.map((line) => `  ${line}`),
  ]
}

/** Markdown as it is read: paragraphs that fit, links as their words, lines to paste after an arrow. */
function prose(text: string, { paint, columns }: { paint: Paint; columns: number }): string[] {
  const width = Math.min(columns, readable)
  return text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/gu, '$1')
    .split(/\n{2,}/u)
    .flatMap((paragraph) =>
      paragraph.startsWith('    ')
        ? paragraph.split('\n').flatMap((line) => wrap(`  ${helpLine(line.trim(), paint)}`, columns))
        : wrap(paragraph.replaceAll('\n', ' '), width - 2).map((line) => `  ${line.trimStart()}`),
    )
}

function about({ title, group, level }: ExplainedName): string[] {
  return [
    level,
    ...(title === undefined ? [] : [`Check of ${group ?? 'the upgrade'}: it passes when ${title}.`]),
  ]
}
