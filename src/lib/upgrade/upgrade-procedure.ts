import type { RolloutStatus } from '../kubevirt/rollout-status.ts'
import { type Procedure, type ReadContext, rememberSteps, type Step, type Blocked } from '../engine/step.ts'
import type { Version } from '../releases/release-versions.ts'
import { type PauseTools, pauseWorkloadUpdates, restoreWorkloadUpdates } from '../vms/pause-updates.ts'
import { migrationsInFlight } from '../vms/migrations/migration-snapshot.ts'
import { onKubeVirt, readOwner } from '../vms/strategy/settings-owner.ts'
import {
  methodsOf,
  methodsPath,
  openOverride,
  overrideId as workloadUpdatesOverride,
  type Owner,
  showWriters,
} from '../vms/update-methods.ts'
import { isGuards, unlessLeftPaused } from '../vms/update-guard.ts'
import { areWorkloadsMoved, workloadsMoved } from '../vms/vms-updated.ts'
import { type ClusterRead, readRollout } from './upgrade-snapshot.ts'
import { setsIn } from './step-traits.ts'
import { gitopsPause, gitopsRestore, gitopsVersion } from './methods/gitops.ts'
import { imageTagOverride, imageTagSteps, putImageTagIn } from './methods/image-tag.ts'
import { operatorManifestSteps, type ReleaseManifest } from './methods/operator-manifest.ts'
import { isInstalled, upgradeName, type UpgradePlan } from './upgrade-plan.ts'
import { runningUpdate, undoOf } from './rollback.ts'
import {
  componentRolled,
  installStrategy,
  newControllerAtWork,
  onceRolled,
  Patience,
  pausedWhileRolling,
  settledFor,
} from './steps/component-rollout.ts'
import { blocked } from '../kube/errors.ts'
import { seconds } from '../kube/clock.ts'
import type { KubeVirt } from '../kube/kinds/kubevirt-kinds.ts'
import { itemsOf } from '../kube/known.ts'
import { inRolloutOrder, rolloutPath } from '../kubevirt/component-status.ts'
import { lastWriter } from '../kube/last-writer.ts'

interface Tools {
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
    between: { from: plan.from, to: plan.to.text },
    overrides: plan.request.leavePaused ? [imageTagOverride] : [workloadUpdatesOverride, imageTagOverride],
    leaves: isGuards,
    async reached(cx) {
      const clusterRead = await readRollout(cx, plan.owner, (rolloutStatus) =>
        isInstalled(plan, rolloutStatus),
      )
      await refuseBroken(plan, clusterRead, cx)
      return isReached(plan, clusterRead) && (await areMovedIfWanted(plan, cx))
    },
    steps: async (cx) => remembered(await stepsNow(plan, { ...tools, procedure: name, patience }, cx)),
  }
}

const isReached = (plan: UpgradePlan, { rolloutStatus }: ClusterRead): boolean =>
  rolloutStatus.verdict === 'Healthy' && isInstalled(plan, rolloutStatus)

