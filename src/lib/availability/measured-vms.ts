import type { Change } from '../kube/cluster.ts'
import type { MigrationState, VirtualMachineInstance } from '../kube/kinds/kubevirt-kinds.ts'
import { filled } from '../kube/known.ts'
import { condition, keyOf } from '../kube/object.ts'

/** A VM that ran and then did not run on. Who ended it, a guest or a person included, cannot be seen. */
export interface InterruptedVm {
  /** `namespace/name` */
  vm: string
  /** RFC 3339. */
  at: string
  how: 'restarted' | 'failed' | 'stopped' | 'deleted'
  runsAgain?: string
}

/**
 * A live migration that ended during the measurement, in KubeVirt's own times: whole seconds, of the clocks of both nodes. They tell no downtime: when the guest was suspended on the source
 * node stands nowhere.
 */
export interface MeasuredMigration {
  vm: string
  /** RFC 3339; absent where KubeVirt did not say it, as all of these. */
  begin?: string
  end?: string
  seconds?: number
  /** When the target node saw the guest active there. */
  activeOnTarget?: string
  sourceNode?: string
  targetNode?: string
  /** `PreCopy`, `PostCopy`, or `Paused`: it was suspended to bring the migration to its end. */
  mode?: string
  failed?: string
}

/** A guest agent that was connected and then was not, while its VM ran on. */
export interface LostAgent {
  vm: string
  at: string
  connectedAgain?: string
}

/** A time in which VMs were not watched, though they were before it. */
export interface WatchGap {
  begin: string
  /** Absent: until the measurement ended. */
  end?: string
  why: string
}

interface Counted<T> {
  count: number
  items: readonly T[]
}

export interface MeasuredVmsReport {
  watched: number
  /** The label selector of the sample; absent: all. */
  selector?: string
  interrupted: Counted<InterruptedVm>
  migrations: Counted<MeasuredMigration> & { failed: number; longestSeconds?: number }
  agents: { connected: number; lost: Counted<LostAgent> }
  notWatched?: string
  /** When nothing was known of them for a while; absent where they were watched to the end. */
  gaps?: Counted<WatchGap>
}

/** What is remembered of a VM: some 200 bytes. */
interface KnownVm {
  uid: string
  ran: boolean
  migration: string | undefined
  agent: boolean
}

interface Phases {
  before: KnownVm | undefined
  same: KnownVm | undefined
  phase: string | undefined
}

const finalPhases: Readonly<Record<string, InterruptedVm['how']>> = { Failed: 'failed', Succeeded: 'stopped' }

/** So many of each are told; the rest is counted. */
const keptAtMost = 50
/** Names that are counted once each, of as many as fit into a few MB. */
const namesAtMost = 20_000

class CountedNames {
  readonly #names = new Set<string>()
  count = 0

  add(name: string): void {
    if (this.#names.has(name)) return
    this.count++
    if (this.#names.size < namesAtMost) this.#names.add(name)
  }
}

/** Folds changes of VMIs into what became of VMs. `at` of each change is RFC 3339. */
export class MeasuredVms {
  readonly #selector: string | undefined
  readonly #known = new Map<string, KnownVm>()
  readonly #watched = new CountedNames()
  readonly #agents = new CountedNames()
  readonly #interrupted = new Map<string, InterruptedVm>()
  readonly #interruptedNames = new CountedNames()
  readonly #lost = new Map<string, LostAgent>()
  readonly #migrations: MeasuredMigration[] = []
  #migrated = 0
  #failed = 0
  #longest: number | undefined
  #lostAgents = 0
  #running: string | undefined
  /** All VMIs were listed once: from then on they are watched, but for the gaps. */
  #isListed = false
  #why: string | undefined
  readonly #gaps: WatchGap[] = []
  #gapCount = 0
  #gap: WatchGap | undefined

  constructor(selector?: string) {
    this.#selector = selector
  }

  someRunning(): { namespace: string; name: string } | undefined {
    const [namespace, name] = this.#running?.split('/') ?? []
    return namespace === undefined || name === undefined ? undefined : { namespace, name }
  }

  take(change: Change<VirtualMachineInstance>, at: string): void {
    if (change.type === 'synced') this.#synced(at)
    else if (change.type === 'lost') this.#watchLost(change.why, at)
    else if (change.type === 'deleted') this.#gone(keyOf(change.object), at)
    else this.#changed(change.object, at)
  }

  #synced(at: string): void {
    this.#isListed = true
    if (this.#gap !== undefined) this.#gap.end = at
    this.#gap = undefined
  }

  #watchLost(why: string, at: string): void {
    this.#why = why
    if (!this.#isListed || this.#gap !== undefined) return
    this.#gapCount++
    this.#gap = { begin: at, why }
    if (this.#gaps.length < keptAtMost) this.#gaps.push(this.#gap)
  }

  #changed(vmi: VirtualMachineInstance, at: string): void {
    const vm = keyOf(vmi)
    const { metadata, status = {} } = vmi
    const { uid = '' } = metadata
    const before = this.#known.get(vm)
    const same = before?.uid === uid ? before : undefined
    const ran = this.#phase(vm, { before, same, phase: status.phase }, at)
    const migration = endOf(status.migrationState)
    if (migration !== undefined && migration !== same?.migration && this.#isNew(before))
      this.#migration(vm, status.migrationState ?? {})
    const agent = condition(vmi, 'AgentConnected')?.status === 'True'
    if (status.phase === 'Running') this.#agent(vm, { was: same?.agent === true, is: agent }, at)
    this.#known.set(vm, { uid, ran, migration: migration ?? same?.migration, agent })
  }

  /** Whether it runs, or ran when it was last told: what follows is an interruption then. `same`: of the same VMI. */
  #phase(vm: string, { before, same, phase = '' }: Phases, at: string): boolean {
    const how = finalPhases[phase]
    if (before?.ran && same === undefined) this.#interrupt(vm, 'restarted', at)
    if (same?.ran && how !== undefined) this.#interrupt(vm, how, at)
    if (phase === 'Running') this.#runs(vm, at)
    else this.#unpick(vm)
    return phase === 'Running' || (same?.ran === true && how === undefined)
  }

  /** What ended before the measurement began is in the first list. */
  #isNew(before: KnownVm | undefined): boolean {
    return before !== undefined || this.#isListed
  }

  #runs(vm: string, at: string): void {
    this.#watched.add(vm)
    this.#running ??= vm
    const interrupted = this.#interrupted.get(vm)
    if (interrupted === undefined || interrupted.runsAgain !== undefined) return
    interrupted.runsAgain = at
    if (interrupted.how === 'deleted') interrupted.how = 'restarted'
  }

