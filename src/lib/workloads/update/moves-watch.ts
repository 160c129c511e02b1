import type { Reader } from '../../cluster/cluster.ts'
import { VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { ApiError } from '../../system/errors.ts'
import { readMigrations } from '../migrations/ledger.ts'
import { vmOf } from '../migrations/migration.ts'
import { type Harm, lookForHarm } from './harm.ts'
import { LauncherWatch } from './launcher-watch.ts'
import { ObservedMoves } from './observed-moves.ts'

/** So many VMs that fail for one reason are no accident. */
export const failuresTaken = 3

interface Watched {
  harm?: Harm
  /** VMs that were outdated and whose migration has not ended. */
  open: number
  /** Those whose former launcher has not ended. */
  doubtful: number
}

/**
 * What becomes of VMs that KubeVirt moves. Failures count from the first look, for the roll of virt-handler kills migrations; who runs twice is looked for
 * among all that moved `since`, ms since the epoch. Of a VM less than 200 bytes stay.
 */
export class MovesWatch {
  readonly #since: number
  readonly #launchers = new LauncherWatch()
  readonly #known = new Map<string, { uid: string }>()
  /** ms since the epoch. */
  #began: number | undefined
  /** Pods may not be read: whether a VM runs twice is not judged. */
  #isBlind = false

  constructor(since: number) {
    this.#since = since
  }

  /** `outdated`: uid of the VMIs that are to be moved, by `namespace/name`. Throws ApiError, but for launchers that may not be read. */
  async look(reader: Reader, outdated: ReadonlyMap<string, string>, now: number): Promise<Watched> {
    const isFirst = this.#began === undefined
    this.#began ??= now
    for (const [vm, uid] of outdated) this.#known.set(vm, { uid })
    const moved = new ObservedMoves(this.#since)
    const { ledger } = await readMigrations(reader, { each: (migration) => moved.add(migration) })
    if (isFirst) await this.#learn(reader, moved.succeeded)
    const failed = new ObservedMoves(this.#began)
    const moves = { succeeded: moved.succeeded, failures: failed.failures.bind(failed) }
    const open = ledger.open.filter((migration) => this.#known.has(vmOf(migration))).length
    const seen = { now, ledger, moves, restarts: [], outdated: outdated.keys(), known: this.#known }
    const launchers = { look: this.#lookAtLaunchers.bind(this) }
    return { open, ...(await lookForHarm(reader, seen, { launchers, maxFailures: failuresTaken })) }
  }

  /** VMs that were through before the first look. */
  async #learn(reader: Reader, succeeded: ReadonlyMap<string, number>): Promise<void> {
    if ([...succeeded.keys()].every((vm) => this.#known.has(vm))) return
    for await (const { items } of reader.pages(VirtualMachineInstances, {}))
      for (const { metadata } of items) {
        const vm = `${metadata.namespace}/${metadata.name}`
        if (succeeded.has(vm)) this.#known.set(vm, { uid: metadata.uid ?? '' })
      }
  }

  async #lookAtLaunchers(...asked: Parameters<LauncherWatch['look']>): ReturnType<LauncherWatch['look']> {
    const nothing = { doubtful: new Set<string>(), slow: [], split: [] }
    if (this.#isBlind) return nothing
    try {
      return await this.#launchers.look(...asked)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      this.#isBlind = true
      return nothing
    }
  }
}
