import { brief } from '../../text.ts'
import { spanText } from '../../../kube/duration.ts'
import { counted } from '../../../kube/text.ts'
import type { Paint, Size, View } from '../../printer.ts'
import { planPage, type PlanRow, rowLines, stepTime, wholeText } from './plan-page.ts'
import {
  crdOf,
  dryRunText,
  endText,
  type Headed,
  hopText,
  isOnlyWorkedOut,
  objectsText,
  pathStepText,
  rightsOf,
  sealText,
  shownSteps,
  stepWords,
  wholeTime,
  whyDone,
  workedOut,
} from './upgrade-plan-words.ts'
import type { PlanDocument, PlannedStep } from '../../../upgrade/plan/plan-document.ts'
import { diffLines, signed } from '../dry-run.ts'
import { planMarkdown } from './upgrade-plan-markdown.ts'

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
  const { origin, sha256, rights, crds, left, unseen } = manifest
  const diffs: readonly Headed[] = [
    ...rights.map((role) => rightsOf(role, Infinity)),
    ...crds.map(crdOf).filter(({ lines }) => lines.length > 0),
  ]
  return [
    `manifest ${origin} (sha256 ${sha256.slice(0, 16)}…)`,
    `${indent}${objectsText(manifest)}`,
    ...diffs.flatMap(({ heading, lines }) =>
      [indent + heading].concat(lines.map((line) => `${indent}  ${signed(line, paint)}`)),
    ),
    ...(left.length > 0 ? [`${indent}not in it, and left where it is: ${left.join(', ')}`] : []),
    ...(rights.length > 0 ? [`${indent}${unseen}`] : []),
  ]
}
