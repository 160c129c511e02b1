import type { Reader } from '../../cluster/cluster.ts'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../cluster/kinds/virtual-machines.ts'
import { type Clock, ticks } from '../../system/clock.ts'
import { seconds } from '../../system/units.ts'
import type { MigrationLedger } from '../migrations/ledger.ts'
import { isFinished, type Migration, migrationOf } from '../migrations/migration.ts'
import { MigrationStream } from './migration-stream.ts'
import type { ObservedMoves } from './observed-moves.ts'

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
export class FollowedMigrations {
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
  async look(): Promise<{ ledger: MigrationLedger; moves: ObservedMoves } | undefined> {
    if (this.#stream.isOver && this.#now - this.#openedAt >= reopenAfter) this.#reopen()
    await this.#stream.settled
    if (this.#stream.isSynced && (await this.#isDead())) {
      this.#reopen()
      await this.#stream.settled
    }
    return this.#stream.isSynced ? this.#stream.seen() : undefined
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
