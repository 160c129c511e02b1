import type { Doubt, RolloutStatus } from '../../kubevirt/rollout-status.ts'
import type { ReadContext, Step, StepContext, StepState } from '../../engine/step.ts'
import { openOverride, type Owner } from '../../vms/update-methods.ts'
import { type ClusterRead, readRollout, snapshotWatches } from '../upgrade-snapshot.ts'
import { hours, minutes, seconds, ticks } from '../../kube/clock.ts'
import { type ComponentStatus, rollComesLater, rollingNow } from '../../kubevirt/component-status.ts'
import { type PauseTools, pauseWorkloadUpdates, restoreSteps } from '../../vms/pause-updates.ts'
import type { SettingsOwner } from '../../vms/strategy/settings-owner.ts'
import { isGuards } from '../../vms/update-guard.ts'
import { holderOf, newControllerLeads } from '../../kubevirt/lease-holders.ts'
import { countUnlabelled } from '../../vms/outdated-vms.ts'
import type { Snapshot } from '../../kubevirt/snapshot.ts'
import { type Cause, concerns } from '../../kubevirt/diagnosis/pod-trouble.ts'
import { itemsOf } from '../../kube/known.ts'
import { spanText } from '../../kube/duration.ts'

/**
 * Waits until the operator took the new target and its first operand carries it: RBAC, CRDs and webhooks come before any
 * operand (facts 2.5). A wrong tag shows only here, in the pod of the strategy Job (facts 2.4).
 */
export function installStrategy(owner: Owner, { version, undo }: { version: string; undo: string }): Step {
  return {
    id: 'install-strategy',
    title: 'install CRDs and RBAC',
    doing: 'installing CRDs and RBAC',
    patience: { every: 10 * seconds, atMost: 30 * minutes },
    estimate: 15 * seconds,
    watches: snapshotWatches(owner),
    goesOn: true,
    risk: { undo, safeToLeave: 'the operator goes on by itself' },
    async check(cx): Promise<StepState> {
      const { rolloutStatus } = await readRollout(cx, owner)
      if (!aimedAt(rolloutStatus, version))
        return stalledOr(rolloutStatus, undefined, {
          is: 'waiting',
          on: `virt-operator to take ${version} as its target`,
        })
      if (
        rolloutStatus.observed.id === rolloutStatus.target.id ||
        rolloutStatus.components.some((c) => c.applied)
      )
        return { is: 'done', note: 'CRDs and RBAC installed' }
      return stalledOr(rolloutStatus, undefined, {
        is: 'waiting',
        on: strategyWaitedFor(rolloutStatus, version),
      })
    },
  }
}

/** With the strategy in place come RBAC, CRDs and webhooks, and then the first component (facts 2.5). */
function strategyWaitedFor({ waitingFor, components: [first] }: RolloutStatus, version: string): string {
  if (first && waitingFor?.startsWith(`${first.name}: `)) return `virt-operator to start ${first.name}`
  return waitingFor ?? `the install strategy of ${version}`
}

/** The operator works on this version: what its operands carry can be compared with its target (facts 1.5). */
function aimedAt({ target, generation }: RolloutStatus, version: string): boolean {
  return target.version === version && generation.spec !== undefined
}

/** Waits for one DaemonSet or Deployment of KubeVirt to run the target everywhere. `expectedMs` is only an estimate. */
export function componentRolled(
  owner: Owner,
  { name, version, undo, expectedMs }: { name: string; version: string; undo: string; expectedMs: number },
): Step {
  return {
    id: name,
    title: name,
    doing: `updating ${name}`,
    ...(name === 'virt-api' && { ahead: 'consoles and VNC drop once' }),
    patience: { every: 10 * seconds, atMost: 12 * 60 * minutes },
    estimate: expectedMs,
    watches: snapshotWatches(owner),
    goesOn: true,
    risk: { undo, safeToLeave: 'the operator goes on by itself' },
    async check(cx): Promise<StepState> {
      const { rolloutStatus, snapshot } = await readRollout(cx, owner)
      if (!aimedAt(rolloutStatus, version))
        return { is: 'waiting', on: `virt-operator to take ${version} as its target` }
      const component = rolloutStatus.components.find((c) => c.name === name)
      if (!component || component.state === 'absent') return { is: 'done', note: 'not part of this version' }
      const { kind, updated, desired } = component
      const of = kind === 'DaemonSet' ? 'nodes' : 'pods'
      if (component.state === 'current') return { is: 'done', note: `${updated} of ${desired} ${of}` }
      const now = component.state === 'waiting' ? undefined : rollingNow(snapshot, name, cx.clock.now())
      return stalledOr(rolloutStatus, name, {
        is: 'waiting',
        on: componentWaitedFor(rolloutStatus, component),
        ...(now !== undefined && { now }),
        progress: { done: Math.min(updated, desired), total: desired, of },
      })
    },
  }
}

