import type { Look } from '../look.ts'
import type { Step } from '../../procedure/step.ts'
import type { UpgradePlan } from '../plan.ts'
import { setImageTag } from '../steps/set-image-tag.ts'
import { settledAtOldVersion } from '../steps/settled.ts'

/**
 * One patch of the KubeVirt CR; the installed operator does the rest (facts 2.2). An operator that is new and still takes the
 * present version over is let finish first: a run that was cut off between the two rolls of night U2 goes on here.
 */
export function imageTagSteps(plan: UpgradePlan, operator: string | undefined, seen: Look): readonly Step[] {
  const { owner, from, to, request } = plan
  const set = setImageTag(owner, { from, tag: to.text, registry: request.imageRegistry, operator })
  return from !== undefined && from !== to.text && isTakenOver(seen)
    ? [settledAtOldVersion(owner, { version: from, settleMs: request.settleMs }), set]
    : [set]
}

/** Only while the CR still asks for that version: once the tag has moved, this roll never ends. */
function isTakenOver({ standing: { target, observed }, snapshot: { kubevirts } }: Look): boolean {
  const tag = kubevirts.known ? kubevirts.items[0]?.spec?.imageTag : undefined
  return target.id !== observed.id && target.version === observed.version && target.version === tag
}
