import type { NotApplied, Progress, ReadContext, Step, StepContext, StepState } from '../../engine/step.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import { someOf } from '../../kube/text.ts'
import {
  estimateOf,
  type FailedVm,
  type Pacing,
  type PacingState,
  type Stop,
  stopOf,
  type Traffic,
  type Turn,
  turnOf,
} from './pacing.ts'
import {
  type Candidate,
  inOrder,
  lateId,
  type ObservedCanaries,
  type Wave,
  type WaveRunWanted,
  wavesOf,
  waveTitle,
} from './waves.ts'
import { type Begun, readAgent, restartText, type RestartWithState } from './vm-restart.ts'
import { canaryText } from './update-fleet.ts'
import type { Kind } from '../../kube/object.ts'
import type { WaveAlerts } from './wave-alerts.ts'
import { closuresAfter } from './window-schedule.ts'

/** A run that takes one VM after the other, in waves: it moves outdated VMs, or restarts those that wait for it. */
export interface WaveRun {
  readonly wanted: WaveRunWanted
  /** Within the limits of the cluster. */
  readonly pacing: Pacing
  /** Ids of waves that are through. */
  readonly through: Set<string>
  /** The virt-launcher of new pods, as far as it was read. */
  readonly launcher?: string | undefined
  /** Where its VMs are watched while they are under way, in the namespace of its selection. */
  readonly watched: { kind: Kind; labels?: string }
  /** Absent: no wave waits for an alert. */
  readonly alerts?: WaveAlerts | undefined
  readonly risk: Step['risk']
  /** What its waves say: `2 moved, 1 failed`, `waiting for demo/web to be through`. */
  readonly words: { done: string; failed: string; awaited: string }
  /** Throws ApiError. */
  readWave(cx: ReadContext): Promise<WaveSnapshot>
  /** Begins one; a refusal is remembered as a failure of this VM. */
  begin(cx: StepContext, one: Candidate, canary: boolean): Promise<Begun>
  /** Commands that show what stopped it, and how it goes on. */
  remedy(stop: Stop, snapshot: Pick<WaveSnapshot, 'split' | 'failed' | 'candidates'>): readonly string[]
}

/** Everything that a wave is decided by, read at one time. Times in ms since the epoch. */
export interface WaveSnapshot extends Pick<PacingState, 'split' | 'still' | 'stillAtMost'> {
  now: number
  /** Those whose turn is still to come or has begun, without those that failed for good. */
  candidates: ReadonlyMap<string, Candidate>
  failed: readonly FailedVm[]
  traffic: Omit<Traffic, 'wavedAt'>
  restarts: readonly RestartWithState[]
  /** VMs of which it is not certain yet that they are through. */
  doubtful: ReadonlySet<string>
  /** VMs whose former launcher has not ended. */
  slow: readonly string[]
  /** VMs that were moved, and when. */
  ended: ReadonlyMap<string, number>
  /** Of these, the VMs that were moved by this run. */
  succeeded: Pick<ReadonlySet<string>, 'has'>
}

/** Waves that are not through; those whose turn did not come in their own have one behind all, and so has what is waited for where nothing else is left. Pure. */
export function wavesLeft(
  { wanted, through }: Pick<WaveRun, 'wanted' | 'through'>,
  { candidates, restarts }: { candidates: Iterable<Candidate>; restarts: readonly RestartWithState[] },
  canaries: ObservedCanaries,
): readonly Wave[] {
  const waves = wavesOf(candidates, wanted.waves, canaries)
  const left = waves.filter(({ id }) => !through.has(id))
  const isOpen = restarts.some(({ state }) => state.is === 'under-way' || state.is === 'missing')
  const isLate = left.length === 0 && !through.has(lateId) && (waves.length > 0 || isOpen)
  const late = isLate ? [{ id: lateId, vms: waves.flatMap(({ vms }) => vms) }] : []
  // It is a step all the same, however often it is run: `--until canary` ends there.
  const asked = wanted.waves.canaries > 0 || wanted.canary !== undefined
  const isThere = through.has('canary') || waves.some(({ id }) => id === 'canary')
  return [...(asked && !isThere ? [{ id: 'canary', vms: [] }] : []), ...left, ...late]
}

