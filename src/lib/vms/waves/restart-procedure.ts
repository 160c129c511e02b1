import type { NotApplied, Procedure, ReadContext, Step, StepState } from '../../engine/step.ts'
import { inOrder, lateId, type Wave, wavesOf, waveTitle } from './waves.ts'
import {
  type RestartCandidate,
  type RestartRun,
  type RestartSnapshot,
  restartTraffic,
} from './restart-run.ts'
import { VirtualMachineInstances } from '../../kube/kinds/kubevirt-kinds.ts'
import { seconds } from '../../kube/clock.ts'
import { type Begun, restartText } from './vm-restart.ts'
import { estimateOf, stopOf, turnOf } from './pacing.ts'
import type { Unread } from '../migrations/migration-ledger.ts'
import { placeOfVm } from '../vm.ts'
import { narrowedLine } from '../../output/kvup-words.ts'

/** Also the name in the journal. */
const name = 'restart VMs'

/** Canary → wave after wave, made anew from the cluster after each. Borrows nothing. */
export function restartProcedure(run: RestartRun, timeoutMs: number): Procedure {
  return {
    name,
    overrides: [],
    async reached(cx) {
      const { candidates, restarts } = await run.read(cx)
      const open = restarts.some(({ state }) => state.is === 'under-way' || state.is === 'missing')
      return candidates.size === 0 && !open
    },
    async steps(cx) {
      const snapshot = await run.read(cx)
      return restartWaves(run, snapshot).map((wave) =>
        restartWave(run, wave, { title: waveTitle(wave, run.wanted.waveBy), atMost: timeoutMs }),
      )
    },
  }
}

/** What has to be waited for, and VMs whose wave is over, are a wave as well where nothing else is left. */
export function restartWaves(run: RestartRun, { candidates, restarts }: RestartSnapshot): readonly Wave[] {
  const { wanted, through } = run
  const passed = through.has('canary') ? wanted.waves.canaries : 0
  const waves = wavesOf(candidates.values(), wanted.waves, { passed }).filter(({ id }) => !through.has(id))
  const open = restarts.some(({ state }) => state.is === 'under-way' || state.is === 'missing')
  if (waves.length > 0 || through.has(lateId)) return [...canaryThatPassed(run, waves), ...waves]
  return candidates.size > 0 || open ? [{ id: lateId, vms: [...candidates.values()] }] : []
}

/** It is a step all the same, within one run: `--until canary` ends there. */
function canaryThatPassed({ wanted, through }: RestartRun, waves: readonly Wave[]): readonly Wave[] {
  const asked = wanted.waves.canaries > 0 || wanted.canary !== undefined
  const isThere = waves.some(({ id }) => id === 'canary')
  return asked && !isThere && !through.has('canary') ? [{ id: 'canary', vms: [] }] : []
}

