import { type Reader, orUnserved } from '../../kube/cluster.ts'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { pagesAllowed, type Unread } from '../../kube/readable-pages.ts'
import { endOf, isFinished, isRunning, type Migration, migrationOf, vmOf } from './migration.ts'
import { seconds } from '../../kube/clock.ts'

/** The finished migrations of one VMI that KubeVirt has kept: five at most (facts 3.3). */
interface Past {
  kept: number
  /** The newest first. */
  failed: Migration[]
  /** ms since the epoch; 0: none. */
  succeededAt: number
}

/** What became of one VMI's migrations. */
export interface PastMigrations {
  /** How many finished ones there are. */
  kept: number
  /** Failed ones since the last that succeeded, the newest first. */
  failures: readonly Migration[]
}

/** So many finished migrations KubeVirt keeps of a VMI: who failed that often in a row may have failed more often (facts 3.3). */
export const keptByKubeVirt = 5

/** All migrations of a cluster, folded: of a VMI whose migrations succeed less than 200 bytes stay. */
export class MigrationLedger {
  readonly #open = new Map<string, Migration>()
  readonly #past = new Map<string, Past>()
  /** By namespace, when they succeeded: ms since the epoch, in no order. */
  readonly #ends = new Map<string, number[]>()

  /** The same once more, which changes no more with this one. */
  copy(): MigrationLedger {
    const copied = new MigrationLedger()
    for (const [uid, migration] of this.#open) copied.#open.set(uid, migration)
    for (const [vm, past] of this.#past) copied.#past.set(vm, { ...past })
    for (const [namespace, ends] of this.#ends) copied.#ends.set(namespace, [...ends])
    return copied
  }

  /** A migration that was listed, or seen for the first time. */
  add(object: VirtualMachineInstanceMigration): void {
    const migration = migrationOf(object)
    this.#open.delete(migration.uid)
    if (isFinished(migration)) this.#finish(migration)
    else this.#open.set(migration.uid, migration)
  }

  /** A migration that was added before: of a finished one nothing changes any more. */
  update(object: VirtualMachineInstanceMigration): void {
    if (this.#open.delete(object.metadata.uid ?? '')) this.add(object)
  }

  remove(object: VirtualMachineInstanceMigration): void {
    const migration = migrationOf(object)
    if (this.#open.delete(migration.uid) || !isFinished(migration)) return
    const past = this.#past.get(vmOf(migration))
    if (past === undefined) return
    past.kept--
    past.failed = past.failed.filter(({ uid }) => uid !== migration.uid)
    if (past.kept === 0) this.#past.delete(vmOf(migration))
  }

  /** Of every namespace that was read. */
  get open(): readonly Migration[] {
    return [...this.#open.values()]
  }

  /** Those that count against the limits. */
  get running(): readonly Migration[] {
    return this.open.filter(isRunning)
  }

  /** How many of those that are kept ended so; of one namespace or of all. */
  finished(namespace?: string): { succeeded: number; failed: number } {
    const counts = { succeeded: 0, failed: 0 }
    for (const [vm, { kept, failed }] of this.#past) {
      if (namespace !== undefined && !vm.startsWith(`${namespace}/`)) continue
      counts.failed += failed.length
      counts.succeeded += kept - failed.length
    }
    return counts
  }

  /** VMIs, `namespace/name`, whose last finished migration failed. */
  get failing(): readonly string[] {
    return [...this.#past].filter(([, past]) => failuresOf(past).length > 0).map(([vm]) => vm)
  }

  /** When migrations succeeded, in ms since the epoch; of one namespace or of all. */
  ends(namespace?: string): readonly number[] {
    return namespace === undefined ? [...this.#ends.values()].flat() : (this.#ends.get(namespace) ?? [])
  }

  /** Finished ones of a VMI, `namespace/name`. */
  pastOf(vm: string): PastMigrations {
    const past = this.#past.get(vm)
    return { kept: past?.kept ?? 0, failures: past === undefined ? [] : failuresOf(past) }
  }

  /** Unfinished ones by VMI: one each, unless something is wrong. */
  get openByVm(): ReadonlyMap<string, readonly Migration[]> {
    return Map.groupBy(this.#open.values(), vmOf)
  }

  #finish(migration: Migration): void {
    const vm = vmOf(migration)
    const past = this.#past.get(vm) ?? { kept: 0, failed: [], succeededAt: 0 }
    past.kept++
    if (migration.phase === 'Failed')
      past.failed = [...past.failed, migration].sort((a, b) => endOf(b) - endOf(a))
    else past.succeededAt = Math.max(past.succeededAt, this.#succeed(migration))
    this.#past.set(vm, past)
  }

  #succeed(migration: Migration): number {
    const end = endOf(migration)
    const ends = this.#ends.get(migration.namespace) ?? []
    ends.push(end)
    this.#ends.set(migration.namespace, ends)
    return end
  }
}

function failuresOf({ failed, succeededAt }: Past): readonly Migration[] {
  return failed.filter((migration) => endOf(migration) > succeededAt)
}

/** What was read, and what could not be. */
interface MigrationsRead {
  ledger: MigrationLedger
  unread: readonly Unread[]
}

/**
 * Reads every migration once, page by page; none where the kind is not served. `each` sees all of them. Throws ApiError, a refusal where
 * neither all namespaces may be read nor their names.
 */
export async function readMigrations(
  reader: Reader,
  { namespace, each }: { namespace?: string | undefined; each?: (migration: Migration) => void } = {},
): Promise<MigrationsRead> {
  const ledger = new MigrationLedger()
  const unread: Unread[] = []
  for await (const page of orUnserved(pagesAllowed(reader, VirtualMachineInstanceMigrations, { namespace })))
    if ('unread' in page) unread.push(page.unread)
    else fold(page.items, ledger, each)
  return { ledger, unread }
}

function fold(
  items: readonly VirtualMachineInstanceMigration[],
  ledger: MigrationLedger,
  each: ((migration: Migration) => void) | undefined,
): void {
  for (const object of items) {
    ledger.add(object)
    each?.(migrationOf(object))
  }
}

/** Migrations as an update sees them: when each VM was through, and what failed since it began. Times in ms since the epoch. */
export class ObservedMoves {
  /** By VM: the last that succeeded since the update began. */
  readonly succeeded = new Map<string, number>()
  /** Migrations that kvup made and that ended, whenever that was: the last one by VM. */
  readonly ended = new Map<string, number>()
  /** Those that KubeVirt's own updater made and that succeeded, whenever that was: the last one by VM. */
  readonly byKubeVirt = new Map<string, number>()
  readonly #since: number

  constructor(since: number) {
    this.#since = since
  }

  /** The same once more, which changes no more with this one. */
  copy(): ObservedMoves {
    const copied = new ObservedMoves(this.#since)
    for (const [vm, at] of this.succeeded) copied.succeeded.set(vm, at)
    for (const [vm, at] of this.ended) copied.ended.set(vm, at)
    for (const [vm, at] of this.byKubeVirt) copied.byKubeVirt.set(vm, at)
    return copied
  }

  add(migration: Migration): void {
    if (!isFinished(migration)) return
    const [vm, at] = [vmOf(migration), endOf(migration)]
    if (migration.by === 'kvup') this.ended.set(vm, Math.max(at, this.ended.get(vm) ?? 0))
    if (migration.phase === 'Succeeded' && migration.by === 'workload-update')
      this.byKubeVirt.set(vm, Math.max(at, this.byKubeVirt.get(vm) ?? 0))
    if (migration.phase === 'Succeeded' && at >= this.#since)
      this.succeeded.set(vm, Math.max(at, this.succeeded.get(vm) ?? 0))
  }

  /** Failures in a row since the update began, the newest first. */
  failures(ledger: MigrationLedger, vm: string): readonly Migration[] {
    return ledger.pastOf(vm).failures.filter((failure) => endOf(failure) >= this.#since)
  }
}

const first = 20 * seconds

/** When a VM is tried again: as long after its last failure as KubeVirt waits with what it makes itself (facts 3.3). 0: at once. */
export function triedAgainAt(failures: readonly Migration[]): number {
  const [last] = failures
  return last === undefined ? 0 : endOf(last) + first * 2 ** (Math.min(failures.length, keptByKubeVirt) - 1)
}

/** The last so many finished migrations of those that were shown to it; the older ones are only counted. */
export class NewestFinished {
  readonly #atMost: number
  readonly #namespace: string | undefined
  #kept: Migration[] = []
  #observed = 0

  constructor(atMost: number, namespace?: string) {
    this.#atMost = atMost
    this.#namespace = namespace
  }

  add(migration: Migration): void {
    if (!isFinished(migration) || migration.namespace !== (this.#namespace ?? migration.namespace)) return
    this.#observed++
    this.#kept.push(migration)
    if (this.#kept.length >= 2 * this.#atMost) this.#kept = this.items.slice()
  }

  /** The newest first. */
  get items(): readonly Migration[] {
    return this.#kept.toSorted((a, b) => endOf(b) - endOf(a)).slice(0, this.#atMost)
  }

  /** How many there are that `items` leaves out. */
  get older(): number {
    return Math.max(0, this.#observed - this.#atMost)
  }
}
