import { someOf } from '../../kube/text.ts'
import type { NotApplied, Procedure, ReadContext, Step, StepContext, StepState } from '../../engine/step.ts'
import { methodsIn, methodsPointer, readOwner, type SettingsOwner } from '../strategy/settings-owner.ts'
import { pauseWorkloadUpdates, restoreSteps } from '../pause-updates.ts'
import { methodsOf, methodsText, overrideOn, restoreLine } from '../update-methods.ts'
import {
  type Candidate,
  inOrder,
  lateId,
  type ObservedCanaries,
  type Wave,
  wavesOf,
  waveTitle,
} from './waves.ts'
import { canariesBegun, canaryText, stillFor, trafficOf, type UpdateSnapshot } from './update-fleet.ts'
import type { UpdateRun } from './update-run.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import { estimateOf, type Stop, stopOf, type Turn, turnOf } from './pacing.ts'
import { movedIn } from '../update-guard.ts'
import { hasAgent, restartText } from './vm-restart.ts'
import { placeOfVm, type Selection } from '../vm.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { lastWriter } from '../../kube/last-writer.ts'
import type { Override } from '../../engine/journal.ts'
import { narrowedLine } from '../../output/kvup-words.ts'

/** Also the name in the journal: the override that is opened under it is the update's own (night W6). */
export const updateName = 'update workloads'

/** Behind the last wave: from here on the override is given back. */
export const settledAgainId = 'healthy-again'

interface Updating {
  owner: SettingsOwner
  run: UpdateRun
  who: string
  /** Ms: of the whole run. */
  timeoutMs: number
  /** KubeVirt is settled: before VMs are moved, and before the override is given back (contract "Loans"). */
  settled: (id: string, title: string) => Step
}

/** Hold → settled → canary → wave after wave → settled → give back; the waves are made anew from the cluster after each. */
export function updateProcedure(updating: Updating): Procedure {
  const { owner, run, who, settled } = updating
  return {
    name: updateName,
    async reached(cx) {
      const snapshot = await run.read(cx)
      return (
        snapshot.fleet.candidates.size === 0 &&
        snapshot.restarts.every(({ state }) => state.is === 'back' || state.is === 'not-begun')
      )
    },
    async steps(cx) {
      const snapshot = await run.read(cx)
      const waves = await wavesLeft(cx, run, snapshot)
      return [
        remembering(pauseWorkloadUpdates(owner, { who, procedure: updateName }), run),
        settled('healthy', 'KubeVirt is settled'),
        ...waves.map((wave) => stepOf(updating, wave)),
        ...(await restoring(cx, updating)),
      ]
    },
  }
}

function stepOf({ owner, run, timeoutMs }: Updating, wave: Wave): Step {
  const step = waveStep(run, wave, {
    title: waveTitle(wave, run.wanted.waveBy),
    atMost: timeoutMs,
  })
  return unlessSwitchedOn(step, { owner, holding: run, selection: run.wanted.selection })
}

/** Those that are not through, in this run or before it; what comes back later has a wave of its own. Throws ApiError. */
export async function wavesLeft(
  cx: ReadContext,
  run: UpdateRun,
  snapshot: UpdateSnapshot,
): Promise<readonly Wave[]> {
  const { wanted, through } = run
  const over = new Set(run.failed(snapshot).map(({ vm }) => vm))
  const candidates = [...snapshot.fleet.candidates.values()].filter(({ vm }) => !over.has(vm))
  const waves = wavesOf(candidates, wanted.waves, await observedCanaries(cx, run, snapshot))
  const missed = waves.filter(({ id }) => through.has(id)).flatMap(({ vms }) => vms)
  const late = missed.length > 0 && !through.has(lateId) ? [{ id: lateId, vms: missed }] : []
  const restarting = snapshot.restarts.filter(
    ({ state }) => state.is === 'under-way' || state.is === 'missing',
  )
  const pending =
    waves.length === 0 && restarting.length > 0 && !through.has('wave') ? [{ id: 'wave', vms: [] }] : []
  return [...canaryThatPassed(run, waves), ...waves.filter(({ id }) => !through.has(id)), ...late, ...pending]
}