/** Restarts the VMs of one wave, each VM once and as many at a time as may be; the first that does not come back ends it (night W3). `atMost` in ms. */
function restartWave(
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
    watches: [{ kind: VirtualMachineInstances, where: { ...namespaceOf(run) } }],
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
    const snapshot = await this.#run.read(cx)
    const stop = this.#stop(snapshot)
    if (stop) return { is: 'blocked', reason: stop.reason, by: stop.text, remedy: remedyFor(this.#run) }
    const traffic = restartTraffic(snapshot, this.#run.known)
    const open = this.#queue(snapshot).filter(({ vm }) => !traffic.moving.has(vm))
    const total = this.#members.size
    const progress = {
      done: total - open.length - [...traffic.moving].filter((vm) => this.#members.has(vm)).length,
      total,
    }
    if (open.length === 0 && traffic.moving.size === 0) return this.#done(snapshot)
    if (open.length === 0)
      return { is: 'waiting', on: `${[...traffic.moving].slice(0, 3).join(', ')} to be back`, progress }
    const { pacing } = this.#run.wanted
    const turn = turnOf(
      open,
      { ...traffic, wavedAt: this.#wavedAt(snapshot) },
      { pacing: { ...pacing, perNode: Infinity }, now: snapshot.now },
    )
    if (turn.is === 'wait') return { is: 'waiting', on: turn.on, progress }
    this.#next = snapshot.candidates.get(turn.vms[0]?.vm ?? '')
    if (this.#next === undefined) return { is: 'waiting', on: 'the next look', progress }
    return { is: 'todo', change: restartText(this.#next, this.#next.agent) }
  }

  async apply(restart: (one: RestartCandidate) => Promise<Begun>): Promise<NotApplied | undefined> {
    this.#begun = true
    const begun = this.#next && (await restart(this.#next))
    return begun === undefined || begun.is === 'begun' ? undefined : { notApplied: begun.why }
  }

  #queue({ candidates }: RestartSnapshot) {
    const due = [...this.#members].flatMap((vm) => candidates.get(vm) ?? [])
    return inOrder(due, this.#run.wanted.waves.order)
  }

  #stop({ restarts }: RestartSnapshot) {
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
  #wavedAt({ restarts }: RestartSnapshot): number | undefined {
    if (this.#begun) return undefined
    const ends = restarts.flatMap(({ vm, state }) =>
      state.is === 'back' && !this.#members.has(vm) ? [state.wellAt] : [],
    )
    return ends.length === 0 ? undefined : Math.max(...ends)
  }

  #done({ restarts }: RestartSnapshot): StepState {
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

/** What became of one VM in this run. */
export interface RestartedVm {
  namespace: string
  name: string
  /** `waiting`: its turn did not come. `left`: it is not restarted by this. */
  outcome: 'failed' | 'restarting' | 'waiting' | 'left' | 'restarted'
  wave?: string
  why?: string
}

export type RestartTotals = Record<RestartedVm['outcome'], number> & { total: number }

const order: readonly RestartedVm['outcome'][] = ['failed', 'restarting', 'waiting', 'left', 'restarted']

interface RestartOutcome {
  totals: RestartTotals
  items: readonly RestartedVm[]
  /** What may not be read: VMs there are in none of these. */
  unread?: readonly Unread[]
}

/** From a fresh look at the cluster. Throws ApiError. */
export async function restartOutcome(cx: ReadContext, run: RestartRun): Promise<RestartOutcome> {
  const snapshot = await run.read(cx)
  const refused = new Map(run.failed.map(({ vm, reason }) => [vm, reason]))
  const concerning = snapshot.restarts.filter((one) => run.known.has(one.vm) || isOfRun(one, run))
  const states = new Map(concerning.map(({ vm, state }) => [vm, state.is]))
  const endOf = (vm: string): Pick<RestartedVm, 'outcome' | 'why'> => {
    const why = refused.get(vm)
    if (why !== undefined) return { outcome: 'failed', why }
    const state = states.get(vm)
    if (state === 'missing') return { outcome: 'failed', why: 'it did not come back after the restart' }
    if (state === 'back') return { outcome: 'restarted' }
    if (state === 'under-way') return { outcome: 'restarting' }
    return snapshot.candidates.has(vm)
      ? { outcome: 'waiting' }
      : { outcome: 'left', why: snapshot.left.get(vm) ?? 'it does not wait for a restart any more' }
  }
  const vms = [...new Set([...run.known.keys(), ...snapshot.left.keys(), ...states.keys()])]
  const items: RestartedVm[] = []
  for (const vm of vms) {
    const wave = run.known.get(vm)?.wave
    items.push({ ...placeOfVm(vm), ...endOf(vm), ...(wave && { wave }) })
  }
  items.sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome) || byName(a, b))
  const { unread } = snapshot
  return { totals: totalsOf(items), items, ...(unread.length > 0 && { unread }) }
}

/** Asked for by it, or by an earlier one that was cut off and whose VMs it has waited for: not what was through when it began. */
function isOfRun(
  { vm, at, state }: RestartSnapshot['restarts'][number],
  { began, wanted: { selection } }: RestartRun,
): boolean {
  const { namespace } = selection
  if (namespace !== undefined && !vm.startsWith(`${namespace}/`)) return false
  return at >= began || state.is !== 'back' || state.wellAt >= began
}

const byName = (a: RestartedVm, b: RestartedVm) =>
  `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1

function totalsOf(items: readonly RestartedVm[]): RestartTotals {
  const count = (outcome: RestartedVm['outcome']) => items.filter((item) => item.outcome === outcome).length
  return {
    total: items.length,
    failed: count('failed'),
    restarting: count('restarting'),
    waiting: count('waiting'),
    left: count('left'),
    restarted: count('restarted'),
  }
}
