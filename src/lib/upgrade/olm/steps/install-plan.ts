import type { ReadContext, Step, StepState } from '../../../procedure/step.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { offeredPlan } from '../offered-plan.ts'
import { type HopTools, labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { isEntered, lookAtOperator, type OperatorScene, sceneFollows } from '../operator-scene.ts'
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
  { reader }: ReadContext,
  scene: OperatorScene,
  { hop, tools }: { hop: OperatorHop; tools: HopTools },
): Promise<StepState> {
  const { plan } = scene
  const waiting = untilResolved(scene, hop)
  if (plan === undefined || waiting !== undefined) return waiting ?? notNamed(hop)
  const offered = await offeredPlan(reader, { scene, plan, hop, tools })
  if (offered.is === 'first') return { is: 'done', note: `OLM takes ${offered.csv} first` }
  if (offered.is === 'wrong') return offered.blocked
  if (offered.is === 'not-yet')
    return { is: 'waiting', on: `InstallPlan ${plan.metadata.name}: ${offered.why}` }
  return { is: 'done', note: plan.metadata.name }
}

const notNamed = ({ csv }: OperatorHop): StepState => ({
  is: 'waiting',
  on: `OLM to make an InstallPlan for ${csv}`,
})
