import { brief, displayWidth, pad, wrap } from '../../text.ts'
import type { Paint, Size, View } from '../../printer.ts'
import {
  crdOf,
  dryRunText,
  endLines,
  endText,
  findingLines,
  type Headed,
  hopText,
  isOnlyWorkedOut,
  judgedFindings,
  objectsText,
  pathStepText,
  rightsOf,
  sealText,
  section,
  shownSteps,
  stepWords,
  wholeTime,
  whyNot,
  workedOut,
} from './upgrade-plan-words.ts'
import type { PlanDocument, PlannedStep } from '../../../upgrade/plan/plan-document.ts'
import { diffLines, signed } from '../dry-run.ts'
import { planMarkdown } from './upgrade-plan-markdown.ts'

export const planView: View<PlanDocument> = {
  text: (plan, paint, size) => planLines({ plan, paint, size }).flatMap((line) => wrap(line, size.columns)),
  names: ({ steps }) => steps.map(({ id }) => `step/${id}`),
  formats: { markdown: planMarkdown },
}

/** Lines with a sign in one step, and in one role. */
const most = 6

interface Page {
  plan: PlanDocument
  paint: Paint
  size: Size
}

function planLines(page: Page): readonly string[] {
  const { plan, paint } = page
  return [
    ...headLines(page),
    ...section(pathLines(page)),
    ...section(judgedFindings(plan).flatMap((judged) => findingLines(judged, paint))),
    ...section(
      shownSteps(plan).flatMap((step, index) =>
        'text' in step ? [`    ${step.text}`] : stepLines(step, index + 1, page),
      ),
    ),
    ...section(plan.said.map((line) => `${paint.mark.dot} ${line}`)),
    ...section(manifestLines(page)),
    '',
    ...endLines(plan, { time: wholeTime(plan), why: whyNot(plan) }, paint),
  ]
}

function headLines({ plan, paint }: Page): readonly string[] {
  const { method, kubevirt, seal } = plan
  const versions = hopText(plan, paint.mark.next)
  const end = endText(plan)
  return [
    ...(end === undefined ? [] : [`${paint.bad(paint.mark.failed)} ${brief(end)}`]),
    `${paint.strong(versions)} by ${method} ${paint.mark.dot} namespace ${kubevirt.namespace}`,
    dryRunText(plan),
    ...(seal ? [sealText(seal)] : []),
  ]
}

function pathLines({ plan, paint }: Page): readonly string[] {
  return (plan.path?.steps ?? []).flatMap((step, index) =>
    [`${String(index + 1).padStart(3)} ${pathStepText(step)}`].concat(
      step.findings
        .filter(({ level }) => level !== 'info')
        .map(
          ({ id, level, summary }) =>
            `${indent}${paint.warn(paint.mark.warning)} ${level}: ${brief(summary)} (${id})`,
        ),
    ),
  )
}

const indent = ' '.repeat(4)

function stepLines(step: PlannedStep, number: number, page: Page): readonly string[] {
  const { plan, paint, size } = page
  const width = Math.max(0, ...plan.steps.map(({ title }) => displayWidth(title)))
  const { state, entries } = stepWords(step, plan)
  const head = `${String(number).padStart(3)} ${pad(step.title, size.columns < 60 ? 0 : width)}   ${state}`
  return [
    step.state === 'already-so' ? paint.dim(head) : head,
    ...(step.refused ? [`${indent}${paint.bad(paint.mark.failed)} refused: ${step.refused.message}`] : []),
    ...diffLines(step, most, page),
    ...(isOnlyWorkedOut(step, plan) ? [`${indent}${paint.dim(workedOut)}`] : []),
    ...entries.map(([label, text]) => `${indent}${paint.dim(`${label}:`)} ${text}`),
  ]
}

function manifestLines({ plan: { manifest }, paint, size }: Page): readonly string[] {
  if (manifest === undefined) return []
  const { origin, sha256, rights, crds, left, unseen } = manifest
  const diffs: readonly Headed[] = [
    ...rights.map((role) => rightsOf(role, size.wide ? Infinity : most)),
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
