import { counted } from '../../system/counted.ts'
import type { PathStep } from '../../upgrade/path/upgrade-path.ts'
import type { PlanDocument, PlannedStep } from './upgrade-plan-document.ts'

/** How far it goes, where that is not the target: the first thing that is said. */
export function endText({ path }: PlanDocument): string | undefined {
  const { ends, steps = [] } = path ?? {}
  return ends && `goes as far as ${steps.at(-1)?.to ?? 'here'}: then ${ends.before} is refused: ${ends.why}`
}

/** `v1.6.6 by operator-manifest; Kubernetes 1.31 to 1.33; VMs: migrates 6` */
export function pathStepText({ to, method, kubernetes, vms, manifest }: PathStep): string {
  return [
    `${to} by ${method}${manifest ? ` from ${manifest.origin}` : ''}`,
    ...(kubernetes ? [`Kubernetes ${kubernetes.min} to ${kubernetes.max}`] : []),
    `KubeVirt ${vms}`,
  ].join('; ')
}

/** The steps of one release of the path, shown in a word: they are planned anew when its turn comes. */
export interface LaterSteps {
  text: string
}

/** Steps are shown for the first release that is ahead; what comes after is one line for each. */
export function shownSteps({ path, steps }: PlanDocument): readonly (PlannedStep | LaterSteps)[] {
  const [, ...later] = path?.steps ?? []
  if (later.length === 0) return steps
  const hopOf = ({ id }: PlannedStep) => later.find(({ to }) => id.endsWith(`-${to}`))
  return [
    ...steps.filter((step) => hopOf(step) === undefined),
    ...later.map((step) => ({
      text: `${step.to}: ${counted(steps.filter((one) => hopOf(one) === step).length, 'step')}, planned again once KubeVirt is at ${step.from}`,
    })),
  ]
}
