import type { ReadContext, Step, StepState } from '../../../procedure/step.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { type HopTools, labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { isBetween, isEntered, lookAtOperator, type OperatorScene, sceneFollows } from '../operator-scene.ts'
import { judgedPlan } from '../judged-plan.ts'
import { untilResolved } from '../resolution.ts'

/** Waits until the Subscription names an InstallPlan that may be approved, or that somebody approved already. */
export function installPlan(hop: OperatorHop, tools: HopTools): Step {
  return {
    id: `install-plan-${labelOf(hop)}`,
    title: `InstallPlan of ${hop.version}`,
    patience: { every: 5 * seconds, atMost: 60 * minutes },
    estimate: 1 * minutes,
    follows: sceneFollows(hop),
    dependsOn: [`set-channel-${labelOf(hop)}`],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx) {
      const scene = await lookAtOperator(cx.reader, hop)
      return isEntered(scene, hop) ? { is: 'done' } : planState(cx, scene, { hop, tools })
    },
  }
}

/** Where the InstallPlan of a hop stands, as long as its CSV is not there. `done`: it is right, or approved already. */
async function planState(
  cx: ReadContext,
  scene: OperatorScene,
  { hop, tools }: { hop: OperatorHop; tools: HopTools },
): Promise<StepState> {
  const { plan } = scene
  const waiting = untilResolved(scene, hop)
  if (plan === undefined || waiting !== undefined) return waiting ?? notNamed(hop)
  const { verdict, blocked } = await judgedPlan(cx.reader, { scene, plan, hop, tools })
  const first = verdict.is === 'wrong' ? onTheWay(scene, verdict.offers, hop) : undefined
  if (first !== undefined) return { is: 'done', note: `OLM takes ${first} first` }
  if (blocked !== undefined) return blocked
  if (verdict.is === 'not-yet')
    return { is: 'waiting', on: `InstallPlan ${plan.metadata.name}: ${verdict.why}` }
  return { is: 'done', note: plan.metadata.name }
}

/** A release between what is installed and this hop, where that was not known beforehand. */
function onTheWay(
  { subscription }: OperatorScene,
  offers: string | undefined,
  hop: OperatorHop,
): string | undefined {
  return hop.mayPassOthers === true && isBetween(offers, subscription.status?.installedCSV, hop.csv)
    ? offers
    : undefined
}

const notNamed = ({ csv }: OperatorHop): StepState => ({
  is: 'waiting',
  on: `OLM to make an InstallPlan for ${csv}`,
})
