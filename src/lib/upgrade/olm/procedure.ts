import { olmUpgradeName } from '../names.ts'
import { hyperConvergedStanding } from '../../facts/hyperconverged/hyperconverged-standing.ts'
import { rememberSteps } from '../../procedure/remember-steps.ts'
import type { Procedure, ReadContext, Step } from '../../procedure/step.ts'
import type { Releases } from '../../releases/releases.ts'
import { giveBackSteps } from '../../workloads/give-back.ts'
import { holdWorkloadUpdates } from '../../workloads/hold.ts'
import { unlessLeftHeld } from '../../workloads/left-held.ts'
import { migrationsInFlight } from '../../workloads/migrations-in-flight.ts'
import { onHyperConverged } from '../../workloads/strategy/find-settings-owner.ts'
import { loanId as workloadUpdatesLoan } from '../../workloads/update-methods.ts'
import { isGuards } from '../../workloads/update/hold-again.ts'
import { areWorkloadsMoved, workloadsMoved } from '../../workloads/workloads-moved.ts'
import { ofHop } from '../hop-row.ts'
import { look } from '../look.ts'
import type { UpgradePlan } from '../plan.ts'
import { Patience } from '../patience.ts'
import { newControllerAtWork } from '../steps/new-controller-leads.ts'
import { settledFor } from '../steps/settled.ts'
import { onceRolled, pausedWhileRolling } from '../steps/while-rolling.ts'
import { HopsNow } from './hops-now.ts'
import { hyperConvergedIn } from './hyperconverged-in.ts'
import type { OlmPart } from './olm-part.ts'
import { labelOf } from './operator-hop-types.ts'
import { operatorHopSteps } from './operator-hop.ts'
import { lookAtOperator } from './operator-scene.ts'
import { firstGate } from './steps/first-gate.ts'

/** A plan whose method is olm. */
type OlmPlan = UpgradePlan & { olm: OlmPart }

export const isOlmPlan = (plan: UpgradePlan): plan is OlmPlan => plan.olm !== undefined

interface Tools {
  who: string
  releases: Pick<Releases, 'hyperconverged'>
}

/**
 * The order of contract "Order of the end of an upgrade", around one row of steps per hop of the operator, behind a gate that is judged before
 * anything is borrowed. The settings of workload updates are
 * those of HyperConverged.
 */
export function olmProcedure(plan: OlmPlan, tools: Tools): Procedure {
  const name = olmUpgradeName(plan.olm.to)
  const remembered = rememberSteps()
  const patience = new Patience()
  const hops = new HopsNow(plan.olm, plan.request.settleMs)
  return {
    name,
    loans: plan.request.leaveHeld ? [] : [workloadUpdatesLoan],
    leaves: isGuards,
    reached: async (cx) => (await isAtTarget(plan, cx)) && (await areMovedIfWanted(plan, cx)),
    steps: async (cx) => remembered(await stepsNow({ plan, tools, name, hops, patience }, cx)),
  }
}

async function isAtTarget({ olm, owner }: OlmPlan, cx: ReadContext): Promise<boolean> {
  const [{ subscription }, hco] = await Promise.all([
    lookAtOperator(cx.reader, olm),
    hyperConvergedIn(cx.reader, olm.subscription.namespace),
  ])
  const { good, operatorVersion } = hyperConvergedStanding(hco)
  const isThere = subscription.status?.installedCSV === olm.csv && operatorVersion === olm.to && good
  const { standing } = await look(cx, owner, () => isThere)
  return isThere && standing.verdict === 'Settled'
}

async function areMovedIfWanted({ owner, request, olm }: OlmPlan, cx: ReadContext): Promise<boolean> {
  if (!request.waitWorkloads) return true
  const controller = await newControllerAtWork(owner).check(cx)
  return controller.is === 'done' && areWorkloadsMoved(cx, owner, olm.hyperconverged)
}

interface Making {
  plan: OlmPlan
  tools: Tools
  name: string
  hops: HopsNow
  patience: Patience
}

async function stepsNow(
  { plan, tools, name, hops, patience }: Making,
  cx: ReadContext,
): Promise<readonly Step[]> {
  const { owner, olm, request } = plan
  const [scene, hco] = await Promise.all([
    lookAtOperator(cx.reader, olm),
    hyperConvergedIn(cx.reader, olm.subscription.namespace),
  ])
  const settings = onHyperConverged(olm.hyperconverged, owner, olm.accepted)
  const watching = { who: tools.who, follow: false, since: cx.clock.now().getTime() }
  const { operatorVersion, good } = hyperConvergedStanding(hco)
  const ahead = hops.all({ ...scene, operandsAt: operatorVersion, good })
  const { accepted } = olm
  const { command } = request.olm
  const hopTools = { kubevirt: owner, accepted, releases: tools.releases, procedure: name, command }
  const borrower = { who: tools.who, procedure: name }
  const rolling = { owner, patience, settleMs: request.settleMs }
  const paused = (step: Step) =>
    request.hold && !request.leaveHeld ? pausedWhileRolling(step, { ...rolling, settings, borrower }) : step
  return [
    ...ahead.slice(0, 1).map((hop) => firstGate(hop, hopTools)),
    ...(request.hold ? [holdWorkloadUpdates(settings, borrower)] : []),
    ...(request.migrations === 'ignore' || operatorVersion === olm.to
      ? []
      : [migrationsInFlight(request.migrations, request.migrationsTimeoutMs)]),
    ...ahead.flatMap((hop) => ofHop(operatorHopSteps(hop, hopTools), labelOf(hop))),
    settledFor(owner, { id: 'settled', title: 'settle', settleMs: request.settleMs, patience }),
    newControllerAtWork(owner, patience),
    ...(request.leaveHeld
      ? []
      : giveBackSteps(settings).map((step) => unlessLeftHeld(onceRolled(step, rolling), owner, settings))),
    paused(settledFor(owner, { id: 'settled-again', title: 'settle again', settleMs: 0, patience })),
    ...(request.waitWorkloads && !request.leaveHeld
      ? [paused(workloadsMoved(owner, { ...watching, settings }))]
      : []),
  ]
}