/** Takes the VMs of one wave, each once and as many at a time as may be; stops by the rules of `stopOf` (night W3, W5). `atMost`: ms, of the whole run. */
export function waveStep(run: WaveRun, wave: Wave, atMost: number): Step {
  const members = new WaveMembers(run, wave)
  const { kind, labels } = run.watched
  const { namespace } = run.wanted.selection
  return {
    id: wave.id,
    title: waveTitle(wave, run.wanted.waveBy),
    patience: { every: 5 * seconds, atMost },
    estimate: estimateOf(wave.vms, run.pacing),
    watches: [
      {
        kind,
        where: { ...(namespace !== undefined && { namespace }), ...(labels !== undefined && { labels }) },
      },
    ],
    risk: run.risk,
    repeats: { atMost: Infinity, parallel: Math.min(run.pacing.parallel, wave.vms.length) },
    check: (cx) => members.check(cx),
    apply: (cx) => members.apply(cx),
  }
}

const asleepAtMost = 1 * minutes

class WaveMembers {
  readonly #run: WaveRun
  readonly #wave: Wave
  readonly #members: ReadonlySet<string>
  /** Decided by the last check: what `apply` begins. */
  #next: readonly Candidate[] = []
  #begun = false
  /** While nothing is under way and it is nobody's turn, the cluster is asked once a minute. */
  #asleep: { until: number; state: StepState } | undefined

  constructor(run: WaveRun, wave: Wave) {
    this.#run = run
    this.#wave = wave
    this.#members = new Set(wave.vms.map(({ vm }) => vm))
  }

