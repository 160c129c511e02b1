import type { Paint, View } from '../printer.ts'
import { count, fenced, headed, helpLine, inlineCode, markdownText, wrap } from '../text.ts'
import { isCommand } from '../../kube/shell-line.ts'
import type { ReportFinding } from './report-findings.ts'
import type { Report } from './report-model.ts'

/** With the file that it was written to. */
export interface ReportDocument extends Report {
  file?: string
}

/** `typed`: the command without its flags, for the line that makes a page. */
export const reportView = (typed: string): View<ReportDocument> => ({
  text: (report, paint, { columns }) =>
    textLines(report, typed, paint).flatMap((line) => wrap(line, columns)),
  names: ({ of, title }) => [`report/${of}: ${title}`],
  formats: { markdown: reportMarkdown },
})

const tones = { good: 'good', warning: 'warn', bad: 'bad' } as const
const marks = { good: 'done', warning: 'warning', bad: 'failed' } as const

function textLines(report: ReportDocument, typed: string, paint: Paint): readonly string[] {
  const { verdict, file, remarks, next, findings, changes, redacted } = report
  const made = changes.filter(({ isOpen }) => isOpen !== true).length
  const counted = [
    ...(findings.length > 0 ? [count(findings.length, 'finding')] : []),
    ...(made > 0 ? [count(made, 'change')] : []),
    ...(changes.length > made
      ? [`${count(changes.length - made, 'change')} refused or not known to be done`]
      : []),
  ]
  return [
    `${paint[tones[verdict.is]](paint.mark[marks[verdict.is]])} ${verdict.text}`,
    ...remarks.map((line) => `  ${line}`),
    ...(counted.length > 0 ? [`  ${counted.join(', ')}`] : []),
    ...next.map((line) => `  ${helpLine(line, paint)}`),
    '',
    file === undefined
      ? `${paint.mark.next} ${typed} --to-file report.html     # writes the page`
      : `${paint.good(paint.mark.done)} ${savedText(file, redacted)}`,
  ]
}

export const savedText = (file: string, isRedacted: boolean): string =>
  `The report is in ${file}${isRedacted ? ', without passwords and names of hosts with a domain (--full has them)' : ': it may have passwords and names of hosts (--full)'}`

const levelWords: Readonly<Record<ReportFinding['level'], string>> = {
  blocker: 'blocker',
  'not-checked': 'not checked',
  warning: 'warning',
  accepted: 'accepted',
  info: 'info',
}

/** For a ticket: what is in the page but the drawing and the VMs. Whatever is in the document stays text. */
export function reportMarkdown(report: ReportDocument): string {
  const { title, verdict, remarks, next, facts, findings, accepted, prediction, changes, notes, clusters } =
    report
  const sign = { good: '✔', warning: '⚠', bad: '✖' }[verdict.is]
  return [
    `# ${markdownText(title)}`,
    '',
    `**${sign} ${markdownText(verdict.text)}**`,
    '',
    ...remarks.flatMap((line) => [`> ${markdownText(line)}`, '']),
    ...headed('Next', helpMarkdown(next)),
    ...headed(
      'Summary',
      facts.map(({ name, value }) => `- ${markdownText(name)}: ${markdownText(value)}`),
    ),
    ...headed('Findings', findings.flatMap(findingLines)),
    ...headed(
      'Accepted risks',
      accepted.map(
        ({ id, reason, by, user }) =>
          `- ${inlineCode(id)}: ${markdownText(reason ?? 'no reason given')}${by === undefined ? '' : `, by ${markdownText(by)}`}${user === undefined ? '' : ` (API user ${markdownText(user)})`}`,
      ),
    ),
    ...headed('Predicted and happened', prediction === undefined ? [] : predictionLines(prediction)),
    ...headed('Clusters', clusters === undefined ? [] : tableLines(clusters)),
    ...headed('Changes', changes.flatMap(changeLines)),
    ...notes.flatMap(({ title: heading, lines, isHelp }) =>
      headed(heading, isHelp ? helpInOrder(lines) : lines.map((line) => `- ${markdownText(line)}`)),
    ),
  ].join('\n')
}

/** What can be pasted stands in a block, sentences do not. */
function helpMarkdown(lines: readonly string[]): readonly string[] {
  const commands = lines.filter((line) => isCommand(line))
  const words = lines.filter((line) => !isCommand(line))
  return [
    ...words.map((line) => `- ${markdownText(line)}`),
    ...(words.length > 0 && commands.length > 0 ? [''] : []),
    ...(commands.length > 0 ? fenced(commands, 'sh') : []),
  ]
}

/** Each command beneath what it helps with. */
const helpInOrder = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) =>
    isCommand(line) ? fenced([line], 'sh').map((one) => `  ${one}`) : [`- ${markdownText(line)}`],
  )

function findingLines({ id, level, summary, remedy, reason }: ReportFinding): readonly string[] {
  const why = reason === undefined ? '' : ` (because: ${markdownText(reason)})`
  return [
    `- **${levelWords[level]}** ${inlineCode(id)}${why}: ${markdownText(summary)}`,
    ...(remedy.length > 0 ? ['', ...fenced(remedy).map((line) => `  ${line}`), ''] : []),
  ]
}

const predictionLines = ({ by, rows, says }: NonNullable<Report['prediction']>): readonly string[] => [
  `Predicted by ${markdownText(by)}.`,
  '',
  '| What | Predicted | Happened | Agrees |',
  '|---|---|---|---|',
  ...rows.map(
    ({ what, predicted, happened, agrees, differs }) =>
      `| ${[what, predicted, happened].map(markdownText).join(' | ')} | ${agrees === undefined ? 'not compared' : agrees ? 'yes' : (differs ?? 'no')} |`,
  ),
  '',
  ...says.map((line) => `- ${markdownText(line)}`),
]

const tableLines = ({ heads, rows }: NonNullable<Report['clusters']>): readonly string[] => [
  `| ${heads.join(' | ')} |`,
  `|${heads.map(() => '---|').join('')}`,
  ...rows.map((cells) => `| ${cells.map(markdownText).join(' | ')} |`),
]

const changeLines = ({ title, says, lines }: Report['changes'][number]): readonly string[] => [
  `- **${markdownText(title)}**${says === '' ? '' : `: ${markdownText(says)}`}`,
  ...(lines.length > 0 ? ['', ...fenced(lines, 'diff').map((line) => `  ${line}`), ''] : []),
]
