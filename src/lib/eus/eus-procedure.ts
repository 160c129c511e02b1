import { assessPool } from '../openshift/machine-config-pools.ts'
import { MachineConfigPools, MachineHealthChecks, NodeHealthChecks } from '../kube/kinds/openshift-kinds.ts'
import { type Procedure, type ReadContext, rememberSteps, type Step, type StepState } from '../engine/step.ts'
import type { VmRef } from '../vms/unblock/vm-overrides.ts'
import { isGuards } from '../vms/update-guard.ts'
import { fieldRestored, pausedOnce, takeField, whilePaused } from './settings/setting-steps.ts'
import { keepChosenPath, keepWhereItBegan, keptBaseline } from './baseline.ts'
import { forecastStep, noneOutdated, vmsMoved, vmsRestoredNow } from './steps/eus-vm-steps.ts'
import { operatorLeadsOn, operatorMinorIn, operatorPart, type OperatorPart } from './steps/operator-steps.ts'
import { readPlatform, type Stop } from './steps/cluster-version-status.ts'
import { updateAccepted, withdrawRefused } from './steps/update-acceptance.ts'
import { type EusWindow, keyOf, pausingOf, settingsOf, stopOf } from './window.ts'
import { compareMinors, minorOfPlatform } from '../releases/release-versions.ts'
import { Subscriptions } from '../kube/kinds/operator-kinds.ts'
import type { Kind, KubeObject } from '../kube/object.ts'
import type { Reader } from '../kube/cluster.ts'
import { closeMethodsOverride, pauseWorkloadUpdates, restoreSteps } from '../vms/pause-updates.ts'
import type { EusHop, HealthCheckRef } from './plan/eus-plan.ts'
import {
  approvalOf,
  type Borrowable,
  machineHealthCheckPaused,
  nodeHealthCheckPaused,
  overrideNamed,
} from './settings/eus-settings.ts'
import {
  inOrder,
  masterRolled,
  pausablePools,
  platformUpdated,
  poolsWithoutNodes,
} from './steps/platform-rollout.ts'
import { pausePool, poolsBehind, rolledPool, roomsBefore, unpausePool } from './steps/pool-steps.ts'
import { platformGate } from './steps/platform-gate.ts'
import { requestUpdate, setPlatformChannel } from './steps/update-request.ts'
import {
  methodsIn,
  nameOf,
  readOwner,
  type SettingsOwner,
  showsWriters,
  storedNow,
} from '../vms/strategy/settings-owner.ts'
import {
  keptMethods,
  methodsOf,
  methodsText,
  overrideId,
  overrideOn,
  restoreLine,
  sameMethods,
} from '../vms/update-methods.ts'
import { blocked } from '../kube/errors.ts'
import { roleRemedy } from '../output/kvup-words.ts'
import type { Override } from '../engine/journal.ts'
import { newControllerAtWork, Patience, settledFor } from '../upgrade/steps/component-rollout.ts'
import { minutes, seconds } from '../kube/clock.ts'

/**
 * The whole window, in the order of ocp 0, 5.1 and 9.19. Where it stands is asked of the cluster at each step, so that running it again, anywhere, goes on;
 * which releases of the operator lie on the way is known only when OLM shows them. `lent`: the VMs that are said to be given back at its end.
 */
export function eusProcedure(window: EusWindow, overridden: readonly VmRef[] = []): Procedure {
  const remembered = rememberSteps(rewritten)
  const vms = vmsRestoredNow(overridden)
  return {
    name: window.name,
    between: { from: window.began, to: window.to },
    leaves: isGuards,
    leaving: (cx) =>
      withdrawRefused(cx, { name: window.name, leaveRequested: window.request.leaveRequested }),
    reached: async (cx) =>
      (await isThere(window, cx)) &&
      (await areNodesThere(cx)) &&
      !(await keptBaseline(cx.journal, window.name)) &&
      (await isOperatorKnown(window, cx)),
    steps: async (cx) => remembered(await stepsNow(window, vms, cx)),
  }
}

