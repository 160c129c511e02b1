import type { Change, Reader } from '../../kube/cluster.ts'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { type Clock, seconds, ticks } from '../../kube/clock.ts'
import { MigrationLedger, ObservedMoves } from './migration-ledger.ts'
import { isFinished, type Migration, migrationOf } from './migration.ts'
import { ChangeSignal } from '../../kube/change-signal.ts'

/** A watch can be silently dead: so often the cluster itself is asked for what is under way. */
const doubtEvery = 60 * seconds
const askedAtMost = 20
/** One that ended by itself is not begun anew with every look. */
const reopenAfter = 30 * seconds

interface Source {
  reader: Reader
  clock: Clock
  namespace?: string | undefined
  /** ms since the epoch: moves before are history. */
  since: number
}

/** All migrations by one list and a watch, folded: a look at them costs no list. */
export class MigrationWatch {
  readonly #source: Source
  #stream: MigrationStream
  /** ms since the epoch. */
  #openedAt: number
  #askedAt: number
  /** What the cluster told otherwise when it was asked last: phase in the ledger by uid. */
  #doubtful: ReadonlyMap<string, string> = new Map()

  constructor(source: Source) {
    this.#source = source
    this.#openedAt = this.#askedAt = this.#now
    this.#stream = new MigrationStream(source)
  }

  /** As they are now; undefined while changes may be missed: then they have to be listed. Throws ApiError. */
  async read(): Promise<{ ledger: MigrationLedger; moves: ObservedMoves } | undefined> {
    if (this.#stream.isOver && this.#now - this.#openedAt >= reopenAfter) this.#reopen()
    await this.#stream.settled
    if (this.#stream.isSynced && (await this.#isDead())) {
      this.#reopen()
      await this.#stream.settled
    }
    return this.#stream.isSynced ? this.#stream.observed() : undefined
  }

  /** A migration is about to be made: its event may come before the answer. */
  expect(): void {
    this.#stream.arrived.clear()
  }

  /** It counts from now on, though the watch may tell of it later. */
  made(migration: VirtualMachineInstanceMigration): void {
    this.#stream.made(migration)
  }

  close(): void {
    this.#stream.close()
  }

  #reopen(): void {
    this.#stream.close()
    this.#openedAt = this.#askedAt = this.#now
    this.#doubtful = new Map()
    this.#stream = new MigrationStream(this.#source)
  }

