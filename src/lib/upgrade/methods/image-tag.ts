import type { Step } from '../../procedure/step.ts'
import type { UpgradePlan } from '../plan.ts'
import { setImageTag } from '../steps/set-image-tag.ts'

/** One patch of the KubeVirt CR; the installed operator does the rest (facts 2.2). */
export function imageTagSteps(
  { owner, from, to, request }: UpgradePlan,
  operator: string | undefined,
): readonly Step[] {
  return [setImageTag(owner, { from, tag: to.text, registry: request.imageRegistry, operator })]
}
