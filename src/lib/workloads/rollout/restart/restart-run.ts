import type { KubeVirt } from '../../../cluster/kinds/kubevirt.ts'
import { type VirtualMachineInstance, VirtualMachines } from '../../../cluster/kinds/virtual-machines.ts'
import type { ReadContext, StepContext } from '../../../procedure/step.ts'
import { minutes } from '../../../system/units.ts'
import { askRestart, type Begun } from '../../restarts/ask-restart.ts'
import { readReturnRoom, type ReturnRoom } from '../../restarts/return-room.ts'
import { type Restart, restartsIn, type RestartState, standingOf } from '../../restarts/asked-restarts.ts'
import type { Unread } from '../../migrations/ledger.ts'
import type { Traffic } from '../../waves/pacing.ts'
import type { FailedVm } from '../../waves/stop-rules.ts'
import { waitsForRestart } from '../restart-required-item.ts'
import { readRestartFleet, type RestartCandidate, type RestartFleet, whyNotNow } from './fleet.ts'
import type { WaveRunWanted } from '../../waves/wanted.ts'

/** All VMs are listed again so seldom; what a restart needs to know of its VM is read right before it. */
const listEvery = 1 * minutes

/** Everything that is decided by, read at one time. Times in ms since the epoch. */
export interface RestartLook {
  now: number
  /** Without those that were restarted. */
  candidates: ReadonlyMap<string, RestartCandidate>
  left: ReadonlyMap<string, string>
  /** What may not be read. */
  unread: readonly Unread[]
  restarts: readonly (Restart & { state: RestartState })[]
}

/** One run of restarts. Where it stands is read from the cluster and the journal; what is kept here is for its report. */
export class RestartRun {
  readonly wanted: WaveRunWanted
  /** ms since the epoch. */
  readonly began: number
  /** Every VM that was to be restarted, as it was seen first. */
  readonly known = new Map<string, RestartCandidate>()
  /** Ids of waves that are through. */
  readonly through = new Set<string>()
  readonly #refused = new Map<string, string>()
  readonly #kubevirt: KubeVirt
  /** VMs that were not to be restarted when their turn came, until all are listed again. */
  readonly #gone = new Set<string>()
  #listed: { at: number; fleet: RestartFleet; room: ReturnRoom } | undefined

  constructor(wanted: WaveRunWanted, { began, kubevirt }: { began: number; kubevirt: KubeVirt }) {
    this.wanted = wanted
    this.began = began
    this.#kubevirt = kubevirt
  }

  /** What is not judged, because it may not be read. */
  get remarks(): readonly string[] {
    return this.#listed?.room.remarks ?? []
  }

  get failed(): FailedVm[] {
    return [...this.#refused].map(([vm, reason]) => ({ vm, reason }))
  }

  async look(cx: ReadContext): Promise<RestartLook> {
    const now = cx.clock.now().getTime()
    const restarts = await this.#restarts(cx, now)
    const { candidates, left, unread } = await this.#fleet(cx, now)
    const asked = new Map(restarts.map((restart) => [restart.vm, restart]))
    const open = [...candidates].filter(([vm, one]) => this.#isOpen(one, asked.get(vm)))
    return { now, candidates: new Map(open), left, unread, restarts }
  }

  /** Asks for one restart; a refusal is remembered as a failure of this VM. */
  async restart(cx: StepContext, one: RestartCandidate): Promise<Begun> {
    const { vm } = one
    const begun = await askRestart(cx, one, (vmi) => this.#against(cx, vmi))
    if (begun.is === 'refused') this.#refused.set(vm, begun.why)
    if (begun.is === 'not-needed') {
      this.#gone.add(vm)
      this.#listed = undefined
    }
    return begun
  }

  /** VMs are listed seldom: what is so since then counts here. */
  async #against({ reader }: StepContext, vmi: VirtualMachineInstance): Promise<string | undefined> {
    const { name, namespace } = vmi.metadata
    const vm = await reader.find(VirtualMachines, { name, namespace })
    if (vm.is !== 'object' || !waitsForRestart(vm.object)) return 'it does not wait for a restart any more'
    return whyNotNow(vmi) ?? (await readReturnRoom(reader, this.#kubevirt)).refusal(vmi)
  }

  #isOpen({ vm, since }: RestartCandidate, asked: (Restart & { state: RestartState }) | undefined): boolean {
    if (this.#refused.has(vm) || this.#gone.has(vm)) return false
    if (asked === undefined || asked.state.is === 'not-begun') return true
    // Changed once more after it was back.
    return asked.state.is === 'back' && asked.at < this.began && since > asked.at
  }

  async #restarts({ reader, journal }: ReadContext, now: number): Promise<RestartLook['restarts']> {
    const { backWithin } = this.wanted
    const entries = restartsIn(await journal.entries(), this.began - backWithin)
    const states = await Promise.all(entries.map((one) => standingOf(reader, one, { now, backWithin })))
    return entries.flatMap((one, index) => {
      const state = states[index]
      return state === undefined ? [] : [{ ...one, state }]
    })
  }

  async #fleet({ reader }: ReadContext, now: number): Promise<RestartFleet> {
    if (this.#listed && now - this.#listed.at < listEvery) return this.#listed.fleet
    const room = await readReturnRoom(reader, this.#kubevirt)
    const fleet = await readRestartFleet(reader, this.wanted, (vmi) => room.refusal(vmi))
    this.#listed = { at: now, fleet, room }
    this.#gone.clear()
    for (const one of fleet.candidates.values()) if (!this.known.has(one.vm)) this.known.set(one.vm, one)
    return fleet
  }
}

/** What is under way, and until when others are kept apart from it (night W4). `known`: every VM that was seen. Pure. */
export function restartTraffic(
  { restarts }: RestartLook,
  known: ReadonlyMap<string, RestartCandidate>,
): Traffic {
  const moving = new Set(restarts.filter(({ state }) => state.is === 'under-way').map(({ vm }) => vm))
  const apart = new Map<string, number>()
  for (const { vm, state } of restarts) {
    const value = known.get(vm)?.apart
    if (value === undefined || state.is === 'not-begun') continue
    apart.set(value, Math.max(apart.get(value) ?? 0, state.is === 'back' ? state.wellAt : Infinity))
  }
  return { moving, fromNode: new Map(), apart, notBefore: new Map() }
}
