import { brief, fenced, headed, inlineCode, markdownText } from '../../text.ts'
import { spanText } from '../../../kube/duration.ts'
import { counted } from '../../../kube/text.ts'
import type { Paint, Size, View } from '../../printer.ts'
import { planPage, type PlanRow, rowLines, stepTime, wholeText } from './plan-page.ts'
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
  whyDone,
  whyNot,
  workedOut,
} from './upgrade-plan-words.ts'
import type { PlanDocument, PlannedStep } from '../../../upgrade/plan/plan-document.ts'
import { diffLines, diffText, signed, stepDiff } from '../dry-run.ts'

export const planView: View<PlanDocument> = {
  text: (plan, paint, size) => planLines({ plan, paint, size }),
  names: ({ steps }) => steps.map(({ id }) => `step/${id}`),
  formats: { markdown: planMarkdown },
}

interface Page {
  plan: PlanDocument
  paint: Paint
  size: Size
}

const indent = ' '.repeat(4)

function planLines(page: Page): readonly string[] {
  const { plan, paint, size } = page
  const { pending, steps } = plan
  const done = whyDone(plan)
  const said = pending ? plan.said.filter((line) => size.wide || !isAlwaysSo.test(line)) : []
  return planPage(
    {
      what: hopText(plan, paint.mark.to),
      steps: counted(steps.length, 'step'),
      time: timeOf(plan),
      done,
      parts: [
        ...(pending || size.wide ? [stepRows(page)] : []),
        [...endLines(page), ...said.map((line) => `${paint.mark.dot} ${line}`)],
      ],
      details: [headLines(page), pathLines(page), manifestLines(page)],
    },
    plan,
    page,
  )
}

/** What is true of each upgrade is a detail. */
const isAlwaysSo =
  /^(?:consoles and VNC sessions drop once|APIs that are new in |virt-api is replaced first)/u

function timeOf({ time, steps }: PlanDocument): string {
  const sum = steps.reduce((total, { estimate }) => total + estimate, 0)
  return time ? wholeText(time) : `about ${spanText(sum)}`
}

function headLines({ plan, paint }: Page): readonly string[] {
  const { method, kubevirt, seal, pending } = plan
  return [
    `by ${method} ${paint.mark.dot} namespace ${kubevirt.namespace}`,
    dryRunText(plan),
    ...(pending ? [wholeTime(plan)] : []),
    ...(seal ? [sealText(seal)] : []),
  ]
}

/** How far it goes, where no finding says it: once the first step has begun. */
function endLines({ plan, paint }: Page): readonly string[] {
  const end = endText(plan)
  const isFound = plan.findings.some(({ summary }) => summary.startsWith('the upgrade path ends at '))
  return end === undefined || isFound ? [] : [`${paint.bad(paint.mark.failed)} ${brief(end)}`]
}

function pathLines({ plan, paint }: Page): readonly string[] {
  return (plan.path?.steps ?? []).flatMap((step, index) =>
    [`release ${index + 1}: ${pathStepText(step)}`].concat(
      step.findings
        .filter(({ level }) => level !== 'info')
        .map(
          ({ id, level, summary }) =>
            `${indent}${paint.warn(paint.mark.warning)} ${level}: ${brief(summary)} (${id})`,
        ),
    ),
  )
}

/** Each step in a line; with `-o wide` what would change, what is kept, and how it is undone. */
function stepRows(page: Page): readonly string[] {
  const { plan, size } = page
  const shown = shownSteps(plan)
  const rows = shown.flatMap((step) => ('text' in step ? [] : [rowOf(step, page)]))
  return [
    ...rowLines(rows, page),
    ...shown.flatMap((step) => ('text' in step ? [`${indent}${step.text}`] : [])),
    ...(size.wide ? [] : [page.paint.dim(`${indent}changes, undo and limit of each step: -o wide`)]),
  ]
}

function rowOf(step: PlannedStep, page: Page): PlanRow {
  const { plan, paint, size } = page
  const { state, entries } = stepWords(step, plan)
  const isDone = step.state === 'already-so'
  return {
    title: step.title,
    time: isDone ? state : step.time ? stepTime(step.time) : '',
    isDim: isDone,
    below: [
      ...(step.refused ? [`${indent}${paint.bad(paint.mark.failed)} refused: ${step.refused.message}`] : []),
      ...(size.wide && !isDone
        ? [
            `${indent}${state}`,
            ...diffLines(step, Infinity, page),
            ...(isOnlyWorkedOut(step, plan) ? [`${indent}${paint.dim(workedOut)}`] : []),
            ...entries.map(([label, text]) => `${indent}${paint.dim(`${label}:`)} ${text}`),
          ]
        : []),
    ],
  }
}