  #unpick(vm: string): void {
    if (this.#running === vm) this.#running = undefined
  }

  /** A restart is told by the VMI that is gone: a later one of the same name is the same interruption. */
  #interrupt(vm: string, how: InterruptedVm['how'], at: string): void {
    this.#interruptedNames.add(vm)
    if (this.#interrupted.size < keptAtMost && !this.#interrupted.has(vm))
      this.#interrupted.set(vm, { vm, at, how })
  }

  #gone(vm: string, at: string): void {
    if (this.#known.get(vm)?.ran) this.#interrupt(vm, 'deleted', at)
    this.#unpick(vm)
    this.#known.delete(vm)
  }

  #migration(vm: string, state: MigrationState): void {
    const { startTimestamp: begin, endTimestamp: end, sourceNode, targetNode, mode, failed } = state
    const ms = Date.parse(end ?? '') - Date.parse(begin ?? '')
    const seconds = ms >= 0 ? Math.round(ms / 1000) : undefined
    this.#migrated++
    if (failed) this.#failed++
    if (seconds !== undefined) this.#longest = Math.max(this.#longest ?? 0, seconds)
    if (this.#migrations.length >= keptAtMost) return
    const activeOnTarget = failed ? undefined : state.targetNodeDomainReadyTimestamp
    const why = failed ? (state.failureReason ?? 'no reason given') : undefined
    this.#migrations.push({
      vm,
      ...filled({ begin, end, seconds, activeOnTarget, sourceNode, targetNode, mode }),
      ...(why !== undefined && { failed: why }),
    })
  }

  #agent(vm: string, { was, is }: { was: boolean; is: boolean }, at: string): void {
    if (is) this.#agents.add(vm)
    const lost = this.#lost.get(vm)
    if (is && lost && lost.connectedAgain === undefined) lost.connectedAgain = at
    if (!was || is) return
    this.#lostAgents++
    if (this.#lost.size < keptAtMost) this.#lost.set(vm, { vm, at })
  }

  report(): MeasuredVmsReport {
    const notWatched = this.#isListed ? undefined : (this.#why ?? 'the list of VMIs did not come in time')
    const gaps = this.#gaps.map((gap) => ({ ...gap }))
    return {
      watched: this.#watched.count,
      ...(this.#selector !== undefined && { selector: this.#selector }),
      interrupted: { count: this.#interruptedNames.count, items: [...this.#interrupted.values()] },
      migrations: {
        count: this.#migrated,
        failed: this.#failed,
        ...(this.#longest !== undefined && { longestSeconds: this.#longest }),
        items: [...this.#migrations],
      },
      agents: {
        connected: this.#agents.count,
        lost: { count: this.#lostAgents, items: [...this.#lost.values()] },
      },
      ...(notWatched !== undefined && { notWatched }),
      ...(this.#gapCount > 0 && { gaps: { count: this.#gapCount, items: gaps } }),
    }
  }
}

const endOf = (state: MigrationState | undefined): string | undefined =>
  state?.completed || state?.failed ? (state.migrationUid ?? state.endTimestamp) : undefined
