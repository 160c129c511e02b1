import { fenced, inlineCode, markdownText as text } from '../markdown-text.ts'
import type { EusPlanDocument } from './eus-plan-document.ts'
import {
  headText,
  keptLines,
  outageLines,
  wayLines,
  type WayLine,
  wayText,
  whyNotYet,
} from './eus-plan-words.ts'
import { acceptanceText, type JudgedFinding, judgedFindings, sealText } from './upgrade-plan-words.ts'

/** For a merge request: what stops it first, each stop with its gates, the command at the end. */
export function eusPlanMarkdown(plan: EusPlanDocument): string {
  const { seal, notes, unknown, time, pending } = plan
  return [
    `# ${text(headText(plan))}`,
    '',
    `${text(wayText(plan))}.`,
    ...(seal ? ['', `${text(sealText(seal))}.`] : []),
    '',
    ...headed('Findings', judgedFindings(plan).flatMap(findingLines)),
    ...headed('Way', wayLines(plan).flatMap(stopLines)),
    ...headed(
      'Borrowed meanwhile',
      keptLines(plan).map(([label, words]) => `- ${label}: ${text(words)}`),
    ),
    ...headed('Down meanwhile', listed(outageLines(plan))),
    ...headed('What it means for the cluster', listed(notes)),
    ...headed('Not known', listed(unknown)),
    ...headed('Time', pending ? [text(time.says)] : []),
    ...headed('Carry it out', endLines(plan)),
  ].join('\n')
}

const listed = (sentences: readonly string[]): readonly string[] => sentences.map((line) => `- ${text(line)}`)

function headed(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`## ${title}`, '', ...lines, '']
}

function findingLines({ finding, accepted }: JudgedFinding): readonly string[] {
  const { id, level, summary, remedy } = finding
  const taken = accepted ? ` (${['accepted', acceptanceText(accepted)].filter(Boolean).join(', ')})` : ''
  const block = fenced(remedy).map((line) => `  ${line}`)
  return [
    `- **${level}** ${inlineCode(id)}${text(taken)}: ${text(summary)}`,
    ...(remedy.length > 0 && !accepted ? ['', ...block, ''] : []),
  ]
}

function stopLines({ what, why, done, under }: WayLine, index: number): readonly string[] {
  const head = `${index + 1}. **${text(what)}**${done ? ' (done)' : ''}: ${text(why)}`
  const beneath = ' '.repeat(String(index + 1).length + 2)
  return [head, ...under.map(([label, words]) => `${beneath}- ${label}: ${text(words)}`)]
}

function endLines(plan: EusPlanDocument): readonly string[] {
  const why = whyNotYet(plan)
  const next = plan.next ?? []
  return [...(why === undefined ? [] : [`${text(why)}.`]), ...(next.length > 0 ? fenced(next) : [])]
}