/** Without the component's name and count, which are said beside it. */
function componentWaitedFor({ waitingFor }: RolloutStatus, { name, state, detail }: ComponentStatus): string {
  if (waitingFor === undefined) return name
  if (!waitingFor.startsWith(`${name}: `)) return waitingFor
  return state === 'waiting' ? 'its turn' : detail || 'its pods to be ready'
}

/** How long it has been stable of how long it has to be: `stable for 15 of 30 s`. */
export const stableText = (heldMs: number, stableMs: number): string =>
  `stable for ${Math.floor(heldMs / seconds)} of ${Math.round(stableMs / seconds)} s`

interface Rolling {
  owner: Owner
  patience: Patience
  /** For how long virt-handler has to be rolled before VMs are moved again, ms. */
  stableMs: number
}

/** A roll of a DaemonSet may take hours on many nodes, whatever the step itself needs. */
const rollAtMost = 12 * hours

const isRolling = 'virt-handler to finish the rollout that has begun'

/**
 * The step that resumes automatic VM updates, held back while virt-handler rolls: its restart ends migrations (facts 2.8). It has to
 * be rolled by its own status for as long as `--stable-for` says, whatever KubeVirt says meanwhile.
 */
export function onceRolled(step: Step, rolling: Rolling): Step {
  return {
    ...step,
    patience: { ...step.patience, atMost: rollAtMost },
    watches: [...snapshotWatches(rolling.owner), ...step.watches],
    due: (cx) => step.check(cx),
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      return state.is === 'todo' ? ((await stillRolling(cx, rolling)) ?? state) : state
    },
  }
}

async function stillRolling(
  cx: ReadContext,
  { owner, patience, stableMs }: Rolling,
): Promise<StepState | undefined> {
  const now = ticks(cx.clock)
  patience.saw(await readRollout(cx, owner), now)
  const rolledFor = patience.rolledFor(now)
  if (rolledFor === undefined) return { is: 'waiting', on: isRolling }
  if (rolledFor >= stableMs) return undefined
  return {
    is: 'waiting',
    on: `virt-handler to stay updated for ${spanText(stableMs)}`,
    now: `virt-handler ${stableText(rolledFor, stableMs)}`,
  }
}

/**
 * A step behind the one that resumed automatic VM updates, which pauses them again where virt-handler is given a new template after
 * all: virt-operator may roll it once more after it said that it was done (lab 9). It resumes them once that roll is through.
 */
export function pausedWhileRolling(
  step: Step,
  { settings, pauseTools, ...rolling }: Rolling & { settings: SettingsOwner; pauseTools: PauseTools },
): Step {
  const hold = pauseWorkloadUpdates(settings, pauseTools)
  const gives = restoreSteps(settings).map((give) => onceRolled(give, rolling))
  let next: Step | undefined
  return {
    ...step,
    patience: { ...step.patience, atMost: Math.max(step.patience.atMost, rollAtMost) },
    watches: [...snapshotWatches(rolling.owner), ...step.watches],
    // Further rolls come one after the other, two at most were seen; every one of them is a pause and a resumption.
    repeats: { atMost: 12, parallel: 1 },
    guards: true,
    async check(cx): Promise<StepState> {
      next = undefined
      const override = openOverride(await cx.journal.overrides(), settings.uid)
      if (override && !isGuards(override)) {
        const found = await firstOpen(gives, cx)
        next = found?.step
        return found?.state ?? step.check(cx)
      }
      rolling.patience.saw(await readRollout(cx, rolling.owner), ticks(cx.clock))
      if (!override && rolling.patience.rollsAnew) {
        const found = await firstOpen([hold], cx)
        next = found?.step
        if (found?.state.is === 'todo')
          return {
            is: 'todo',
            change: `pause automatic VM updates again: virt-handler is given a new template`,
          }
        return found?.state ?? { is: 'waiting', on: isRolling }
      }
      return step.check(cx)
    },
    async apply(cx: StepContext) {
      return (next ?? step).apply?.(cx)
    },
  }
}