function manifestLines({ plan: { manifest }, paint }: Page): readonly string[] {
  if (manifest === undefined) return []
  const { origin, sha256, rights, left, unseen } = manifest
  return [
    `manifest ${origin} (sha256 ${sha256.slice(0, 16)}…)`,
    `${indent}${objectsText(manifest)}`,
    ...diffsOf(manifest, Infinity).flatMap(({ heading, lines }) =>
      [indent + heading].concat(lines.map((line) => `${indent}  ${signed(line, paint)}`)),
    ),
    ...(left.length > 0 ? [`${indent}not in it, and left where it is: ${left.join(', ')}`] : []),
    ...(rights.length > 0 ? [`${indent}${unseen}`] : []),
  ]
}

const diffsOf = (
  { rights, crds }: NonNullable<PlanDocument['manifest']>,
  atMost: number,
): readonly Headed[] => [
  ...rights.map((role) => rightsOf(role, atMost)),
  ...crds.map(crdOf).filter(({ lines }) => lines.length > 0),
]

/** Lines of a diff: a page that is reviewed has more room than a terminal. */
const most = 40

/** For a merge request: what stops it first, each step with its diff, the command at the end. */
function planMarkdown(plan: PlanDocument): string {
  const { method, kubevirt, seal, said, manifest } = plan
  return [
    `# ${markdownText(hopText(plan))}`,
    '',
    `By ${markdownText(method)}, namespace ${inlineCode(kubevirt.namespace)}; ${dryRunText(plan)}.`,
    ...(seal ? ['', `${markdownText(sealText(seal))}.`] : []),
    '',
    ...headed('Upgrade path', markdownPath(plan)),
    ...headed('Findings', judgedFindings(plan).flatMap(findingMarkdown)),
    ...headed(
      'Steps',
      shownSteps(plan).flatMap((step, index) =>
        'text' in step ? [`- ${markdownText(step.text)}`] : markdownStep(step, index + 1, plan),
      ),
    ),
    ...headed(
      'What it means for the cluster',
      said.map((line) => `- ${markdownText(line)}`),
    ),
    ...headed('Manifest', manifest ? markdownManifest(manifest) : []),
    ...headed('Time', plan.pending ? [markdownText(wholeTime(plan))] : []),
    ...headed('Carry it out', endMarkdown(whyNot(plan), plan.next?.map(asComment))),
  ].join('\n')
}

function markdownPath(plan: PlanDocument): readonly string[] {
  const end = endText(plan)
  return [
    ...(end === undefined ? [] : [`**${markdownText(end)}**`, '']),
    ...(plan.path?.steps ?? []).map((step, index) => `${index + 1}. ${markdownText(pathStepText(step))}`),
  ]
}

/** A line that is pasted as a whole works too: what it does is a comment. */
const asComment = (line: string) => line.replace(/ {3,}(?!# )(?=\S)/u, '   # ')

function markdownStep(step: PlannedStep, number: number, plan: PlanDocument): readonly string[] {
  const { state, entries } = stepWords(step, plan)
  const { lines, more } = stepDiff(step.changes ?? [], most)
  const under = ' '.repeat(String(number).length + 2)
  return [
    `${number}. **${markdownText(step.title)}** ${inlineCode(step.id)}: ${markdownText(state)}`,
    ...(step.refused ? ['', `${under}**refused**: ${markdownText(step.refused.message)}`] : []),
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
    ...entries.map(([label, words]) => `${under}- ${label}: ${markdownText(words)}`),
    '',
  ]
}

function inside(margin: string, lines: readonly string[]): string[] {
  return lines.map((line) => margin + line)
}

function markdownManifest(manifest: NonNullable<PlanDocument['manifest']>): readonly string[] {
  const { origin, sha256, rights, left, unseen } = manifest
  return [
    `${inlineCode(origin)}, sha256 ${inlineCode(sha256)}: ${markdownText(objectsText(manifest))}`,
    ...diffsOf(manifest, most).flatMap(({ heading, lines }) =>
      ['', markdownText(heading), ''].concat(fenced(lines, 'diff')),
    ),
    ...(left.length > 0 ? ['', `Not in it, and left where it is: ${markdownText(left.join(', '))}`] : []),
    ...(rights.length > 0 ? ['', markdownText(unseen)] : []),
  ]
}