/**
 * Once platform and operator are there, nothing is borrowed any more: only the way back out is left. What VMs were lent goes back at its very end; where windows follow one
 * another the drains of the next one need it still.
 */
async function stepsNow(
  window: EusWindow,
  vms: ReturnType<typeof vmsRestoredNow>,
  cx: ReadContext,
): Promise<readonly Step[]> {
  const end = await endSteps(window, cx)
  if (await isThere(window, cx)) {
    const back = window.to === window.plan.to ? await vms(cx.reader) : []
    return [...(await lastOperator(window, cx)), ...end, ...back]
  }
  const hops = await Promise.all(window.hops.map(async (hop) => hopSteps(window, hop, cx)))
  const watched = hops.flat().map((step) => whilePaused(step, pausingOf(window)))
  return eachOnce([...(await preparation(window, cx)), ...watched, ...end])
}

/** On a plain way pools are waited for before the operator follows, and not again. */
function eachOnce(steps: readonly Step[]): readonly Step[] {
  const observed = new Set<string>()
  return steps.filter(({ id }) => !observed.has(id) && observed.add(id))
}

/** A run that was cut off while the last release of the operator settled has to see that through. */
async function lastOperator(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const { operator } = window.plan
  if (operator === undefined || !(await isHeldStill(window, cx))) return []
  const stops = window.hops.findLast(({ minor }) => minor === window.to)?.operators ?? []
  return operatorPart(window, { minor: window.to, stops, operator }, cx)
}

/** The platform has reached the target in full, and the operator belongs to it. */
async function isThere(window: EusWindow, cx: ReadContext): Promise<boolean> {
  const { to, releases } = window
  const { platformStatus } = await readPlatform(cx.reader)
  if (platformStatus.state !== 'idle' || minorOfPlatform(platformStatus.version) !== to) return false
  const { minor } = await operatorMinorIn(cx.reader, releases)
  return minor === undefined ? isLeftUnknown(window, cx) : minor === to
}

/** What the operator does not say proves nothing while a window waits for it; on the way back out it was asked before. That nothing is to do is `isOperatorKnown`'s to say. */
async function isLeftUnknown(window: EusWindow, cx: ReadContext): Promise<boolean> {
  return window.plan.operator === undefined || !(await isHeldStill(window, cx))
}

/** Pools that somebody keeps paused are theirs. */
async function areNodesThere({ reader }: ReadContext): Promise<boolean> {
  const pools = (await reader.list(MachineConfigPools)).map(assessPool)
  return pools.every(({ paused, state }) => paused || state === 'updated')
}

/** What is borrowed before the first hop, each kept before it is changed: update methods, pools, what would replace their nodes, approval. */
async function preparation(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const { plan, mode, name, request } = window
  const settings = await settingsOf(window, cx.reader)
  const pools = mode === 'rolling' ? [] : await pausablePools(cx.reader)
  const checks = await healthChecks(cx.reader, plan.healthChecks)
  return [
    ...(window.hops.some((hop) => hop.outdatedMustBeZero)
      ? [
          onlyAtFirst(
            noneOutdated(
              { id: 'launchers-current', title: 'no VM on an old virt-launcher', risk: 'outdated-launchers' },
              request,
            ),
          ),
        ]
      : []),
    ...(mode === 'rolling' ? await rooms(window, cx.reader) : []),
    keepWhereItBegan({
      name,
      mode,
      pools: pools.map((pool) => pool.name),
      ...(plan.to !== window.to && { goal: plan.to }),
    }),
    keepChosenPath(window),
    pausedOnce(pauseWorkloadUpdates(settings, by(window)), pausingOf(window)),
    ...pools.map((pool) => pausePool(window, pool, by(window))),
    ...checks.map(({ field, id, title }) => takeField(field, { id, title, ...by(window) })),
    ...(await approvalStep(window, cx.reader)),
  ]
}

