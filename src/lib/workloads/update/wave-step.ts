import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../cluster/kinds/virtual-machines.ts'
import type { NotApplied, ReadContext, Step, StepContext, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import type { Candidate } from '../waves/candidate.ts'
import { estimateOf } from '../waves/estimate.ts'
import { inOrder } from '../waves/order.ts'
import { type Turn, turnOf } from '../waves/pacing.ts'
import { type Stop, stopOf } from '../waves/stop-rules.ts'
import type { Wave } from '../waves/waves.ts'
import { canaryText } from './begin.ts'
import { stillFor, trafficOf, type UpdateLook } from './look.ts'
import { movedIn } from './moved.ts'
import { remedyFor } from './remedy.ts'
import { hasAgent, restartText } from '../restarts/asked-restarts.ts'
import type { UpdateRun } from './update-run.ts'
import { placeOfVm } from '../vm-name.ts'

/** Moves the VMs of one wave, as many at a time as may be; stops by the rules of `stopOf`. `atMost`: ms, of the whole run. */
export function waveStep(
  run: UpdateRun,
  wave: Wave,
  { title, atMost }: { title: string; atMost: number },
): Step {
  const members = new MovingWave(run, wave)
  return {
    id: wave.id,
    title,
    patience: { every: 5 * seconds, atMost },
    estimate: estimateOf(wave.vms, run.pacing),
    follows: [
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
    return this.#look(cx)
  }

  async #look(cx: ReadContext): Promise<StepState> {
    const run = this.#run
    const look = await run.look(cx)
    const failed = run.failed(look)
    const { split, slow, doubtful } = await run.launchers.look(cx.reader, movedIn(look, run.known), look.now)
    const stop = this.#stop(look, { split, failed })
    if (stop !== undefined)
      return { is: 'blocked', reason: stop.reason, by: stop.text, remedy: this.#remedy(stop, split) }
    const over = new Set(failed.map(({ vm }) => vm))
    const queue = this.#queue(look).filter(({ vm }) => !over.has(vm))
    const traffic = trafficOf(look, run.known, run.earlier)
    const underWay = [...this.#members].filter((vm) => traffic.moving.has(vm) || doubtful.has(vm))
    const progress = {
      done: this.#members.size - new Set([...underWay, ...queue.map(({ vm }) => vm)]).size,
      total: this.#members.size,
    }
    const open = queue.filter(({ vm }) => !traffic.moving.has(vm))
    const notBefore = new Map([...run.notYet, ...traffic.notBefore])
    if (open.length === 0 && underWay.length === 0) return this.#done(look, over)
    if (open.length === 0) return { is: 'waiting', on: `${listed(underWay)} to be through`, progress }
    if (slow.length > 0)
      return { is: 'waiting', on: `the launcher that ${listed(slow)} has left to end`, progress }
    const turn = turnOf(
      open,
      { ...traffic, notBefore, wavedAt: this.#wavedAt(look) },
      { pacing: run.pacing, now: look.now },
    )
    const state = await this.#turn(cx, turn, progress)
    if (turn.is === 'wait' && turn.until !== undefined && traffic.moving.size + doubtful.size === 0)
      this.#asleep = { until: Math.min(turn.until, look.now + asleepAtMost), state }
    return state
  }

  #remedy(stop: Stop, split: readonly string[]): readonly string[] {
    return remedyFor(stop, { split, selection: this.#run.wanted.selection })
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
        change: isCanary ? canaryText(vms, this.#run.launcher) : `migrate ${listed(vms)}`,
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
  #queue({ fleet }: UpdateLook): readonly Candidate[] {
    const outdated = [...this.#members].flatMap((vm) => fleet.candidates.get(vm) ?? [])
    return inOrder(outdated, this.#run.wanted.waves.order)
  }

  #stop(
    look: UpdateLook,
    { split, failed }: { split: readonly string[]; failed: ReturnType<UpdateRun['failed']> },
  ): Stop | undefined {
    const { wanted, known } = this.#run
    return stopOf({
      failed,
      canary: this.#wave.id === 'canary',
      maxFailures: wanted.maxFailures,
      split,
      missing: look.restarts.filter(({ state }) => state.is === 'missing').map(({ vm }) => vm),
      still: stillFor(look, known),
      stillAtMost: wanted.stillAtMost,
    })
  }

  /** When the last VM of another wave was through; a wave that has begun does not pause again. */
  #wavedAt({ moves, restarts }: UpdateLook): number | undefined {
    if (this.#begun) return undefined
    const ends = [...moves.ended].filter(([vm]) => !this.#members.has(vm)).map(([, at]) => at)
    const back = restarts.flatMap(({ vm, state }) =>
      state.is === 'back' && !this.#members.has(vm) ? [state.wellAt] : [],
    )
    return [...ends, ...back].reduce<number | undefined>((last, at) => Math.max(last ?? 0, at), undefined)
  }

  #done({ moves, restarts }: UpdateLook, over: ReadonlySet<string>): StepState {
    this.#run.through.add(this.#wave.id)
    if (this.#members.size === 0) return { is: 'done', note: 'nothing of it is left' }
    const back = new Set(restarts.filter(({ state }) => state.is === 'back').map(({ vm }) => vm))
    const moved = [...this.#members].filter((vm) => moves.succeeded.has(vm) || back.has(vm)).length
    const failed = [...this.#members].filter((vm) => over.has(vm)).length
    return { is: 'done', note: `${moved} moved${failed > 0 ? `, ${failed} failed` : ''}` }
  }

  async #agentOf({ reader }: ReadContext, { vm }: Candidate): Promise<boolean> {
    const found = await reader.find<VirtualMachineInstance>(VirtualMachineInstances, placeOfVm(vm))
    return found.is === 'object' && hasAgent(found.object)
  }
}

const few = 3

function listed(vms: readonly string[]): string {
  return `${vms.slice(0, few).join(', ')}${vms.length > few ? ` and ${vms.length - few} more` : ''}`
}