/** It is a step all the same: `--until canary` ends there, however often it is run. */
function canaryThatPassed({ wanted, through }: UpdateRun, waves: readonly Wave[]): readonly Wave[] {
  const asked = wanted.waves.canaries > 0 || wanted.canary !== undefined
  const isThere = waves.some(({ id }) => id === 'canary')
  return asked && !isThere && !through.has('canary') ? [{ id: 'canary', vms: [] }] : []
}

/** Nobody steps around a canary that failed by running it again: it stays the canary of this launcher. */
async function observedCanaries(
  cx: ReadContext,
  { wanted, through, launcher }: UpdateRun,
  { ledger, fleet }: UpdateSnapshot,
): Promise<ObservedCanaries> {
  const { waves, selection } = wanted
  if (waves.canaries === 0 || through.has('canary')) return { passed: waves.canaries }
  const { passed, chosen } = await canariesBegun(cx, launcher, {
    namespace: selection.namespace,
    isOutdated: (vm) => fleet.candidates.has(vm),
  })
  return { passed: passed.size, chosen, failing: new Set(ledger.failing) }
}

/** Somebody else's hold stays (night W6). */
async function restoring(
  { reader, journal }: ReadContext,
  { owner, settled }: Updating,
): Promise<readonly Step[]> {
  const override = overrideOn(owner, await journal.overrides())
  const own = override
    ? override.procedure === updateName
    : methodsIn(await readOwner(reader, owner), owner).length > 0
  if (!own) return []
  const takenFrom = override ? { takenFrom: override.object.uid } : {}
  return [settled(settledAgainId, 'KubeVirt is still settled'), ...restoreSteps(owner, takenFrom)]
}

/** Moves the VMs of one wave, as many at a time as may be; stops by the rules of `stopOf`. `atMost`: ms, of the whole run. */
function waveStep(run: UpdateRun, wave: Wave, { title, atMost }: { title: string; atMost: number }): Step {
  const members = new MovingWave(run, wave)
  return {
    id: wave.id,
    title,
    patience: { every: 5 * seconds, atMost },
    estimate: estimateOf(wave.vms, run.pacing),
    watches: [
      {
        kind: VirtualMachineInstanceMigrations,
        where: { ...withinOf(run), labels: 'app.kubernetes.io/managed-by=kvup' },
      },
    ],
    risk: {
      undo: 'none: a VM on the new virt-launcher cannot be migrated back',
      safeToLeave: 'always: what is under way goes on by itself, and running it again goes on from there',
    },
    repeats: { atMost: Infinity, parallel: Math.min(run.pacing.parallel, wave.vms.length) },
    check: (cx) => members.check(cx),
    apply: (cx) => members.apply(cx),
  }
}

const withinOf = ({ wanted: { selection } }: UpdateRun) =>
  selection.namespace === undefined ? {} : { namespace: selection.namespace }

const asleepAtMost = 1 * minutes

class MovingWave {
  readonly #run: UpdateRun
  readonly #wave: Wave
  readonly #members: ReadonlySet<string>
  /** Decided by the last look: what `apply` begins. */
  #next: readonly Candidate[] = []
  #begun = false
  /** While nothing is under way and it is nobody's turn, the cluster is asked once a minute. */
  #asleep: { until: number; state: StepState } | undefined

  constructor(run: UpdateRun, wave: Wave) {
    this.#run = run
    this.#wave = wave
    this.#members = new Set(wave.vms.map(({ vm }) => vm))
  }