  /** An event may be late: only what is told otherwise twice in a row was missed. */
  async #isDead(): Promise<boolean> {
    if (this.#now - this.#askedAt < doubtEvery && this.#doubtful.size === 0) return false
    const before = this.#doubtful
    this.#askedAt = this.#now
    const open = this.#stream.open.slice(0, askedAtMost)
    const asked = await Promise.all(
      open.map(async (one) => ((await this.#isSame(one)) ? [] : [[one.uid, one.phase] as const])),
    )
    this.#doubtful = new Map(asked.flat())
    return [...this.#doubtful].some(([uid, phase]) => before.get(uid) === phase)
  }

  async #isSame({ namespace, name, uid, phase }: Migration): Promise<boolean> {
    const [found] = await this.#source.reader.list(VirtualMachineInstanceMigrations, { namespace, name })
    if (found === undefined) return false
    const now = migrationOf(found)
    return now.uid === uid && now.phase === phase && !isFinished(now)
  }

  get #now(): number {
    return ticks(this.#source.clock)
  }
}

interface StreamOptions {
  reader: Reader
  namespace?: string | undefined
  /** ms since the epoch. */
  since: number
}

/** One list and its watch, and what they have told so far. */
class MigrationStream {
  /** Resolves once it is in sync, or known not to be. */
  readonly settled: Promise<void>
  /** uids of what was added of late. */
  readonly arrived = new Set<string>()
  readonly #ledger = new MigrationLedger()
  readonly #moves: ObservedMoves
  readonly #stop = new AbortController()
  #isSynced = false
  #isOver = false
  #settle: () => void = () => undefined

  constructor({ reader, namespace, since }: StreamOptions) {
    this.#moves = new ObservedMoves(since)
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    void this.#run(reader.watch(VirtualMachineInstanceMigrations, { namespace }, this.#stop.signal))
  }

  /** No change is missed. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /** It tells nothing any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The longest unchanged first. */
  get open(): readonly Migration[] {
    return this.#ledger.open
  }

  /** Copies: what is decided in one look is decided by one state. */
  observed(): { ledger: MigrationLedger; moves: ObservedMoves } {
    return { ledger: this.#ledger.copy(), moves: this.#moves.copy() }
  }

  made(migration: VirtualMachineInstanceMigration): void {
    if (!this.arrived.has(migration.metadata.uid ?? '')) this.#ledger.add(migration)
  }

  close(): void {
    this.#stop.abort()
  }

  async #run(changes: AsyncIterable<Change<VirtualMachineInstanceMigration>>): Promise<void> {
    try {
      for await (const change of changes) this.#take(change)
    } catch {
      // Whoever lists instead gets the same answer, and says so.
    }
    this.#isSynced = false
    this.#isOver = true
    this.#settle()
  }

  #take(change: Change<VirtualMachineInstanceMigration>): void {
    if (change.type === 'synced' || change.type === 'lost') {
      this.#isSynced = change.type === 'synced'
      this.#settle()
    } else if (change.type === 'deleted') this.#ledger.remove(change.object)
    else this.#fold(change.type, change.object)
  }

  #fold(type: 'added' | 'modified', object: VirtualMachineInstanceMigration): void {
    if (type === 'added') {
      this.arrived.add(object.metadata.uid ?? '')
      this.#ledger.add(object)
    } else this.#ledger.update(object)
    this.#moves.add(migrationOf(object))
  }
}

/** Changes come in bursts, and each look asks for the VMIs that move. */
const burst = 1 * seconds
/** What is said of pods, limits and times changes without any migration. */
const readEvery = 15 * seconds

/**
 * Calls `look` with all migrations now, at every change of one, and every 15 s; ends by throwing the signal's reason. Migrations are
 * followed, not listed again.
 */
export async function watchMigrations(
  {
    reader,
    clock,
    namespace,
    signal,
  }: { reader: Reader; clock: Clock; namespace?: string | undefined; signal: AbortSignal },
  snapshot: (ledger: MigrationLedger, lost: string | undefined) => Promise<void>,
): Promise<never> {
  const done = new AbortController()
  const watched = new WatchedMigrations()
  const both = AbortSignal.any([signal, done.signal])
  void watched.run(reader.watch(VirtualMachineInstanceMigrations, { namespace }, both))
  try {
    for (;;) {
      if (watched.synced || watched.lost !== undefined) await snapshot(watched.ledger, watched.lost)
      await watched.changed.wait(clock, readEvery, signal)
      await clock.sleep(burst, signal)
    }
  } finally {
    done.abort()
  }
}

/** What the watch has told so far. */
class WatchedMigrations {
  readonly changed = new ChangeSignal()
  readonly ledger = new MigrationLedger()
  synced = false
  /** Changes may be missed, and why. */
  lost: string | undefined

  async run(changes: AsyncIterable<Change<VirtualMachineInstanceMigration>>): Promise<void> {
    try {
      for await (const change of changes) this.#take(change)
    } catch (error) {
      this.lost = error instanceof Error ? error.message : String(error)
    }
    this.changed.ring()
  }

  #take(change: Change<VirtualMachineInstanceMigration>): void {
    if (change.type === 'added') this.ledger.add(change.object)
    else if (change.type === 'modified') this.ledger.update(change.object)
    else if (change.type === 'deleted') this.ledger.remove(change.object)
    else this.lost = change.type === 'lost' ? change.why : undefined
    if (change.type === 'synced') this.synced = true
    if (this.synced || change.type === 'lost') this.changed.ring()
  }
}