/** Nothing is left to do for a run, and still it does not work: no run mends that, and none may write to a KubeVirt whose operator is gone. */
async function refuseBroken(
  plan: UpgradePlan,
  { rolloutStatus, faults }: ClusterRead,
  cx: ReadContext,
): Promise<void> {
  const [first] = faults
  if (first === undefined || !isInstalled(plan, rolloutStatus)) return
  if ((await cx.journal.overrides()).length > 0) return
  const said = faults.map(({ sentence }) => sentence).join('; ')
  throw blocked('degraded', `KubeVirt is at ${plan.to.text} and ${rolloutStatus.verdict}: ${said}`, {
    remedy: [...first.commands, 'kvup status -w'],
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
  tools: Tools & PauseTools & { patience: Patience },
  cx: ReadContext,
): Promise<readonly Step[]> {
  const { owner, to, request } = plan
  const clusterRead = await readRollout(cx, owner, (rolloutStatus) => isInstalled(plan, rolloutStatus))
  const { rolloutStatus: status } = clusterRead
  const { patience } = tools
  const { hold, change, restore, undone } = request.follow ? watched(plan) : written(plan, tools, clusterRead)
  const guarded = (step: Step) => unlessUndone(step, anyUndone(undone))
  const waits = [
    installStrategy(owner, { version: to.text, undo: undoOf(plan) }),
    ...inOrder(plan, status).map(({ name, desired }) =>
      componentRolled(owner, {
        name,
        version: to.text,
        undo: undoOf(plan, name),
        expectedMs: (10 + 3 * Math.min(desired, 100)) * seconds,
      }),
    ),
    settledStep(plan, 'healthy', patience),
  ]
  const rolling = { owner, patience, stableMs: request.stableMs }
  const settings = onKubeVirt(owner)
  const isResumed = request.hold && !request.leavePaused && !request.follow
  const paused = (step: Step) =>
    isResumed ? pausedWhileRolling(step, { ...rolling, settings, pauseTools: tools }) : step
  return [
    ...(request.hold ? [hold] : []),
    ...(request.migrations === 'ignore' || hasBegun(status, to)
      ? []
      : [migrationsInFlight(request.migrations, request.migrationsTimeoutMs)]),
    ...change,
    ...waits.map(guarded),
    newControllerAtWork(owner, patience),
    ...((await isTagOut(plan, cx))
      ? [putImageTagIn(owner, { version: to.text, registry: request.imageRegistry })]
      : []),
    ...(request.leavePaused ? [] : [request.follow ? restore : onceRolled(restore, rolling)]),
    paused(settledStep(plan, 'healthy-again', patience)),
    ...(request.waitWorkloads && !request.leavePaused
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

/** As virt-operator will roll them, also before it has seen what is asked of it: going back it begins with virt-api (facts 2.5). */
function inOrder({ from, to }: UpgradePlan, status: RolloutStatus): RolloutStatus['components'] {
  const isStill = runningUpdate(status, to) === 'none' && status.observed.version === to.text
  return isStill ? status.components : inRolloutOrder(status.components, rolloutPath(from, to.text))
}

/** Not on the way back: virt-handler rolls once more then, and kills migrations once more. */
function hasBegun(rolloutStatus: RolloutStatus, to: Version): boolean {
  const direction = runningUpdate(rolloutStatus, to)
  return direction === 'joined' || (direction === 'none' && rolloutStatus.observed.version === to.text)
}

/** The steps that differ by who writes: kvup, or the owner whom it follows. */
interface Writing {
  hold: Step
  change: readonly Step[]
  restore: Step
  /** What ends the wait for it, as soon as somebody sets it back. */
  undone: readonly Undone[]
}

function watched(plan: UpgradePlan): Writing {
  const change = [gitopsVersion(plan)]
  return { hold: gitopsPause(plan), change, restore: gitopsRestore(plan), undone: [commitUndone(plan)] }
}

function written(plan: UpgradePlan, tools: Tools & PauseTools, clusterRead: ClusterRead): Writing {
  const { owner, method } = plan
  const isTag = method === 'image-tag'
  const change = isTag
    ? imageTagSteps(plan, tools.operatorVersion, clusterRead)
    : operatorManifestSteps(plan, tools.manifest, tools.who)
  const held = pauseUndone(plan)
  const whileChanging = anyUndone(isTag ? [held] : [held, operatorUndone(plan)])
  return {
    hold: pauseWorkloadUpdates(onKubeVirt(owner), {
      ...tools,
      goesBack: plan.goesBack && plan.request.leavePaused ? plan.to.text : undefined,
    }),
    change: change.map((step) => (step.apply ? step : unlessUndone(step, whileChanging))),
    restore: unlessLeftPaused(
      restoreWorkloadUpdates(onKubeVirt(owner), { resumes: plan.pausedMethods.length > 0 }),
      owner,
    ),
    undone: [whileChanging, ...change.filter(setsTag).map((step) => tagUndone(plan, step))],
  }
}

const setsTag = ({ id }: Step): boolean => setsIn(id, 'tag') || setsIn(id, 'no-tag')

function settledStep(
  { owner, to, request }: UpgradePlan,
  id: 'healthy' | 'healthy-again',
  patience: Patience,
): Step {
  const [title, stableMs] = id === 'healthy' ? ['verify', request.stableMs] : ['verify again', 0]
  return settledFor(owner, { id, title, version: to.text, stableMs, patience })
}

/** Also when an earlier run took it out: then the plan of this one finds no tag any more. */
async function isTagOut({ tag, owner }: UpgradePlan, { journal }: ReadContext): Promise<boolean> {
  const overrides = await journal.overrides()
  return (
    tag.is === 'lift' ||
    overrides.some(({ id, object }) => id === imageTagOverride && object.uid === owner.uid)
  )
}
type Undone = (cx: ReadContext) => Promise<Blocked | undefined>

/** The step, but blocked as soon as what set it going was undone: it would be waited for in vain. */
function unlessUndone(step: Step, undone: Undone): Step {
  return { ...step, check: async (cx) => (await undone(cx)) ?? step.check(cx) }
}

/** Somebody (a self-heal, a colleague) set the tag back after it was set. */
function tagUndone({ owner, to }: UpgradePlan, setTag: Step): Undone {
  return async (cx) => {
    if ((await setTag.check(cx)).is !== 'todo') return undefined
    const kubevirt = await readOwner(cx.reader, owner)
    return tagRestored(kubevirt, { owner, to: to.text, after: await changedAt(cx) })
  }
}

/** Somebody put the old operator back after the new one was applied. */
function operatorUndone({ owner, to }: UpgradePlan): Undone {
  return async (cx) => {
    const { rolloutStatus, snapshot } = await readRollout(cx, owner)
    const is = rolloutStatus.operator?.version
    if (is === undefined || is === to.text) return undefined
    const [deployment] = itemsOf(snapshot.operators)
    return blockedBy({
      what: `the virt-operator Deployment is of ${is} now`,
      who: deployment && lastWriter(deployment, '/spec/template/spec/containers', await changedAt(cx)),
      shows: `kubectl -n ${owner.ref.namespace} get deployment virt-operator -o yaml --show-managed-fields`,
      to: to.text,
    })
  }
}

/** Somebody filled the methods in while they are held: KubeVirt would move VMs during the roll (facts 2.8). */
function pauseUndone({ owner, to }: UpgradePlan): Undone {
  return async ({ reader, journal }) => {
    if (openOverride(await journal.overrides(), owner.uid) === undefined) return undefined
    const kubevirt = await readOwner(reader, owner)
    const methods = methodsOf(kubevirt)
    if (methods.length === 0) return undefined
    return blockedBy({
      what: `workloadUpdateMethods is ${methods.join(', ')} while kvup has it paused`,
      who: lastWriter(kubevirt, methodsPath, await changedAt({ journal })),
      shows: showWriters(owner),
      to: to.text,
    })
  }
}

/** The owner's next sync took back what was committed: the tag, or the operator (night U8). */
function commitUndone(plan: UpgradePlan): Undone {
  const { owner, method, to } = plan
  if (method === 'operator-manifest') return operatorUndone(plan)
  return async ({ reader, journal }) => {
    const kubevirt = await readOwner(reader, owner)
    if (kubevirt.spec?.imageTag === to.text) return undefined
    return tagRestored(kubevirt, { owner, to: to.text, after: await changedAt({ journal }) })
  }
}

/** When this run changed something first: who wrote before that has undone nothing of it. */
async function changedAt({ journal }: Pick<ReadContext, 'journal'>): Promise<Date | undefined> {
  const entries = await journal.entries()
  const begun = entries.findLastIndex(({ what }) => what === 'started')
  const first = entries.slice(begun + 1).find(({ what }) => what === 'applied')
  return first && new Date(first.at)
}

function tagRestored(
  kubevirt: KubeVirt,
  { owner, to, after }: { owner: Owner; to: string; after: Date | undefined },
): Blocked {
  const what = `imageTag is ${kubevirt.spec?.imageTag ?? 'absent'} now`
  const who = lastWriter(kubevirt, '/spec/imageTag', after)
  return blockedBy({ what, who, shows: showWriters(owner), to })
}

/** The first of these that happened. */
function anyUndone(all: readonly Undone[]): Undone {
  return async (cx) => {
    for (const undone of all) {
      const end = await undone(cx)
      if (end) return end
    }
    return undefined
  }
}

/** What is so now, by whom, and the command that shows who writes it. */
interface Undoing {
  what: string
  who: string | undefined
  shows: string
  to: string
}

function blockedBy({ what, who, shows, to }: Undoing): Blocked {
  return {
    is: 'blocked',
    reason: 'undone',
    by: `something reverted kvup's change: ${what}${who ? `, by ${who}` : ''}`,
    remedy: [
      `${shows}     shows who writes it`,
      `kvup upgrade --to ${to} --follow     where Helm or GitOps owns it`,
    ],
  }
}