async function rooms(window: EusWindow, reader: Reader): Promise<readonly Step[]> {
  const [first] = window.hops
  return first === undefined ? [] : roomsBefore(window, stopOf(window, first), reader)
}

const by = ({ who, name, request }: EusWindow) => ({
  who,
  procedure: name,
  again: request.accepted.includes('override-changed'),
  command: request.command,
})

/** Inside of a window VMs are meant to stay where they are. */
const onlyAtFirst = (step: Step): Step => ({
  ...step,
  async check(cx): Promise<StepState> {
    const isOpen = (await cx.journal.overrides()).some(({ id }) => id === 'workload-updates')
    return isOpen ? { is: 'done' } : step.check(cx)
  },
})

interface HealthCheckStep {
  field: Borrowable
  id: string
  title: string
}

async function healthChecks(
  reader: Reader,
  refs: readonly HealthCheckRef[],
): Promise<readonly HealthCheckStep[]> {
  const found = await Promise.all(refs.map(async (ref) => healthCheck(reader, ref)))
  return found.flat()
}

async function healthCheck(reader: Reader, ref: HealthCheckRef): Promise<HealthCheckStep[]> {
  const { kind, name, namespace } = ref
  const isVms = kind === 'MachineHealthCheck'
  const at = { name, namespace }
  const uid = await (isVms ? uidOf(reader, MachineHealthChecks, at) : uidOf(reader, NodeHealthChecks, at))
  if (uid === undefined) return []
  const snapshot = { name, namespace, uid }
  const field = isVms ? machineHealthCheckPaused(snapshot) : nodeHealthCheckPaused(snapshot)
  const place = namespace === undefined ? name : `${namespace}-${name}`
  return [{ field, id: `pause-health-check-${place}`, title: `pause ${kind} ${name}` }]
}

async function approvalStep(window: EusWindow, reader: Reader): Promise<readonly Step[]> {
  const { approval } = window.request
  const subscription = window.plan.operator?.subscription
  if (approval === undefined || subscription === undefined) return []
  const uid = await uidOf(reader, Subscriptions, subscription)
  if (uid === undefined) return []
  const field = approvalOf({ ...subscription, uid }, approval)
  return [takeField(field, { id: 'approval', title: `${approval} approval of the operator`, ...by(window) })]
}

async function uidOf<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  ref: { name: string; namespace?: string | undefined },
): Promise<string | undefined> {
  const found = await reader.get(kind, ref)
  return found.is === 'object' ? found.object.metadata.uid : undefined
}

/** One minor: the gate, the platform, and the operator behind it. A hop that is behind us is left out. */
async function hopSteps(window: EusWindow, hop: EusHop, cx: ReadContext): Promise<readonly Step[]> {
  const stop = stopOf(window, hop)
  const { platformStatus } = await readPlatform(cx.reader)
  if (compareMinors(minorOfPlatform(platformStatus.target), stop.minor) > 0) return []
  const platform = await platformSteps(window, hop, cx.reader)
  return [...platform, ...(await operatorSteps(window, { hop, stop }, cx))]
}

async function platformSteps(window: EusWindow, hop: EusHop, reader: Reader): Promise<readonly Step[]> {
  const { name, who, plan, request } = window
  const stop = stopOf(window, hop)
  const key = keyOf(stop)
  const { cv } = await readPlatform(reader)
  const channel = hop === window.hops[0] ? (hop.platform.channel ?? plan.channel?.to) : hop.platform.channel
  const { accepted, command } = request
  return [
    ...operatorsPath(window, stop),
    platformGate({ id: gateId(stop), stop, name, subscription: plan.operator?.subscription }),
    ...(channel === undefined
      ? []
      : [setPlatformChannel(cv, { id: `channel-${key}`, channel, stop, who, name })]),
    requestUpdate({
      id: `request-${key}`,
      subscription: plan.operator?.subscription,
      stop,
      wanted: hop.platform,
      accepted,
      command,
      who,
      name,
    }),
    updateAccepted({ id: `accepted-${key}`, stop, name, leaveRequested: request.leaveRequested }),
    platformUpdated({ id: `platform-${key}`, stop }),
    masterRolled({ id: `control-plane-${key}`, stop, name }),
    ...(window.mode === 'rolling' ? await poolsBehind(window, stop, reader) : []),
  ]
}

