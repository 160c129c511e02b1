import type { Subscription } from '../../cluster/kinds/operator-lifecycle.ts'
import type { HopFinding } from '../../releases/finding.ts'
import type { HopTools } from './operator-hop-types.ts'
import { type Judged, judgedOn } from './judged-plan.ts'
import type { OlmPart } from './olm-part.ts'
import { isBetween } from './operator-scene.ts'
import type { OperatorSeen } from './operator-seen.ts'

/**
 * Of an InstallPlan that waits and is not the one of the first hop: it stays in the way, whatever is changed (ocp 2.3 #3), so it is told before anybody is
 * asked. Not one that is on the way, nor while a release is on its way already: its steps judge what comes after it. Named as the steps name it. Pure.
 */
export function waitingPlan(
  { subscription, plan, platform }: OperatorSeen,
  part: OlmPart,
  tools: Pick<HopTools, 'releases' | 'command'>,
): readonly HopFinding[] {
  const [next] = part.isUnderWay ? [] : part.hops
  if (next === undefined || plan === undefined || plan.status?.phase === 'Complete') return []
  const hop = { ...part, ...next, settleMs: 0 }
  const judged = judgedOn(platform, { scene: { subscription }, plan, hop, tools })
  if (judged.blocked === undefined || isOnTheWay(judged, subscription, part)) return []
  const { reason, by, remedy } = judged.blocked
  return [
    { id: reason, level: 'blocker', summary: by, remedy, objects: [`installplan/${plan.metadata.name}`] },
  ]
}

function isOnTheWay({ verdict }: Judged, { status }: Subscription, { certain, csv }: OlmPart): boolean {
  return verdict.is === 'wrong' && !certain && isBetween(verdict.offers, status?.installedCSV, csv)
}
