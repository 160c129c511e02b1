import { fenced, headed, inlineCode, markdownText } from '../text.ts'
import { isCommand } from '../../kube/shell-line.ts'
import { commented } from '../command-line.ts'
import { levelWords, type ReportFinding } from './report-findings.ts'
import type { ReportSource } from './fields.ts'
import { redactedText, type Report, reportOf } from './report-model.ts'
import type { ReportTable } from './report-table.ts'

/** For a ticket: what is in the page but the drawing and the VMs. Whatever is in the document stays text. */
export function reportMarkdown(
  source: ReportSource,
  { redacted = false }: { redacted?: boolean } = {},
): string {
  const { title, verdict, remarks, next, facts, findings, tables, changes, notes } = reportOf(source)
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
    ...tables.flatMap((table) => headed(table.title, tableLines(table))),
    ...headed('Changes', changes.flatMap(changeLines)),
    ...notes.flatMap(({ title: heading, lines, isHelp }) =>
      headed(heading, isHelp ? helpInOrder(lines) : lines.map((line) => `- ${markdownText(line)}`)),
    ),
    ...(redacted ? ['', `> ${markdownText(redactedText)}`] : []),
  ].join('\n')
}

/** What can be pasted stands in a block, sentences do not. */
function helpMarkdown(lines: readonly string[]): readonly string[] {
  const commands = lines.filter((line) => isCommand(line))
  const words = lines.filter((line) => !isCommand(line))
  return [
    ...words.map((line) => `- ${markdownText(line)}`),
    ...(words.length > 0 && commands.length > 0 ? [''] : []),
    ...(commands.length > 0 ? fenced(commands.map(commented), 'sh') : []),
  ]
}

/** Each command beneath what it helps with. */
const helpInOrder = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) =>
    isCommand(line) ? fenced([commented(line)], 'sh').map((one) => `  ${one}`) : [`- ${markdownText(line)}`],
  )

function findingLines({ id, level, summary, remedy, reason }: ReportFinding): readonly string[] {
  const why = reason === undefined ? '' : ` (because: ${markdownText(reason)})`
  return [
    `- **${levelWords[level].toLowerCase()}** ${inlineCode(id)}${why}: ${markdownText(summary)}`,
    ...(remedy.length > 0 ? ['', ...fenced(remedy).map((line) => `  ${line}`), ''] : []),
  ]
}

const tableLines = ({ heads, rows, says }: ReportTable): readonly string[] => [
  `| ${heads.join(' | ')} |`,
  `|${heads.map(() => '---|').join('')}`,
  ...rows.map((cells) => `| ${cells.map(markdownText).join(' | ')} |`),
  ...(says.length > 0 ? ['', ...says.map((line) => `- ${markdownText(line)}`)] : []),
]

const changeLines = ({ title, says, lines }: Report['changes'][number]): readonly string[] => [
  `- **${markdownText(title)}**${says === '' ? '' : `: ${markdownText(says)}`}`,
  ...(lines.length > 0 ? ['', ...fenced(lines, 'diff').map((line) => `  ${line}`), ''] : []),
]
