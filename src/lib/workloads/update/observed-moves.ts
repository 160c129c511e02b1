import { seconds } from '../../system/units.ts'
import type { MigrationLedger } from '../migrations/ledger.ts'
import { endOf, isFinished, type Migration, vmOf } from '../migrations/migration.ts'

/** Migrations as an update sees them: when each VM was through, and what failed since it began. Times in ms since the epoch. */
export class ObservedMoves {
  /** By VM: the last that succeeded since the update began. */
  readonly succeeded = new Map<string, number>()
  /** Migrations that kvup made and that ended, whenever that was: the last one by VM. */
  readonly ended = new Map<string, number>()
  readonly #since: number

  constructor(since: number) {
    this.#since = since
  }

  /** The same once more, which changes no more with this one. */
  copy(): ObservedMoves {
    const copied = new ObservedMoves(this.#since)
    for (const [vm, at] of this.succeeded) copied.succeeded.set(vm, at)
    for (const [vm, at] of this.ended) copied.ended.set(vm, at)
    return copied
  }

  add(migration: Migration): void {
    if (!isFinished(migration)) return
    const [vm, at] = [vmOf(migration), endOf(migration)]
    if (migration.by === 'kvup') this.ended.set(vm, Math.max(at, this.ended.get(vm) ?? 0))
    if (migration.phase === 'Succeeded' && at >= this.#since)
      this.succeeded.set(vm, Math.max(at, this.succeeded.get(vm) ?? 0))
  }

  /** Failures in a row since the update began, the newest first. */
  failures(ledger: MigrationLedger, vm: string): readonly Migration[] {
    return ledger.pastOf(vm).failures.filter((failure) => endOf(failure) >= this.#since)
  }
}

const first = 20 * seconds
const keptByKubeVirt = 5

/** When a VM is tried again: as long after its last failure as KubeVirt waits with what it makes itself (facts 3.3). 0: at once. */
export function triedAgainAt(failures: readonly Migration[]): number {
  const [last] = failures
  return last === undefined ? 0 : endOf(last) + first * 2 ** (Math.min(failures.length, keptByKubeVirt) - 1)
}
