import type { Reader } from '../../../cluster/cluster.ts'
import type { Step, StepState } from '../../../procedure/step.ts'
import { offeredPlan } from '../offered-plan.ts'
import type { HopTools, OperatorHop } from '../operator-hop-types.ts'
import { isEntered, lookAtOperator } from '../operator-scene.ts'
import { gate } from './gate.ts'

/**
 * The gate of the first hop, judged before anything is borrowed (night E1); the hop judges it again. An InstallPlan that waits and is not the one of
 * this hop stays in the way, whatever is changed (ocp 2.3 #3): it is told here, and not once workload updates are held.
 */
export function firstGate(hop: OperatorHop, tools: HopTools): Step {
  const ofHop = gate(hop, tools)
  return {
    ...ofHop,
    id: 'gate',
    title: `gate to ${hop.version}, before anything is changed`,
    check: async (cx) => (await wrongPlan(cx.reader, hop, tools)) ?? ofHop.check(cx),
  }
}

async function wrongPlan(reader: Reader, hop: OperatorHop, tools: HopTools): Promise<StepState | undefined> {
  const scene = await lookAtOperator(reader, hop)
  const { plan } = scene
  const isOver = plan?.status?.phase === 'Complete'
  if (plan === undefined || isOver || isEntered(scene, hop)) return undefined
  const offered = await offeredPlan(reader, { scene, plan, hop, tools })
  return offered.is === 'wrong' ? offered.blocked : undefined
}
