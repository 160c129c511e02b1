import { fenced, inlineCode, markdownText as text, headed } from '../../text.ts'
import {
  crdOf,
  dryRunText,
  endMarkdown,
  endText,
  findingMarkdown,
  type Headed,
  hopText,
  isOnlyWorkedOut,
  judgedFindings,
  objectsText,
  pathStepText,
  rightsOf,
  sealText,
  shownSteps,
  stepWords,
  wholeTime,
  whyNot,
  workedOut,
} from './upgrade-plan-words.ts'
import type { PlanDocument, PlannedStep } from '../../../upgrade/plan/plan-document.ts'
import { diffText, stepDiff } from '../dry-run.ts'

/** Lines of a diff: a page that is reviewed has more room than a terminal. */
const most = 40

/** For a merge request: what stops it first, each step with its diff, the command at the end. */
export function planMarkdown(plan: PlanDocument): string {
  const { method, kubevirt, seal, said, manifest } = plan
  return [
    `# ${text(hopText(plan))}`,
    '',
    `By ${text(method)}, namespace ${inlineCode(kubevirt.namespace)}; ${dryRunText(plan)}.`,
    ...(seal ? ['', `${text(sealText(seal))}.`] : []),
    '',
    ...headed('Upgrade path', pathLines(plan)),
    ...headed('Findings', judgedFindings(plan).flatMap(findingMarkdown)),
    ...headed(
      'Steps',
      shownSteps(plan).flatMap((step, index) =>
        'text' in step ? [`- ${text(step.text)}`] : stepLines(step, index + 1, plan),
      ),
    ),
    ...headed(
      'What it means for the cluster',
      said.map((line) => `- ${text(line)}`),
    ),
    ...headed('Manifest', manifest ? manifestLines(manifest) : []),
    ...headed('Time', plan.pending ? [text(wholeTime(plan))] : []),
    ...headed('Carry it out', endMarkdown(whyNot(plan), plan.next?.map(asComment))),
  ].join('\n')
}

function pathLines(plan: PlanDocument): readonly string[] {
  const end = endText(plan)
  return [
    ...(end === undefined ? [] : [`**${text(end)}**`, '']),
    ...(plan.path?.steps ?? []).map((step, index) => `${index + 1}. ${text(pathStepText(step))}`),
  ]
}

/** A line that is pasted as a whole works too: what it does is a comment. */
const asComment = (line: string) => line.replace(/ {3,}(?!# )(?=\S)/u, '   # ')

function stepLines(step: PlannedStep, number: number, plan: PlanDocument): readonly string[] {
  const { state, entries } = stepWords(step, plan)
  const { lines, more } = stepDiff(step.changes ?? [], most)
  const under = ' '.repeat(String(number).length + 2)
  return [
    `${number}. **${text(step.title)}** ${inlineCode(step.id)}: ${text(state)}`,
    ...(step.refused ? ['', `${under}**refused**: ${text(step.refused.message)}`] : []),
    ...(lines.length > 0
      ? [
          '',
          ...inside(
            under,
            fenced(
              lines.map((line) => diffText(line, Infinity)),
              'diff',
            ),
          ),
        ]
      : []),
    ...(more === undefined ? [] : ['', `${under}… ${more} (in the document itself)`]),
    ...(isOnlyWorkedOut(step, plan) ? ['', `${under}${workedOut}`] : []),
    ...(entries.length > 0 ? [''] : []),
    ...entries.map(([label, words]) => `${under}- ${label}: ${text(words)}`),
    '',
  ]
}

function inside(indent: string, lines: readonly string[]): string[] {
  return lines.map((line) => indent + line)
}

function manifestLines(manifest: NonNullable<PlanDocument['manifest']>): readonly string[] {
  const { origin, sha256, rights, crds, left, unseen } = manifest
  const diffs: readonly Headed[] = [
    ...rights.map((role) => rightsOf(role, most)),
    ...crds.map(crdOf).filter(({ lines }) => lines.length > 0),
  ]
  return [
    `${inlineCode(origin)}, sha256 ${inlineCode(sha256)}: ${text(objectsText(manifest))}`,
    ...diffs.flatMap(({ heading, lines }) => ['', text(heading), ''].concat(fenced(lines, 'diff'))),
    ...(left.length > 0 ? ['', `Not in it, and left where it is: ${text(left.join(', '))}`] : []),
    ...(rights.length > 0 ? ['', text(unseen)] : []),
  ]
}