/** The first of the steps that is not done, and where it stands. */
async function firstOpen(
  steps: readonly Step[],
  cx: ReadContext,
): Promise<{ step: Step; state: StepState } | undefined> {
  for (const step of steps) {
    const state = await step.check(cx)
    if (state.is !== 'done') return { step, state }
  }
  return undefined
}

interface SettledFor {
  id: string
  title: string
  /** Absent: whichever version is installed. */
  version?: string
  /** ms without a bad look in between. */
  stableMs: number
  /** How long doubts are waited for as well; absent: they are only named. */
  patience?: Patience
}

/**
 * Done means Healthy, and so for a while: Available once is no proof, the real operator was seen to fall back to
 * DeploymentFailed 4 s later and heal (lab README, Seen 2). Any worse look starts the clock again. A doubt is waited for no longer
 * than the patience lasts, and is named then.
 */
export function settledFor(owner: Owner, { id, title, version, stableMs, patience }: SettledFor): Step {
  let goodSince: number | undefined
  const broken = new Broken()
  return {
    id,
    title,
    doing: 'verifying that KubeVirt stays healthy',
    ...(stableMs > 0 && { ahead: `stable for ${spanText(stableMs)}` }),
    patience: { every: Math.min(5 * seconds, Math.max(stableMs / 4, 250)), atMost: 60 * minutes },
    estimate: stableMs + 5 * seconds,
    watches: snapshotWatches(owner),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const clusterRead = await readRollout(cx, owner)
      const { rolloutStatus } = clusterRead
      const now = ticks(cx.clock)
      patience?.saw(clusterRead, now)
      const end = broken.after(clusterRead.faults, now)
      if (end !== undefined) return end
      if (
        rolloutStatus.verdict !== 'Healthy' ||
        (version !== undefined && rolloutStatus.observed.version !== version)
      ) {
        goodSince = undefined
        const on =
          rolloutStatus.verdict === 'Healthy'
            ? `${version} to be observed`
            : (rolloutStatus.waitingFor ?? 'KubeVirt to be healthy')
        return stalledOr(rolloutStatus, undefined, { is: 'waiting', on })
      }
      goodSince ??= now
      const held = now - goodSince
      if (held < stableMs)
        return {
          is: 'waiting',
          on: `KubeVirt to stay healthy for ${spanText(stableMs)}`,
          now: stableText(held, stableMs),
        }
      const [doubt] = patience?.waitsFor(rolloutStatus.doubts, now) ?? []
      return doubt ? waitingFor(doubt) : doneAfter(held, stableMs, rolloutStatus.doubts)
    },
  }
}

/** KubeVirt says that it is done: what is waited for beyond that, and that it is not for long. */
const waitingFor = ({ sentence, commands: remedy }: Doubt): StepState => ({
  is: 'waiting',
  on: `this to pass, for ${spanText(doubtsAtMost)} at most: ${sentence}`,
  now: `KubeVirt reports that it is done, but ${sentence}; waiting ${spanText(doubtsAtMost)} at most`,
  remedy,
})

function doneAfter(held: number, stableMs: number, doubts: readonly Doubt[]): StepState {
  const notes = [
    ...(stableMs > 0 ? [`stable for ${spanText(held)}`] : []),
    ...doubts.map(({ sentence }) => sentence),
  ]
  return { is: 'done', ...(notes.length > 0 && { note: notes.join('; ') }) }
}

