import {
  type KubeVirt,
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import type { ReadContext, StepContext } from '../../engine/step.ts'
import { minutes } from '../../kube/clock.ts'
import {
  type Against,
  askRestart,
  type Begun,
  readRestarts,
  readReturnRoom,
  type RestartWithState,
  type ReturnRoom,
} from './vm-restart.ts'
import type { FailedVm, Pacing, Stop, Traffic } from './pacing.ts'
import { waitsForRestart } from '../rollout/restart-required.ts'
import { type Candidate, candidateOf, otherCanaryLine, type WaveRunWanted } from './waves.ts'
import { type Reader, orUnserved } from '../../kube/cluster.ts'
import { condition } from '../../kube/object.ts'
import { lostData, runStrategyOf, vmName } from '../vm.ts'
import { isMigrating } from '../workload-updater.ts'
import { pagesAllowed, type Unread } from '../../kube/readable-pages.ts'
import { narrowedLine } from '../../output/kvup-words.ts'
import { resumeLine } from '../../engine/change.ts'
import type { WaveRun, WaveSnapshot } from './wave-step.ts'

/** All VMs are listed again so seldom; what a restart needs to know of its VM is read right before it. */
const listEvery = 1 * minutes

/** Everything that is decided by, read at one time. Times in ms since the epoch. */
export interface RestartSnapshot {
  now: number
  /** Without those that were restarted. */
  candidates: ReadonlyMap<string, RestartCandidate>
  left: ReadonlyMap<string, string>
  /** What may not be read. */
  unread: readonly Unread[]
  restarts: readonly RestartWithState[]
}

/** One run of restarts. Where it stands is read from the cluster and the journal; what is kept here is for its report. */
export class RestartRun implements WaveRun {
  readonly wanted: WaveRunWanted
  /** ms since the epoch. */
  readonly began: number
  /** Every VM that was to be restarted, as it was seen first. */
  readonly known = new Map<string, RestartCandidate>()
  /** Ids of waves that are through. */
  readonly through = new Set<string>()
  readonly typed: string
  readonly #refused = new Map<string, string>()
  readonly #kubevirt: KubeVirt
  /** VMs that were not to be restarted when their turn came, until all are listed again. */
  readonly #gone = new Set<string>()
  #listed: { at: number; fleet: RestartFleet; room: ReturnRoom } | undefined

  readonly watched = { kind: VirtualMachineInstances }
  readonly risk = {
    undo: 'none: a restarted VM has its changes',
    safeToLeave: 'always: VMs that restart now start again by themselves, and the same command continues',
  }
  readonly words = { done: 'back', failed: 'refused', awaited: 'to be back' }

  /** `typed`: the command line, for what goes on is the same line with all its flags. */
  constructor(
    wanted: WaveRunWanted,
    {
      began,
      kubevirt,
      typed = narrowedLine('kvup workloads restart', wanted.selection),
    }: { began: number; kubevirt: KubeVirt; typed?: string },
  ) {
    this.wanted = wanted
    this.typed = typed
    this.began = began
    this.#kubevirt = kubevirt
  }

  /** What is not judged, because it may not be read. */
  get remarks(): readonly string[] {
    return this.#listed?.room.remarks ?? []
  }

  get pacing(): Pacing {
    return { ...this.wanted.pacing, perNode: Infinity }
  }

  get failed(): FailedVm[] {
    return [...this.#refused].map(([vm, reason]) => ({ vm, reason }))
  }

  async read(cx: ReadContext): Promise<RestartSnapshot> {
    const now = cx.clock.now().getTime()
    const restarts = await readRestarts(cx, { began: this.began, now, backWithin: this.wanted.backWithin })
    const { candidates, left, unread } = await this.#fleet(cx, now)
    const asked = new Map(restarts.map((restart) => [restart.vm, restart]))
    const open = [...candidates].filter(([vm, one]) => this.#isOpen(one, asked.get(vm)))
    return { now, candidates: new Map(open), left, unread, restarts }
  }

  async readWave(cx: ReadContext): Promise<WaveSnapshot> {
    const { now, candidates, restarts } = await this.read(cx)
    return {
      now,
      candidates,
      restarts,
      failed: this.failed,
      traffic: restartTraffic(restarts, this.known),
      split: [],
      stillAtMost: Infinity,
      doubtful: new Set(),
      slow: [],
      ended: new Map(),
      succeeded: new Set(),
    }
  }

  remedy({ reason }: Stop, { failed, candidates }: Parameters<WaveRun['remedy']>[1]): readonly string[] {
    const shows = 'kubectl get virtualmachines,virtualmachineinstances -A     shows which do not run'
    if (reason !== 'canary-failed')
      return [
        shows,
        resumeLine({ commandLine: this.typed }, 'goes on with those that still wait for a restart'),
      ]
    const other = otherCanaryLine(this.typed, {
      failed: failed.map(({ vm }) => vm),
      left: [...candidates.values()],
      known: [...this.known.values()],
    })
    return other === undefined ? [shows] : [shows, other]
  }

  async begin(cx: StepContext, one: Candidate): Promise<Begun> {
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
    const vm = await reader.get(VirtualMachines, { name, namespace })
    if (vm.is !== 'object' || !waitsForRestart(vm.object)) return 'it no longer needs a restart'
    return whyNotNow(vmi) ?? (await readReturnRoom(reader, this.#kubevirt)).refusal(vmi)
  }

  #isOpen({ vm, since }: RestartCandidate, asked: RestartWithState | undefined): boolean {
    if (this.#refused.has(vm) || this.#gone.has(vm)) return false
    if (asked === undefined || asked.state.is === 'not-begun') return true
    // Changed once more after it was back.
    return asked.state.is === 'back' && asked.at < this.began && since > asked.at
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
function restartTraffic(
  restarts: RestartSnapshot['restarts'],
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

/** A VM that is to be restarted. */
export interface RestartCandidate extends Candidate {
  /** ms since the epoch: since when it waits for that; 0: not known. */
  since: number
  /** Only the restart itself starts it again: were that lost, it would stay down (facts 3.4). */
  onlyOnce: boolean
  /** Volumes that live in its pod (night W2). */
  loses: readonly string[]
}

/** The VMs that wait for a restart and were asked for. */
interface RestartFleet {
  candidates: ReadonlyMap<string, RestartCandidate>
  /** Those that are not restarted, and why. */
  left: ReadonlyMap<string, string>
  /** What may not be read: which VMs wait there is not known. */
  unread: readonly Unread[]
}

interface Waiting {
  runStrategy: string
  since: number
}

/**
 * Two lists, page by page: the VMs that wait, and of their VMIs what their turn depends on. `stranded`: why one would not come back
 * (night W2). Throws ApiError, a refusal where nothing of it may be read.
 */
async function readRestartFleet(
  reader: Reader,
  wanted: WaveRunWanted,
  stranded: Against,
): Promise<RestartFleet> {
  const unread: Unread[] = []
  const waiting = await waitingVms(reader, wanted, unread)
  const candidates = new Map<string, RestartCandidate>()
  const left = new Map<string, string>()
  for await (const vmi of instancesOf(reader, waiting, { wanted, unread })) {
    const vm = vmName(vmi)
    const known = waiting.get(vm)
    if (known === undefined) continue
    waiting.delete(vm)
    const excluded = wanted.exclude.has(vm) ? 'left out by --exclude' : undefined
    const against = excluded ?? whyNot(vmi, known) ?? (await stranded(vmi))
    if (against === undefined) candidates.set(vm, restartCandidate(vmi, known, wanted))
    else left.set(vm, against)
  }
  for (const vm of waiting.keys()) left.set(vm, whyNone(vm, unread))
  return { candidates, left, unread }
}

/** Nothing is listed where nobody waits. */
async function* instancesOf(
  reader: Reader,
  waiting: ReadonlyMap<string, Waiting>,
  { wanted, unread }: { wanted: WaveRunWanted; unread: Unread[] },
): AsyncGenerator<VirtualMachineInstance> {
  if (waiting.size === 0) return
  const { namespace } = wanted.selection
  for await (const page of pagesAllowed(reader, VirtualMachineInstances, { namespace }))
    if ('unread' in page) unread.push(page.unread)
    else yield* page.items
}

function whyNone(vm: string, unread: readonly Unread[]): string {
  const refused = unread.find(({ namespace }) => vm.startsWith(`${namespace}/`))
  return refused
    ? `kvup may not read its VMI: ${refused.why}`
    : 'it is not running: its next start applies everything'
}

async function waitingVms(
  reader: Reader,
  { selection: { namespace, labels } }: WaveRunWanted,
  unread: Unread[],
): Promise<Map<string, Waiting>> {
  const waiting = new Map<string, Waiting>()
  for await (const page of orUnserved(pagesAllowed(reader, VirtualMachines, { namespace, labels })))
    if ('unread' in page) unread.push(page.unread)
    else page.items.filter(waitsForRestart).forEach((vm) => waiting.set(vmName(vm), waitingOf(vm)))
  return waiting
}

const waitingOf = (vm: VirtualMachine): Waiting => ({
  runStrategy: runStrategyOf(vm),
  since: Date.parse(condition(vm, 'RestartRequired')?.lastTransitionTime ?? '') || 0,
})

/** What virt-api refuses, or what would break off something else (facts 5, KubeVirt RestartVMRequestHandler). */
function whyNot(vmi: VirtualMachineInstance, { runStrategy }: Waiting): string | undefined {
  if (runStrategy === 'Halted' || runStrategy === 'Once')
    return `runStrategy ${runStrategy} allows no restart: it would not restart by itself`
  return whyNotNow(vmi)
}

/** What a restart would break off; it may have begun since the VMIs were listed. Pure. */
function whyNotNow(vmi: VirtualMachineInstance): string | undefined {
  if (isMigrating(vmi)) return 'it migrates now'
  if (condition(vmi, 'VolumesChange')?.status === 'True') return 'its volumes are being moved'
  return notRunning(vmi)
}

function notRunning({ metadata, status }: VirtualMachineInstance): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'it is already stopping'
  return status?.phase === 'Running' ? undefined : `it is ${status?.phase ?? 'not running yet'}`
}

function restartCandidate(
  vmi: VirtualMachineInstance,
  { runStrategy, since }: Waiting,
  wanted: WaveRunWanted,
): RestartCandidate {
  return {
    ...candidateOf(vmi, 'restart', wanted),
    since,
    onlyOnce: runStrategy !== 'Always',
    loses: lostData(vmi),
  }
}