/** None where OLM keeps no operator. */
function operatorsPath({ plan, releases, request }: EusWindow, stop: Stop): readonly Step[] {
  const { operator, findings } = plan
  if (operator === undefined) return []
  const { accepted, command } = request
  const isStranded = findings.some(({ id }) => id === 'operator-stranded')
  const id = `operator-way-${keyOf(stop)}`
  return [operatorLeadsOn({ id, stop, operator, releases, accepted, command, isStranded })]
}

/** The gates of the operator bear its releases, which on OpenShift look like those of the platform. */
const gateId = (stop: Stop): string => `gate-${stop.version === undefined ? '' : 'platform-'}${keyOf(stop)}`

/** The last hop of a minor has the operator behind it. */
async function operatorSteps(
  window: EusWindow,
  { hop, stop }: { hop: EusHop; stop: Stop },
  cx: ReadContext,
): Promise<readonly Step[]> {
  const { operator } = window.plan
  const isLast = window.hops.findLast(({ minor }) => minor === stop.minor) === hop
  if (operator === undefined || !isLast || hop.minor === window.began) return []
  const part: OperatorPart = { minor: stop.minor, stops: hop.operators, operator }
  return operatorPart(window, part, cx)
}

/**
 * A window that was begun, and whose VMs are held still: its way back out has not begun. an override alone would not tell it, for where the methods were empty
 * beforehand nothing is borrowed. Throws ApiError, and `blocked` where the KubeVirt is another one.
 */
async function isHeldStill(
  { name, kubevirt }: Pick<EusWindow, 'name' | 'kubevirt'>,
  { reader, journal }: Pick<ReadContext, 'reader' | 'journal'>,
): Promise<boolean> {
  if ((await journal.overrides()).some(({ id }) => id === overrideId)) return true
  if ((await keptBaseline(journal, name)) === undefined) return false
  return methodsOf(await readOwner(reader, kubevirt)).length === 0
}

/**
 * True where there is no operator, or it says of which release it is. Throws `blocked` where it does not say: that nothing is left to do would not be
 * known, and whether anything is neither.
 */
async function isOperatorKnown(
  { plan, manager, releases }: Pick<EusWindow, 'plan' | 'manager' | 'releases'>,
  { reader }: Pick<ReadContext, 'reader'>,
): Promise<boolean> {
  if (plan.operator === undefined && manager.kind !== 'hyperconverged') return true
  const { minor, version, why } = await operatorMinorIn(reader, releases)
  if (minor !== undefined) return true
  const said = version === undefined ? why.join('; ') : `it reports ${version}, which kvup does not know`
  throw blocked(
    'operator-unknown',
    `the platform is there, but the minor of the operator is unknown${said === '' ? '' : `: ${said}`}`,
    {
      object: 'hyperconvergeds.hco.kubevirt.io',
      remedy: [
        'oc get hyperconvergeds.hco.kubevirt.io -A -o yaml     its status.versions says it',
        roleRemedy('kvup-olm'),
      ],
    },
  )
}

/** They name the HyperConverged in the version in which it is stored, which an upgrade of its operator may change: made anew whenever steps are listed. */
export const rewritten: ReadonlySet<string> = new Set([
  'pause-workload-updates',
  'resume-workload-updates',
  'workload-updates-passed-on',
])

/**
 * The way back out, in the order of ocp 9.19: settled, what VMs will do is said, methods given back, VMs moved, then pools one at a time, and last
 * what watches and approves. From any minor: an abort takes it as well.
 */