/** The first of the two rolls of night U2: the new operator takes the pinned version over. */
export function settledAtOldVersion(
  owner: Owner,
  { version, stableMs }: { version: string; stableMs: number },
): Step {
  const title = `verify ${version} under the new operator`
  const patience = new Patience()
  return settledFor(owner, { id: 'healthy-at-old-version', title, version, stableMs, patience })
}

/**
 * At "done" the outdated count is a stale 0 until a virt-controller of the new version holds its Lease and has labelled the
 * VMIs (lab README, Seen 10 and 15): before that nothing may be said of outdated workloads. Both are doubts: another release may
 * elect and label otherwise, so they are waited for no longer than the patience lasts.
 */
export function newControllerAtWork(owner: Owner, patience: Patience = new Patience()): Step {
  const missing = seldom(countUnlabelled)
  return {
    id: 'virt-controller-leads',
    title: 'count outdated VMs',
    doing: 'waiting for the new virt-controller to label outdated VMs',
    patience: { every: 3 * seconds, atMost: 60 * minutes },
    estimate: 15 * seconds,
    watches: snapshotWatches(owner),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const clusterRead = await readRollout(cx, owner)
      const now = ticks(cx.clock)
      patience.saw(clusterRead, now)
      const doubt = await controllerDoubt(clusterRead.snapshot, () => missing(cx, clusterRead.snapshot))
      if (!doubt) return { is: 'done' }
      const [waited] = patience.waitsFor([doubt], now)
      return waited ? waitingFor(waited) : { is: 'done', note: doubt.sentence }
    },
  }
}

/** What keeps counts of outdated VMs from being believed; `missing` says how many VMIs are not labelled and should be. */
export async function controllerDoubt(
  snapshot: Snapshot,
  missing: () => Promise<number>,
): Promise<Doubt | undefined> {
  const namespace = snapshot.kubevirts.known ? snapshot.kubevirts.items[0]?.metadata.namespace : undefined
  if (newControllerLeads(snapshot) === false) {
    const holder = holderOf(snapshot, 'virt-controller', namespace) ?? 'nobody'
    return {
      id: 'controller-lease',
      sentence: `the Lease of virt-controller names ${holder}, which is no pod of the new version: kvup may not count outdated VMs yet`,
      commands: [`kubectl -n ${namespace ?? ''} get lease virt-controller -o yaml`],
    }
  }
  const left = await missing()
  if (left === 0) return undefined
  return {
    id: 'vms-not-labelled',
    sentence: `virt-controller has not labelled ${left} ${left === 1 ? 'VM' : 'VMs'} on an old virt-launcher as outdated`,
    commands: ['kubectl get vmi -A -l kubevirt.io/outdatedLauncherImage'],
  }
}

type Count = (reader: ReadContext['reader'], snapshot: Snapshot) => Promise<number>

/** All VMIs are listed for it: at most every five seconds, however often the step is woken. */
function seldom(count: Count): (cx: ReadContext, snapshot: Snapshot) => Promise<number> {
  let last: { at: number; count: number } | undefined
  return async ({ reader, clock }, snapshot) => {
    const now = ticks(clock)
    if (last === undefined || last.count === 0 || now - last.at >= 5 * seconds)
      last = { at: now, count: await count(reader, snapshot) }
    return last.count
  }
}

/**
 * The waiting state with what stands in its way: a cause of this component, or of anything when none is named. It stalls only
 * when the verdict says so; before that the cause is told as it is.
 */
export function stalledOr(
  rolloutStatus: RolloutStatus,
  component: string | undefined,
  waiting: Extract<StepState, { is: 'waiting' }>,
): StepState {
  const cause =
    rolloutStatus.why.find((c) => component === undefined || concerns(c, component)) ?? rolloutStatus.why[0]
  if (!cause) return waiting
  const counts = rolloutStatus.verdict === 'Stalled' || rolloutStatus.verdict === 'Degraded'
  if (!counts) return { ...waiting, trouble: cause.sentence, remedy: cause.commands }
  // What may heal, like a node that is NotReady, was there before it held anything up.
  const since = cause.terminal ? (cause.since ?? rolloutStatus.since) : (rolloutStatus.since ?? cause.since)
  return {
    is: 'stalled',
    on: waiting.on,
    why: cause.sentence,
    ...(rolloutStatus.verdict === 'Degraded' && { verdict: rolloutStatus.verdict }),
    remedy: cause.commands,
    ...(since !== undefined && { since }),
    ...(waiting.progress && { progress: waiting.progress }),
  }
}

