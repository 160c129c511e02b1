import type { Standing } from '../facts/standing.ts'
import { rememberSteps } from '../procedure/remember-steps.ts'
import type { Procedure, ReadContext, Step } from '../procedure/step.ts'
import type { Version } from '../releases/version.ts'
import { giveWorkloadUpdatesBack } from '../workloads/give-back.ts'
import { type Borrower, holdWorkloadUpdates } from '../workloads/hold.ts'
import { migrationsInFlight } from '../workloads/migrations-in-flight.ts'
import { onKubeVirt } from '../workloads/strategy/owner.ts'
import { loanId as workloadUpdatesLoan } from '../workloads/update-methods.ts'
import { unlessLeftHeld } from '../workloads/left-held.ts'
import { isGuards } from '../workloads/update/hold-again.ts'
import { areWorkloadsMoved, workloadsMoved } from '../workloads/workloads-moved.ts'
import { type Look, look } from './look.ts'
import { followGiveBack, followHold, followVersion } from './follow.ts'
import { imageTagSteps } from './methods/image-tag.ts'
import { operatorManifestSteps } from './methods/operator-manifest.ts'
import type { UpgradePlan } from './plan.ts'
import { runningUpdate } from './running-update.ts'
import type { ReleaseManifest } from './steps/apply-manifest.ts'
import { componentRolled } from './steps/component.ts'
import { installStrategy } from './steps/install-strategy.ts'
import { imageTagLoan, putImageTagIn } from './steps/lift-image-tag.ts'
import { Patience } from './patience.ts'
import { newControllerAtWork } from './steps/new-controller-leads.ts'
import { upgradeName } from './names.ts'
import { isInstalled } from './runs-target.ts'
import { settledFor } from './steps/settled.ts'
import { onceRolled, pausedWhileRolling } from './steps/while-rolling.ts'
import { undoOf } from './undo.ts'
import {
  anyUndone,
  commitUndone,
  holdUndone,
  operatorUndone,
  tagUndone,
  type Undone,
  unlessUndone,
} from './undone.ts'
import { blocked } from '../system/errors.ts'
import { seconds } from '../system/units.ts'

export interface Tools {
  who: string
  /** The version that the installed operator is. */
  operatorVersion: string | undefined
  /** Only asked for by the manifest method, when its steps are made. */
  manifest: ReleaseManifest
  /** Of the procedure, where these steps are only part of it. */
  name?: string
  /** They are one of an upgrade path over several minors. */
  severalMinors?: boolean
}

/**
 * The order of contract "Order of the end of an upgrade". Where it stands is asked of the cluster at every step, so that
 * running it again resumes it.
 */
export function upgradeProcedure(plan: UpgradePlan, tools: Tools): Procedure {
  const { name = upgradeName(plan.to.text) } = tools
  const remembered = rememberSteps()
  const patience = new Patience()
  return {
    name,
    loans: plan.request.leaveHeld ? [imageTagLoan] : [workloadUpdatesLoan, imageTagLoan],
    leaves: isGuards,
    async reached(cx) {
      const seen = await look(cx, plan.owner, (standing) => isInstalled(plan, standing))
      await refuseBroken(plan, seen, cx)
      return isReached(plan, seen) && (await areMovedIfWanted(plan, cx))
    },
    steps: async (cx) => remembered(await stepsNow(plan, { ...tools, procedure: name, patience }, cx)),
  }
}

const isReached = (plan: UpgradePlan, { standing }: Look): boolean =>
  standing.verdict === 'Settled' && isInstalled(plan, standing)

/** Nothing is left to do for a run, and still it does not work: no run mends that, and none may write to a KubeVirt whose operator is gone. */
async function refuseBroken(plan: UpgradePlan, { standing, faults }: Look, cx: ReadContext): Promise<void> {
  const [first] = faults
  if (first === undefined || !isInstalled(plan, standing)) return
  if ((await cx.journal.loans()).length > 0) return
  const said = faults.map(({ sentence }) => sentence).join('; ')
  throw blocked('degraded', `KubeVirt is at ${plan.to.text} and ${standing.verdict}: ${said}`, {
    remedy: [...first.look, 'kvup status -w'],
  })
}

/** Counts only mean something once the new virt-controller has labelled what is outdated. */
async function areMovedIfWanted({ owner, request }: UpgradePlan, cx: ReadContext): Promise<boolean> {
  if (!request.waitWorkloads) return true
  const controller = await newControllerAtWork(owner).check(cx)
  return controller.is === 'done' && areWorkloadsMoved(cx, owner)
}