export async function endSteps(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const { kubevirt, who, request } = window
  const settings = await settingsOf(window, cx.reader)
  return [
    settledFor(kubevirt, {
      id: 'healthy',
      title: 'verify that KubeVirt is healthy',
      stableMs: request.stableMs,
      patience: new Patience(),
    }),
    newControllerAtWork(kubevirt),
    forecastStep(settings, request),
    ...(await restoreMethods(settings, cx)),
    vmsMoved(kubevirt, { who, follow: false, since: cx.clock.now().getTime(), settings }, request),
    noneOutdated(
      { id: 'none-outdated', title: 'no VM left on an old virt-launcher', risk: 'vms-that-stay' },
      request,
    ),
    ...(await poolSteps(window, cx)),
    ...(await settingSteps(cx)),
  ]
}

async function poolSteps(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const { name, kubevirt, request } = window
  const pools = inOrder(await pausablePools(cx.reader), request.poolOrder)
  if (window.mode === 'rolling') return pools.map((pool) => rolledPool({ pool, name }))
  const { accepted, command } = request
  const back = pools.flatMap((pool) => unpausePool({ pool, kubevirt, name, accepted, command }))
  const gone = poolsWithoutNodes(await cx.journal.overrides(), pools)
  return [...back, ...gone.flatMap((override) => fieldRestored(override))]
}

/** What is borrowed besides methods and pools, by the open overrides: whatever was taken is given back, whichever run took it. */
async function settingSteps({ journal }: ReadContext): Promise<readonly Step[]> {
  return (await journal.overrides()).filter(isSetting).flatMap((override) => fieldRestored(override))
}

const settings = ['machine-health-check', 'node-health-check', 'approval']
const isSetting = ({ id }: Override): boolean =>
  settings.some((name) => id === name || id.startsWith(`${name}/`))

/** The methods go back to the object that they were taken from; where another one stands in its place, somebody is asked. */
async function restoreMethods(
  owner: SettingsOwner,
  { journal }: Pick<ReadContext, 'journal'>,
): Promise<readonly Step[]> {
  const overrides = await journal.overrides()
  const ours = overrideOn(owner, overrides)
  if (ours !== undefined) return restoreSteps(owner, { takenFrom: ours.object.uid })
  const former = overrideNamed(overrides, overrideId)
  return former === undefined ? restoreSteps(owner) : [toAnother(owner, former)]
}

/** It may have come with what was borrowed at the time: out of a backup, or a repository. */
function toAnother(found: SettingsOwner, override: Override): Step {
  return {
    id: 'resume-workload-updates',
    title: 'resume automatic VM updates',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    shows: showsWriters(found),
    async check({ reader, journal }): Promise<StepState> {
      if (overrideNamed(await journal.overrides(), overrideId)?.object.uid !== override.object.uid)
        return { is: 'done' }
      const owner = await storedNow(reader, found)
      if ('is' in owner) return owner
      const now = methodsIn(await readOwner(reader, owner), owner)
      return sameMethods(now, keptMethods(override))
        ? {
            is: 'todo',
            change: `note workloadUpdateMethods of ${nameOf(owner)} as restored: it is ${methodsText(now)} again`,
          }
        : madeAnew(owner, override, now)
    },
    apply: (cx) => closeMethodsOverride(cx, found, `the ${found.kind.kind} that it belonged to is gone`),
  }
}

function madeAnew(owner: SettingsOwner, override: Override, now: readonly string[]): StepState {
  const kept = methodsText(keptMethods(override))
  const restore = restoreLine(override)
  return {
    is: 'blocked',
    reason: 'changed-meanwhile',
    by: `${nameOf(owner)} was deleted and created again since kvup changed workloadUpdateMethods (saved: ${kept}); it now reads ${methodsText(now)}`,
    remedy: [
      `${restore} --overwrite     sets the saved value on the new one`,
      `${restore} --keep-current     forgets the saved value and changes nothing`,
    ],
  }
}
