import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { withChannelBack } from '../../upgrade/olm/kept-channel.ts'
import { operatorHopSteps } from '../../upgrade/olm/operator-hop.ts'
import { lookAtOperator, type OperatorScene } from '../../upgrade/olm/operator-scene.ts'
import type { OperatorNow, OperatorStop } from '../eus-plan.ts'
import type { EusWindow } from '../run/window.ts'
import { csvsOnPath, type NamedCsv } from './csvs-on-path.ts'
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
  const { accepted, command } = request
  const tools = { kubevirt, accepted, releases, procedure: window.name, command }
  const of = { procedure: window.name, label: part.minor }
  const ask = (step: Step) =>
    withChannelBack(request.approve ? step : onlyWhenAsked(step, request), of, subscription)
  const ahead = accepted.includes('hyperconverged-degraded') ? repairing(csvs, scene) : csvs
  const hops = ahead.flatMap(({ csv, version }) =>
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
    ...hops.flatMap((step) => migrationsBefore(step, accepted).concat(ask(step))),
    operatorLatest(part, { after: csvs.at(-1), hop, command }),
    operatorInStep(part, releases),
  ]
}

/** What is installed does not settle any more before the release that repairs it (night E1): the gate of that one judges. */
const repairing = (
  csvs: readonly NamedCsv[],
  { subscription: { status } }: OperatorScene,
): readonly NamedCsv[] => csvs.filter(({ csv }, at) => csv !== status?.installedCSV || at === csvs.length - 1)

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