async function stepsNow(
  plan: UpgradePlan,
  tools: Tools & Borrower & { patience: Patience },
  cx: ReadContext,
): Promise<readonly Step[]> {
  const { owner, to, request } = plan
  const seen = await look(cx, owner, (standing) => isInstalled(plan, standing))
  const { standing } = seen
  const { patience } = tools
  const { hold, change, giveBack, undone } = request.follow ? followed(plan) : written(plan, tools, seen)
  const guarded = (step: Step) => unlessUndone(step, anyUndone(undone))
  const waits = [
    installStrategy(owner, { version: to.text, undo: undoOf(plan) }),
    ...standing.components.map(({ name, desired }) =>
      componentRolled(owner, {
        name,
        version: to.text,
        undo: undoOf(plan, name),
        expectedMs: (10 + 3 * Math.min(desired, 100)) * seconds,
      }),
    ),
    settledStep(plan, 'settled', patience),
  ]
  const rolling = { owner, patience, settleMs: request.settleMs }
  const settings = onKubeVirt(owner)
  const isResumed = request.hold && !request.leaveHeld && !request.follow
  const paused = (step: Step) =>
    isResumed ? pausedWhileRolling(step, { ...rolling, settings, borrower: tools }) : step
  return [
    ...(request.hold ? [hold] : []),
    ...(request.migrations === 'ignore' || hasBegun(standing, to)
      ? []
      : [migrationsInFlight(request.migrations, request.migrationsTimeoutMs)]),
    ...change,
    ...waits.map(guarded),
    newControllerAtWork(owner, patience),
    ...((await isTagOut(plan, cx))
      ? [putImageTagIn(owner, { version: to.text, registry: request.imageRegistry })]
      : []),
    ...(request.leaveHeld ? [] : [request.follow ? giveBack : onceRolled(giveBack, rolling)]),
    paused(settledStep(plan, 'settled-again', patience)),
    ...(request.waitWorkloads && !request.leaveHeld
      ? [
          paused(
            workloadsMoved(owner, {
              who: tools.who,
              follow: request.follow,
              since: cx.clock.now().getTime(),
            }),
          ),
        ]
      : []),
  ]
}

/** Not on the way back: virt-handler rolls once more then, and kills migrations once more. */
function hasBegun(standing: Standing, to: Version): boolean {
  const way = runningUpdate(standing, to)
  return way === 'joined' || (way === 'none' && standing.observed.version === to.text)
}

/** The steps that differ by who writes: kvup, or the owner whom it follows. */
interface Writing {
  hold: Step
  change: readonly Step[]
  giveBack: Step
  /** What ends the wait for it, as soon as somebody sets it back. */
  undone: readonly Undone[]
}

function followed(plan: UpgradePlan): Writing {
  const change = [followVersion(plan)]
  return { hold: followHold(plan), change, giveBack: followGiveBack(plan), undone: [commitUndone(plan)] }
}

function written(plan: UpgradePlan, tools: Tools & Borrower, seen: Look): Writing {
  const { owner, method } = plan
  const isTag = method === 'image-tag'
  const change = isTag
    ? imageTagSteps(plan, tools.operatorVersion, seen)
    : operatorManifestSteps(plan, tools.manifest, tools.who)
  const held = holdUndone(plan)
  const whileChanging = anyUndone(isTag ? [held] : [held, operatorUndone(plan)])
  return {
    hold: holdWorkloadUpdates(onKubeVirt(owner), tools),
    change: change.map((step) => (step.apply ? step : unlessUndone(step, whileChanging))),
    giveBack: unlessLeftHeld(giveWorkloadUpdatesBack(onKubeVirt(owner)), owner),
    undone: [whileChanging, ...change.filter(setsTag).map((step) => tagUndone(plan, step))],
  }
}

const setsTag = ({ id }: Step): boolean => id === 'set-image-tag' || id === 'lift-image-tag'

function settledStep(
  { owner, to, request }: UpgradePlan,
  id: 'settled' | 'settled-again',
  patience: Patience,
): Step {
  const [title, settleMs] = id === 'settled' ? ['settle', request.settleMs] : ['settle again', 0]
  return settledFor(owner, { id, title, version: to.text, settleMs, patience })
}

/** Also when an earlier run took it out: then the plan of this one finds no tag any more. */
async function isTagOut({ tag, owner }: UpgradePlan, { journal }: ReadContext): Promise<boolean> {
  const loans = await journal.loans()
  return tag.is === 'lift' || loans.some(({ id, object }) => id === imageTagLoan && object.uid === owner.uid)
}