/** How long what is broken beside KubeVirt's own word is waited for, ms. */
const patience = 2 * minutes

/**
 * KubeVirt says that all is well, and something was measured that is not: it is waited for behind KubeVirt's word for two minutes, and then the run ends
 * as Degraded (exit 3), for that is no doubt of ours.
 */
export class Broken {
  #since: number | undefined

  /** What ends the run; undefined while nothing does. `now` in ms. */
  after(faults: readonly Cause[], now: number): StepState | undefined {
    const [first] = faults
    if (first === undefined) {
      this.#since = undefined
      return undefined
    }
    this.#since ??= now
    if (now - this.#since < patience) return undefined
    return {
      is: 'blocked',
      reason: 'degraded',
      by: `KubeVirt reports that it is healthy, but it is Degraded: ${faults.map(({ sentence }) => sentence).join('; ')}`,
      remedy: first.commands,
    }
  }
}

/** For how long behind KubeVirt's own done a doubt is waited for, ms. */
const doubtsAtMost = 2 * minutes

/**
 * What the steps of one run share behind KubeVirt's own done: for how long a doubt is waited for still, and since when every DaemonSet
 * is rolled. Kept in memory: a run that is resumed begins anew, as `--stable-for` does. All times are ticks of one clock, ms.
 */
export class Patience {
  #doneSince: number | undefined
  #rolledSince: number | undefined
  #rolledTemplates: string | undefined
  readonly #givenUp = new Set<string>()

  /** Takes a look into account; what is asked later is about it. */
  saw({ rolloutStatus, snapshot }: ClusterRead, now: number): void {
    if (rolloutStatus.verdict === 'Healthy') this.#doneSince ??= now
    else this.#doneSince = undefined
    this.#templates = itemsOf(snapshot.daemonsets)
      .map(({ metadata, spec }) => `${metadata.name} ${JSON.stringify(spec?.template)}`)
      .toSorted()
      .join('\n')
    this.#isRollLater = rollComesLater(itemsOf(snapshot.daemonsets), rolloutStatus.target.version)
    const rolling = rolloutStatus.components.some(
      ({ kind, state }) => kind === 'DaemonSet' && !isRest.has(state),
    )
    if (rolling) this.#rolledSince = undefined
    else {
      this.#rolledSince ??= now
      this.#rolledTemplates = this.#templates
    }
  }

  #templates = ''
  /** A further roll of virt-handler is left to a later release: it is told, and not waited for. */
  #isRollLater = false

  /** Those of the doubts that are waited for still; one that was waited for long enough is not waited for again. */
  waitsFor(doubts: readonly Doubt[], now: number): readonly Doubt[] {
    const isOver = this.#doneSince !== undefined && now - this.#doneSince >= doubtsAtMost
    if (isOver) for (const doubt of doubts) this.#givenUp.add(keyOf(doubt))
    return doubts.filter(
      (doubt) =>
        !this.#givenUp.has(keyOf(doubt)) && !(this.#isRollLater && doubt.id === 'handler-roll-to-come'),
    )
  }

  /** For how long every DaemonSet was rolled by its own status, at every look, ms; undefined while one is rolling. */
  rolledFor(now: number): number | undefined {
    return this.#rolledSince === undefined ? undefined : now - this.#rolledSince
  }

  /** A DaemonSet rolls to a template that it had at no earlier look at which all were rolled. */
  get rollsAnew(): boolean {
    return (
      this.#rolledSince === undefined &&
      this.#rolledTemplates !== undefined &&
      this.#templates !== this.#rolledTemplates
    )
  }
}

const isRest: ReadonlySet<string> = new Set(['current', 'absent'])

/** Ages and counts in a sentence move by themselves. */
const keyOf = ({ id, sentence }: Doubt): string => `${id} ${sentence.replaceAll(/\d+/gu, '')}`
