import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { withChannelBack } from '../../upgrade/olm/kept-channel.ts'
import { operatorHopSteps } from '../../upgrade/olm/operator-hop.ts'
import { lookAtOperator } from '../../upgrade/olm/operator-scene.ts'
import type { OperatorNow, OperatorStop } from '../eus-plan.ts'
import type { EusWindow } from '../run/window.ts'
import { csvsOnPath } from './csvs-on-path.ts'
import { nextChannel, operatorChannel } from './operator-channel.ts'
import { migrationsBefore } from './migrations-before.ts'
import { operatorInStep } from './operator-in-step.ts'
import { operatorLatest } from './operator-latest.ts'

/** The operator behind one hop of the platform. */
export interface OperatorPart {
  minor: string
  stops: readonly OperatorStop[]
  operator: OperatorNow
}

/**
 * Release after release as OLM resolves them, each by the steps of `kvup upgrade --method olm`, until the catalog of that minor has no later one (night E4): which
 * they are is known only when the catalog shows them, so the steps are asked for again whenever one is done.
 */
export async function operatorPart(
  window: EusWindow,
  part: OperatorPart,
  { reader }: ReadContext,
): Promise<readonly Step[]> {
  const { subscription, package: pack } = part.operator
  const { request, releases, kubevirt } = window
  const hop = { minor: part.minor, path: heldPath(window, part), releases }
  const scene = await lookAtOperator(reader, { subscription })
  const csvs = csvsOnPath(scene, hop)
  const channel = nextChannel(part, scene.subscription.status?.installedCSV)
  const tools = { kubevirt, accepted: request.accepted, releases, procedure: window.name }
  const of = { procedure: window.name, label: part.minor }
  const ask = (step: Step) =>
    withChannelBack(request.approve ? step : onlyWhenAsked(step, request), of, subscription)
  const hops = csvs.flatMap(({ csv, version }) =>
    operatorHopSteps(
      {
        package: pack,
        subscription,
        csv,
        version,
        approveAlso: request.approveAlso,
        settleMs: request.settleMs,
      },
      tools,
    ),
  )
  return [
    ...(channel === undefined ? [] : [operatorChannel(part, channel, window.name)]),
    ...hops.flatMap((step) => migrationsBefore(step, request.accepted).concat(ask(step))),
    operatorLatest(part, { after: csvs.at(-1), hop, command: request.command }),
    operatorInStep(part, releases),
  ]
}

/** Who accepted that the operator may be stranded has left the path: then whatever OLM resolves will do. */
function heldPath({ request }: EusWindow, { operator: { path = [] } }: OperatorPart): readonly string[] {
  return request.accepted.includes('operator-stranded') ? [] : path
}

/** Nobody said that kvup may approve: who does it by hand is joined. */
function onlyWhenAsked(step: Step, { command }: Pick<EusWindow['request'], 'command'>): Step {
  if (!step.id.startsWith('approve-')) return step
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is !== 'todo') return state
      return {
        is: 'blocked',
        reason: 'approval-needed',
        by: `the Subscription is Manual, and nobody said that kvup may approve: ${state.change}`,
        remedy: [
          `${command} --approve     approves exactly that InstallPlan, and those that this line still needs`,
        ],
      }
    },
  }
}
