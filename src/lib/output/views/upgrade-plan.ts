import type { PlanDocument } from './upgrade-plan-document.ts'
import type { RehearsedStep } from '../../procedure/rehearse.ts'
import { formatDuration } from '../../system/duration.ts'
import { displayWidth, pad } from '../display-width.ts'
import type { Paint, View } from '../printer.ts'
import { wrap } from '../wrap.ts'

export type { PlanDocument } from './upgrade-plan-document.ts'

export const planView: View<PlanDocument> = {
  text: (plan, paint, { columns }) => planLines(plan, paint).flatMap((line) => wrap(line, columns)),
  names: ({ steps }) => steps.map(({ id }) => `step/${id}`),
}

function planLines(plan: PlanDocument, paint: Paint): readonly string[] {
  const width = Math.max(0, ...plan.steps.map(({ title }) => displayWidth(title)))
  return [
    `KubeVirt ${plan.from ?? 'unknown'} ${paint.mark.next} ${plan.to} by ${plan.method}, ${plan.dryRun} dry run: nothing was changed`,
    ...plan.steps.flatMap((step, index) => stepLines(step, index + 1, { plan, paint, width })),
    ...plan.findings.flatMap(({ id, level, summary, remedy }) => [
      `${level}: ${summary} (${id})`,
      ...remedy.map((line) => `  ${paint.mark.next} ${line}`),
    ]),
    `estimate ${formatDuration(plan.steps.reduce((sum, { estimate }) => sum + estimate, 0))}; kvup guesses, it has not seen this cluster update yet`,
  ]
}

interface Among {
  plan: PlanDocument
  paint: Paint
  /** Of the longest title. */
  width: number
}

function stepLines(step: RehearsedStep, number: number, { plan, paint, width }: Among): readonly string[] {
  const head = `${String(number).padStart(2)} ${pad(step.title, width)}   ${words[step.state](step, plan)}`
  return step.refused ? [head, `   ${paint.bad(paint.mark.failed)} refused: ${step.refused.message}`] : [head]
}

const words: { [S in RehearsedStep['state']]: (step: RehearsedStep, plan: PlanDocument) => string } = {
  'would-change': ({ change }) => `would change: ${change ?? ''}`,
  'already-so': () => 'already so',
  waits: ({ on }) => `waits for ${on ?? 'the cluster'}`,
  depends: ({ dependsOn }, { steps }) => {
    const number = steps.findIndex(({ id }) => id === dependsOn) + 1
    return `depends on step ${number}, cannot be rehearsed`
  },
}