  async check(cx: ReadContext): Promise<StepState> {
    const now = cx.clock.now().getTime()
    if (this.#asleep !== undefined && now < this.#asleep.until) return this.#asleep.state
    this.#asleep = undefined
    return this.#read(cx)
  }

  async #read(cx: ReadContext): Promise<StepState> {
    const run = this.#run
    const snapshot = await run.read(cx)
    const failed = run.failed(snapshot)
    const { split, slow, doubtful } = await run.launchers.read(
      cx.reader,
      movedIn(snapshot, run.known),
      snapshot.now,
    )
    const stop = this.#stop(snapshot, { split, failed })
    if (stop !== undefined)
      return { is: 'blocked', reason: stop.reason, by: stop.text, remedy: this.#remedy(stop, split) }
    const over = new Set(failed.map(({ vm }) => vm))
    const queue = this.#queue(snapshot).filter(({ vm }) => !over.has(vm))
    const traffic = trafficOf(snapshot, run.known, run.earlier)
    const underWay = [...this.#members].filter((vm) => traffic.moving.has(vm) || doubtful.has(vm))
    const progress = {
      done: this.#members.size - new Set([...underWay, ...queue.map(({ vm }) => vm)]).size,
      total: this.#members.size,
    }
    const open = queue.filter(({ vm }) => !traffic.moving.has(vm))
    const notBefore = new Map([...run.notYet, ...traffic.notBefore])
    if (open.length === 0 && underWay.length === 0) return this.#done(snapshot, over)
    if (open.length === 0) return { is: 'waiting', on: `${someOf(underWay)} to be through`, progress }
    if (slow.length > 0)
      return { is: 'waiting', on: `the launcher that ${someOf(slow)} has left to end`, progress }
    const turn = turnOf(
      open,
      { ...traffic, notBefore, wavedAt: this.#wavedAt(snapshot) },
      { pacing: run.pacing, now: snapshot.now },
    )
    const state = await this.#turn(cx, turn, progress)
    if (turn.is === 'wait' && turn.until !== undefined && traffic.moving.size + doubtful.size === 0)
      this.#asleep = { until: Math.min(turn.until, snapshot.now + asleepAtMost), state }
    return state
  }

  #remedy(stop: Stop, split: readonly string[]): readonly string[] {
    return stopRemedy(stop, { split, selection: this.#run.wanted.selection })
  }

  async #turn(cx: ReadContext, turn: Turn, progress: { done: number; total: number }): Promise<StepState> {
    if (turn.is === 'wait') return { is: 'waiting', on: turn.on, progress }
    const [first] = turn.vms
    if (first?.by !== 'restart') {
      this.#next = turn.vms.filter(({ by }) => by === 'migration')
      const vms = this.#next.map(({ vm }) => vm)
      const isCanary = this.#wave.id === 'canary'
      return {
        is: 'todo',
        change: isCanary ? canaryText(vms, this.#run.launcher) : `migrate ${someOf(vms)}`,
      }
    }
    // One by one: the journal has to remember which instance was to go.
    this.#next = [first]
    return { is: 'todo', change: restartText(first, await this.#agentOf(cx, first)) }
  }

  async apply(cx: StepContext): Promise<NotApplied | undefined> {
    this.#begun = true
    const against: string[] = []
    for (const one of this.#next) {
      const begun = await this.#run.begin(cx, one, this.#wave.id === 'canary')
      if (begun.is !== 'begun') against.push(begun.why)
    }
    return against.length < this.#next.length ? undefined : { notApplied: [...new Set(against)].join('; ') }
  }

  /** This wave's VMs that run the old launcher still, in their order. */
  #queue({ fleet }: UpdateSnapshot): readonly Candidate[] {
    const outdated = [...this.#members].flatMap((vm) => fleet.candidates.get(vm) ?? [])
    return inOrder(outdated, this.#run.wanted.waves.order)
  }

  #stop(
    snapshot: UpdateSnapshot,
    { split, failed }: { split: readonly string[]; failed: ReturnType<UpdateRun['failed']> },
  ): Stop | undefined {
    const { wanted, known } = this.#run
    return stopOf({
      failed,
      canary: this.#wave.id === 'canary',
      maxFailures: wanted.maxFailures,
      split,
      missing: snapshot.restarts.filter(({ state }) => state.is === 'missing').map(({ vm }) => vm),
      still: stillFor(snapshot, known),
      stillAtMost: wanted.stillAtMost,
    })
  }

  /** When the last VM of another wave was through; a wave that has begun does not pause again. */
  #wavedAt({ moves, restarts }: UpdateSnapshot): number | undefined {
    if (this.#begun) return undefined
    const ends = [...moves.ended].filter(([vm]) => !this.#members.has(vm)).map(([, at]) => at)
    const back = restarts.flatMap(({ vm, state }) =>
      state.is === 'back' && !this.#members.has(vm) ? [state.wellAt] : [],
    )
    return [...ends, ...back].reduce<number | undefined>((last, at) => Math.max(last ?? 0, at), undefined)
  }

  #done({ moves, restarts }: UpdateSnapshot, over: ReadonlySet<string>): StepState {
    this.#run.through.add(this.#wave.id)
    if (this.#members.size === 0) return { is: 'done', note: 'nothing of it is left' }
    const back = new Set(restarts.filter(({ state }) => state.is === 'back').map(({ vm }) => vm))
    const moved = [...this.#members].filter((vm) => moves.succeeded.has(vm) || back.has(vm)).length
    const failed = [...this.#members].filter((vm) => over.has(vm)).length
    return { is: 'done', note: `${moved} moved${failed > 0 ? `, ${failed} failed` : ''}` }
  }

  async #agentOf({ reader }: ReadContext, { vm }: Candidate): Promise<boolean> {
    const found = await reader.get<VirtualMachineInstance>(VirtualMachineInstances, placeOfVm(vm))
    return found.is === 'object' && hasAgent(found.object)
  }
}

/** Commands that show what stopped an update, and how it goes on. */
function stopRemedy(
  { reason }: Stop,
  { split, selection }: { split: readonly string[]; selection: Selection },
): readonly string[] {
  const [first] = split
  if (reason === 'two-launchers' && first !== undefined) {
    const { namespace, name } = placeOfVm(first)
    return [
      `kubectl -n ${shellWord(namespace)} get pods -l vm.kubevirt.io/name=${shellWord(name)} -o wide`,
      'end the launcher in which the guest does not run, and look at its disks, before anything else moves (kubevirt issue 18670)',
    ]
  }
  return [
    `${narrowedLine('kvup workloads migrations', selection)}     shows what runs, what waits and what fails`,
    `${narrowedLine('kvup workloads update', selection)}     goes on with what is outdated still`,
  ]
}

/** Whether workload updates have been held in this run. */
interface PauseState {
  held: boolean
}

/** Remembers that the hold was reached: only after that somebody can have switched it off. */
function remembering(hold: Step, holding: PauseState): Step {
  return {
    ...hold,
    async check(cx) {
      const state = await hold.check(cx)
      if (state.is === 'done') holding.held = true
      return state
    },
  }
}

/** The order that a person chose is none any more where KubeVirt's own updater was switched on meanwhile: nothing further is begun. */
function unlessSwitchedOn(
  step: Step,
  { owner, holding, selection }: { owner: SettingsOwner; holding: PauseState; selection: Selection },
): Step {
  return {
    ...step,
    async check(cx): Promise<StepState> {
      if (!holding.held) return step.check(cx)
      const methods = methodsOf(await readOwner(cx.reader, owner.kubevirt))
      if (methods.length === 0) return step.check(cx)
      const who = lastWriter(await readOwner(cx.reader, owner), methodsPointer(owner))
      return {
        is: 'blocked',
        reason: 'updater-switched-on',
        by: `workloadUpdateMethods was set to ${methodsText(methods)} meanwhile: KubeVirt moves VMs itself now, in an order of its own${who ? `. It was ${who}` : ''}`,
        remedy: resumedRemedy(overrideOn(owner, await cx.journal.overrides()), selection),
      }
    },
  }
}

function resumedRemedy(override: Override | undefined, selection: Selection): readonly string[] {
  const update = narrowedLine('kvup workloads update', selection)
  return [
    `${update}     holds again, and goes on`,
    `${update} --watch-only     follows KubeVirt instead`,
    ...(override
      ? [`${restoreLine(override)} --keep-current     closes the loan, and leaves it to KubeVirt`]
      : []),
  ]
}
