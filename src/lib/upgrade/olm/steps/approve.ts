import { InstallPlans } from '../../../cluster/kinds/operator-lifecycle.ts'
import type { NotApplied, Step, StepContext, StepState } from '../../../procedure/step.ts'
import { ApiError } from '../../../system/errors.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { judgedPlan } from '../judged-plan.ts'
import { type HopTools, labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { isEntered, lookAtOperator, sceneFollows } from '../operator-scene.ts'
import { planContents } from '../plan-contents.ts'
import { untilResolved } from '../resolution.ts'
import { gateShut } from './gate.ts'

/**
 * Sets `spec.approved` of exactly the right InstallPlan behind a gate that is open still (night E1), tied to the very revision that was judged: whoever writes it in between
 * makes kvup judge again (ocp 2.3 #5). There is no way back: OLM knows no downgrade.
 */
export function approve(hop: OperatorHop, tools: HopTools): Step {
  return {
    id: `approve-${labelOf(hop)}`,
    title: `approve ${hop.version}`,
    patience: { every: 5 * seconds, atMost: 60 * minutes },
    estimate: 2 * seconds,
    follows: sceneFollows(hop),
    dependsOn: [`set-channel-${labelOf(hop)}`],
    risk: { undo: 'none: OLM knows no downgrade', safeToLeave: 'OLM goes on by itself' },
    shows: `kubectl -n ${hop.subscription.namespace} get installplans -o yaml --show-managed-fields`,
    async check({ reader }): Promise<StepState> {
      const scene = await lookAtOperator(reader, hop)
      if (isEntered(scene, hop)) return { is: 'done' }
      const { plan } = scene
      const waiting = untilResolved(scene, hop)
      if (plan === undefined || waiting !== undefined)
        return waiting ?? { is: 'waiting', on: `OLM to make an InstallPlan for ${hop.csv}` }
      const { verdict, blocked } = await judgedPlan(reader, { scene, plan, hop, tools })
      if (blocked !== undefined) return blocked
      if (verdict.is === 'joined') return { is: 'done', note: `${plan.metadata.name} is approved` }
      if (verdict.is === 'not-yet') return { is: 'waiting', on: `${plan.metadata.name}: ${verdict.why}` }
      // For its InstallPlan it may have waited long behind the gate.
      const shut = await gateShut({ reader }, scene, { hop, tools })
      if (shut) return shut
      return { is: 'todo', change: `approve ${plan.metadata.name}: ${await planContents(reader, plan)}` }
    },
    apply: (cx) => approveNow(cx, hop, tools),
  }
}

async function approveNow(
  { reader, writer }: StepContext,
  hop: OperatorHop,
  tools: HopTools,
): Promise<NotApplied | undefined> {
  const scene = await lookAtOperator(reader, hop)
  const { plan } = scene
  if (isEntered(scene, hop)) return { notApplied: 'somebody else approved it meanwhile' }
  if (plan === undefined)
    throw new ApiError(409, 'Conflict', 'the Subscription names no InstallPlan any more')
  const { verdict } = await judgedPlan(reader, { scene, plan, hop, tools })
  if (verdict.is === 'joined') return { notApplied: 'somebody else approved it meanwhile' }
  if (verdict.is !== 'right') throw new ApiError(409, 'Conflict', verdict.why)
  const shut = await gateShut({ reader }, scene, { hop, tools })
  if (shut) throw new ApiError(409, 'Conflict', shut.trouble ?? shut.on)
  const { name, namespace, resourceVersion } = plan.metadata
  await writer.jsonPatch(InstallPlans, { name, namespace }, [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'test', path: '/spec/approved', value: false },
    { op: 'replace', path: '/spec/approved', value: true },
  ])
  return undefined
}
