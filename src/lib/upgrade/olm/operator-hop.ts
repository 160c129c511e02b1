import type { Step } from '../../procedure/step.ts'
import { withChannelBack } from './kept-channel.ts'
import { type HopTools, labelOf, type OperatorHop } from './operator-hop-types.ts'
import { approve } from './steps/approve.ts'
import { csvSucceeded } from './steps/csv-succeeded.ts'
import { gate } from './steps/gate.ts'
import { hyperConvergedAt } from './steps/hyperconverged-at.ts'
import { installPlan } from './steps/install-plan.ts'
import { operandsRolled } from './steps/operands-rolled.ts'
import { planComplete } from './steps/plan-complete.ts'
import { setChannel } from './steps/set-channel.ts'

export type { HopTools, OperatorHop } from './operator-hop-types.ts'

/**
 * One hop: the gate of night E1, the channel where it is another, exactly the right InstallPlan approved (night E4), and then
 * waited until everything that it brings is at work. Each step's id carries the version. Steps of a hop that is behind us are done.
 */
export function operatorHopSteps(hop: OperatorHop, tools: HopTools): readonly Step[] {
  const { channel, subscription } = hop
  const of = { procedure: tools.procedure, label: labelOf(hop) }
  const back = (step: Step) => (channel === undefined ? step : withChannelBack(step, of, subscription))
  return [
    gate(hop, tools),
    ...(channel === undefined ? [] : [setChannel(hop, channel, tools)]),
    back(installPlan(hop, tools)),
    back(approve(hop, tools)),
    planComplete(hop),
    csvSucceeded(hop),
    hyperConvergedAt(hop),
    operandsRolled(hop, tools),
  ]
}