  async check(cx: ReadContext): Promise<StepState> {
    const now = cx.clock.now().getTime()
    if (this.#asleep !== undefined && now < this.#asleep.until) return this.#asleep.state
    this.#asleep = undefined
    return this.#judge(cx, await this.#run.readWave(cx))
  }

  /** Windows that close before it is through, and open again. */
  #waiting(state: Omit<Extract<StepState, { is: 'waiting' }>, 'is'>, now: number): StepState {
    const closed = closuresAfter(this.#run.pacing.windows, now)
    return { is: 'waiting', ...state, ...(closed.length > 0 && { closed }) }
  }

  async #judge(cx: ReadContext, snapshot: WaveSnapshot): Promise<StepState> {
    const stop = this.#stop(snapshot)
    if (stop !== undefined)
      return {
        is: 'blocked',
        reason: stop.reason,
        by: stop.text,
        isStall: stop.reason === 'update-stalled',
        remedy: this.#run.remedy(stop, snapshot),
      }
    const { traffic, slow, now } = snapshot
    const queue = this.#queue(snapshot)
    const awaited = this.#awaited(snapshot)
    const progress = this.#progress(queue, awaited)
    const open = queue.filter(({ vm }) => !traffic.moving.has(vm))
    if (open.length === 0 && awaited.length === 0) return this.#done(snapshot)
    if (open.length === 0)
      return this.#waiting({ on: `${someOf(awaited)} ${this.#run.words.awaited}`, progress }, now)
    if (slow.length > 0)
      return this.#waiting({ on: `the launcher that ${someOf(slow)} has left to end`, progress }, now)
    const { pacing } = this.#run
    const paced = turnOf(open, { ...traffic, wavedAt: this.#wavedAt(snapshot) }, { pacing, now })
    const turn = await this.#unlessAlerted(paced, now)
    const state =
      turn.is === 'wait' ? this.#waiting({ on: turn.on, progress }, now) : await this.#turn(cx, turn)
    if (turn.is === 'wait' && turn.until !== undefined && traffic.moving.size + snapshot.doubtful.size === 0)
      this.#asleep = { until: Math.min(turn.until, now + asleepAtMost), state }
    return state
  }

  /** A wave does not begin while an alert fires that did not when the run began; one that has begun goes on. */
  async #unlessAlerted(turn: Turn, now: number): Promise<Turn> {
    if (turn.is === 'wait' || this.#begun) return turn
    const fired = (await this.#run.alerts?.since()) ?? []
    if (fired.length === 0) return turn
    const alerts = `the alert${fired.length > 1 ? 's' : ''} ${someOf(fired)}`
    return {
      is: 'wait',
      on: `${alerts} to stop firing, new since this run began`,
      until: now + asleepAtMost,
    }
  }

  async #turn(cx: ReadContext, turn: Extract<Turn, { is: 'begin' }>): Promise<StepState> {
    const [first] = turn.vms
    if (first?.by === 'restart') {
      // One by one: the journal has to remember which instance was to go.
      this.#next = [first]
      return { is: 'todo', change: restartText(first, await readAgent(cx.reader, first.vm)) }
    }
    this.#next = turn.vms.filter(({ by }) => by === 'migration')
    const vms = this.#next.map(({ vm }) => vm)
    const isCanary = this.#wave.id === 'canary'
    return {
      is: 'todo',
      change: isCanary ? canaryText(vms, this.#run.launcher) : `migrate ${someOf(vms)}`,
    }
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

  /** The VMs of this wave that are to be moved still, in their order. */
  #queue({ candidates }: WaveSnapshot): readonly Candidate[] {
    const due = [...this.#members].flatMap((vm) => candidates.get(vm) ?? [])
    return inOrder(due, this.#run.wanted.waves.order)
  }

  /** Its own, and every restart that is under way: a VM that is down is waited for, whoever began that. */
  #awaited({ traffic, doubtful, restarts }: WaveSnapshot): readonly string[] {
    const own = [...this.#members].filter((vm) => traffic.moving.has(vm) || doubtful.has(vm))
    const restarting = restarts.filter(({ state }) => state.is === 'under-way').map(({ vm }) => vm)
    return [...new Set([...own, ...restarting])]
  }

  #progress(queue: readonly Candidate[], awaited: readonly string[]): Progress {
    const own = awaited.filter((vm) => this.#members.has(vm))
    const open = new Set([...own, ...queue.map(({ vm }) => vm)])
    return { done: this.#members.size - open.size, total: this.#members.size, of: 'VMs' }
  }

  #stop({ failed, restarts, split, still, stillAtMost }: WaveSnapshot): Stop | undefined {
    return stopOf({
      failed,
      canary: this.#wave.id === 'canary',
      maxFailures: this.#run.wanted.maxFailures,
      split,
      missing: restarts.filter(({ state }) => state.is === 'missing').map(({ vm }) => vm),
      still,
      stillAtMost,
    })
  }

  /** When the last VM of another wave was through; a wave that has begun does not pause again. */
  #wavedAt({ ended, restarts }: WaveSnapshot): number | undefined {
    if (this.#begun) return undefined
    const times = [
      ...[...ended].filter(([vm]) => !this.#members.has(vm)).map(([, at]) => at),
      ...restarts.flatMap(({ vm, state }) =>
        state.is === 'back' && !this.#members.has(vm) ? [state.wellAt] : [],
      ),
    ]
    return times.reduce<number | undefined>((last, at) => Math.max(last ?? 0, at), undefined)
  }

  #done({ succeeded, failed, restarts }: WaveSnapshot): StepState {
    const { through, words } = this.#run
    through.add(this.#wave.id)
    if (this.#members.size === 0) return { is: 'done', note: 'nothing of it is left' }
    const back = new Set(restarts.filter(({ state }) => state.is === 'back').map(({ vm }) => vm))
    const well = [...this.#members].filter((vm) => succeeded.has(vm) || back.has(vm)).length
    const lost = new Set(failed.map(({ vm }) => vm).filter((vm) => this.#members.has(vm))).size
    return { is: 'done', note: `${well} ${words.done}${lost > 0 ? `, ${lost} ${words.failed}` : ''}` }
  }
}
