import type { Reader } from '../../cluster/cluster.ts'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../cluster/kinds/virtual-machines.ts'
import type { Change } from '../../cluster/cluster.ts'
import { Bell } from '../../facts/bell.ts'
import type { Clock } from '../../system/clock.ts'
import { seconds } from '../../system/units.ts'
import { MigrationLedger } from './ledger.ts'

interface Watching {
  reader: Reader
  clock: Clock
  namespace?: string | undefined
  signal: AbortSignal
}

/** Changes come in bursts, and each look asks for the VMIs that move. */
const burst = 1 * seconds
/** What is said of pods, limits and times changes without any migration. */
const lookEvery = 15 * seconds

/**
 * Calls `look` with all migrations now, at every change of one, and every 15 s; ends by throwing the signal's reason. Migrations are
 * followed, not listed again.
 */
export async function followMigrations(
  { reader, clock, namespace, signal }: Watching,
  look: (ledger: MigrationLedger, lost: string | undefined) => Promise<void>,
): Promise<never> {
  const done = new AbortController()
  const followed = new Followed()
  const both = AbortSignal.any([signal, done.signal])
  void followed.run(reader.follow(VirtualMachineInstanceMigrations, { namespace }, both))
  try {
    for (;;) {
      if (followed.synced || followed.lost !== undefined) await look(followed.ledger, followed.lost)
      await followed.bell.wait(clock, lookEvery, signal)
      await clock.sleep(burst, signal)
    }
  } finally {
    done.abort()
  }
}

/** What the watch has told so far. */
class Followed {
  readonly bell = new Bell()
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
    this.bell.ring()
  }

  #take(change: Change<VirtualMachineInstanceMigration>): void {
    if (change.type === 'added') this.ledger.add(change.object)
    else if (change.type === 'modified') this.ledger.update(change.object)
    else if (change.type === 'deleted') this.ledger.remove(change.object)
    else this.lost = change.type === 'lost' ? change.why : undefined
    if (change.type === 'synced') this.synced = true
    if (this.synced || change.type === 'lost') this.bell.ring()
  }
}
