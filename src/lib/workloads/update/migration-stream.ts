import type { Change, Reader } from '../../cluster/cluster.ts'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../cluster/kinds/virtual-machines.ts'
import { MigrationLedger } from '../migrations/ledger.ts'
import { type Migration, migrationOf } from '../migrations/migration.ts'
import { ObservedMoves } from './observed-moves.ts'

interface Followed {
  reader: Reader
  namespace?: string | undefined
  /** ms since the epoch. */
  since: number
}

/** One list and its watch, and what they have told so far. */
export class MigrationStream {
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

  constructor({ reader, namespace, since }: Followed) {
    this.#moves = new ObservedMoves(since)
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    void this.#run(reader.follow(VirtualMachineInstanceMigrations, { namespace }, this.#stop.signal))
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
  seen(): { ledger: MigrationLedger; moves: ObservedMoves } {
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
