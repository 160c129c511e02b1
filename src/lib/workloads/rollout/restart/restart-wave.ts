import { VirtualMachineInstances } from '../../../cluster/kinds/virtual-machines.ts'
import type { NotApplied, ReadContext, Step, StepState } from '../../../procedure/step.ts'
import { seconds } from '../../../system/units.ts'
import type { Begun } from '../../restarts/ask-restart.ts'
import { restartText } from '../../restarts/asked-restarts.ts'
import { narrowedLine } from '../../../system/narrowed-line.ts'
import { estimateOf } from '../../waves/estimate.ts'
import { inOrder } from '../../waves/order.ts'
import { turnOf } from '../../waves/pacing.ts'
import { stopOf } from '../../waves/stop-rules.ts'
import type { Wave } from '../../waves/waves.ts'
import type { RestartCandidate } from './fleet.ts'
import { type RestartLook, type RestartRun, restartTraffic } from './restart-run.ts'

/** Restarts the VMs of one wave, each VM once and as many at a time as may be; the first that does not come back ends it (night W3). `atMost` in ms. */
export function restartWave(
  run: RestartRun,
  wave: Wave,
  { title, atMost }: { title: string; atMost: number },
): Step {
  const { parallel } = run.wanted.pacing
  const members = new RestartingWave(run, wave)
  return {
    id: wave.id,
    title,
    patience: { every: 5 * seconds, atMost },
    estimate: estimateOf(wave.vms, run.wanted.pacing),
    follows: [{ kind: VirtualMachineInstances, where: { ...namespaceOf(run) } }],
    risk: {
      undo: 'none: a VM that was restarted has taken its changes over',
      safeToLeave: 'always: what is under way comes back by itself, and running it again goes on from there',
    },
    repeats: { atMost: Infinity, parallel: Math.min(parallel, wave.vms.length) },
    check: (cx) => members.check(cx),
    // One by one: the journal has to remember which instance was to go.
    apply: (cx) => members.apply((one) => run.restart(cx, one)),
  }
}

const namespaceOf = ({ wanted: { selection } }: RestartRun) =>
  selection.namespace === undefined ? {} : { namespace: selection.namespace }

class RestartingWave {
  readonly #run: RestartRun
  readonly #wave: Wave
  readonly #members: ReadonlySet<string>
  /** Decided by the last look: what `apply` restarts. */
  #next: RestartCandidate | undefined
  #begun = false

  constructor(run: RestartRun, wave: Wave) {
    this.#run = run
    this.#wave = wave
    this.#members = new Set(wave.vms.map(({ vm }) => vm))
  }

  async check(cx: ReadContext): Promise<StepState> {
    const look = await this.#run.look(cx)
    const stop = this.#stop(look)
    if (stop) return { is: 'blocked', reason: stop.reason, by: stop.text, remedy: remedyFor(this.#run) }
    const traffic = restartTraffic(look, this.#run.known)
    const open = this.#queue(look).filter(({ vm }) => !traffic.moving.has(vm))
    const total = this.#members.size
    const progress = {
      done: total - open.length - [...traffic.moving].filter((vm) => this.#members.has(vm)).length,
      total,
    }
    if (open.length === 0 && traffic.moving.size === 0) return this.#done(look)
    if (open.length === 0)
      return { is: 'waiting', on: `${[...traffic.moving].slice(0, 3).join(', ')} to be back`, progress }
    const { pacing } = this.#run.wanted
    const turn = turnOf(
      open,
      { ...traffic, wavedAt: this.#wavedAt(look) },
      { pacing: { ...pacing, perNode: Infinity }, now: look.now },
    )
    if (turn.is === 'wait') return { is: 'waiting', on: turn.on, progress }
    this.#next = look.candidates.get(turn.vms[0]?.vm ?? '')
    if (this.#next === undefined) return { is: 'waiting', on: 'the next look', progress }
    return { is: 'todo', change: restartText(this.#next, this.#next.agent) }
  }

  async apply(restart: (one: RestartCandidate) => Promise<Begun>): Promise<NotApplied | undefined> {
    this.#begun = true
    const begun = this.#next && (await restart(this.#next))
    return begun === undefined || begun.is === 'begun' ? undefined : { notApplied: begun.why }
  }

  #queue({ candidates }: RestartLook) {
    const due = [...this.#members].flatMap((vm) => candidates.get(vm) ?? [])
    return inOrder(due, this.#run.wanted.waves.order)
  }

  #stop({ restarts }: RestartLook) {
    const { wanted, failed } = this.#run
    return stopOf({
      failed,
      canary: this.#wave.id === 'canary',
      maxFailures: wanted.maxFailures,
      split: [],
      missing: restarts.filter(({ state }) => state.is === 'missing').map(({ vm }) => vm),
      stillAtMost: Infinity,
    })
  }

  /** When the last VM of another wave was well again; a wave that has begun does not pause again. */
  #wavedAt({ restarts }: RestartLook): number | undefined {
    if (this.#begun) return undefined
    const ends = restarts.flatMap(({ vm, state }) =>
      state.is === 'back' && !this.#members.has(vm) ? [state.wellAt] : [],
    )
    return ends.length === 0 ? undefined : Math.max(...ends)
  }

  #done({ restarts }: RestartLook): StepState {
    this.#run.through.add(this.#wave.id)
    if (this.#members.size === 0) return { is: 'done', note: 'nothing of it is left' }
    const failed = this.#run.failed.filter(({ vm }) => this.#members.has(vm)).length
    const back = restarts.filter(({ vm, state }) => state.is === 'back' && this.#members.has(vm)).length
    return { is: 'done', note: `${back} back${failed > 0 ? `, ${failed} refused` : ''}` }
  }
}

const remedyFor = ({ wanted: { selection } }: RestartRun) => [
  'kubectl get virtualmachines,virtualmachineinstances -A     shows which do not run',
  `${narrowedLine('kvup rollout restart', selection)}     goes on with those that still wait for a restart`,
]
