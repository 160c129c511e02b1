import type { Cluster, Reader, Reviewer } from '../cluster/cluster.ts'
import { ConfigMaps } from '../cluster/kinds/core.ts'
import { VirtualMachineInstances, VirtualMachines } from '../cluster/kinds/virtual-machines.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { Kind } from '../cluster/kind.ts'
import type { Entry } from '../procedure/journal.ts'
import { meaningOf } from '../procedure/failures.ts'
import { cutShort, ends, finished, hasChanged } from '../procedure/under-way.ts'
import { guardedWriter } from '../procedure/guarded-writer.ts'
import type { Lock } from '../procedure/lock.ts'
import type { Procedure, StepContext } from '../procedure/step.ts'
import { ApiError, KvupError } from '../system/errors.ts'
import { isAsked, takeCensus } from './census.ts'
import { type Change, changesBetween, type Seen } from './census-changes.ts'
import { compareCensus, type Differences, newMigrations } from './census-differences.ts'
import { pack, packCounts, type Packed, runningIn, unpack } from './census-text.ts'
import {
  censusNames,
  type CensusOrigin,
  dropCensus,
  findCensus,
  keepCensus,
  mostCensusBytes,
} from './kept-census.ts'

/** Which run it is of. */
export interface CensusPlace {
  /** KubeVirt's. */
  namespace: string
  /** Uid of the KubeVirt. */
  kubevirt: string
  /** user@host. */
  who: string
  warn: (line: string) => void
  /**
   * Days pass between the runs of one procedure, and VMs come and go while nobody looks: what a run compares with ends with it, however it ends,
   * and only one that was killed is taken up by the next.
   */
  eachRun?: boolean
  /** The procedure that left workload updates paused: where another one goes on, what that one knew is what ran before. */
  continues?: string | undefined
  /** Ends beside that of the procedure at which what was compared was told, and people were told to act. */
  isEnd?: (entry: Entry) => boolean
}

/** With what the end was compared. */
export interface ComparedWith {
  at: string
  by: string
  /** An earlier process of the same run took it. */
  resumed: boolean
  /** Changes had begun already when it was taken: what ran before them is not known. */
  late: boolean
}

/** What changed since the run began. */
export interface Compared {
  since: ComparedWith
  differences?: Differences
  migrations?: { began: number; failed: number }
  changes: readonly Change[]
  /** Too many to be known by name: where fewer run than before. */
  counts?: readonly { namespace: string; before: number; now: number }[]
  /** Kinds that may not be read: nothing is said of them. */
  unread: readonly string[]
}

interface Taken {
  origin: CensusOrigin
  /** By an earlier process of this run. */
  resumed: boolean
  packed: Packed
}

/**
 * The VMs and volumes as they were when a run began: taken under the lock before anything is changed, kept in ConfigMaps so that
 * whoever ends the run compares with it, and deleted once that was told. A run that resumes uses the one that is there. Where it may
 * not be kept, or cannot be, this process alone knows it, which is said; no upgrade ends over it.
 */
export class RunCensus {
  readonly #place: CensusPlace
  #mayKeep = true
  #taken: Taken | undefined
  readonly #asked = new Set<string>()
  readonly #shutDown = new Set<string>()
  readonly #watching = new AbortController()

  constructor(place: CensusPlace) {
    this.#place = place
  }

  /** Before the lock: may it be kept? The right to create ConfigMaps is asked for the journal's sake already. */
  async prepare(reviewer: Reviewer): Promise<void> {
    const { namespace, warn } = this.#place
    const [name = ''] = censusNames
    const on = { group: '', resource: ConfigMaps.plural, namespace, name }
    const answers = await Promise.all(['get', 'delete'].map((verb) => reviewer.can({ verb, ...on })))
    this.#mayKeep = answers.every(({ allowed }) => allowed)
    if (!this.#mayKeep)
      warn(
        `what runs before is only known to this process: not allowed to get and delete configmaps "${name}" in namespace ${namespace}`,
      )
  }

  /** The same procedure: before its first step the census is taken, and while its end was not told yet, it has not been reached. */
  around(procedure: Procedure): Procedure {
    return {
      ...procedure,
      reached: async (cx) =>
        (await procedure.reached(cx)) && !(await this.#isOpen(cx.reader, procedure.name)),
      begin: (cx) => this.#begin(procedure, cx),
    }
  }

  /** Undefined where the run never came to its first step. Throws KvupError where the cluster cannot be read. */
  async compare(reader: Reader, evicted: Seen['evicted']): Promise<Compared | undefined> {
    if (this.#taken === undefined) return undefined
    const { origin, resumed, packed } = this.#taken
    const { at, by, late } = origin
    const since = { at, by, resumed, late }
    const unpacked = unpack(packed)
    const after = await takeCensus(reader)
    if (unpacked === undefined) return { since: { ...since, late: true }, changes: [], unread: after.unread }
    if (unpacked.is === 'counted') {
      const now = runningIn(after)
      const counts = [...unpacked.running]
        .map(([namespace, before]) => ({ namespace, before, now: now.get(namespace) ?? 0 }))
        .filter(({ before, now: runs }) => runs < before)
      return { since, changes: [], counts, unread: after.unread }
    }
    const before = unpacked.census
    const seen = { asked: this.#asked, shutDown: this.#shutDown, evicted }
    return {
      since,
      differences: compareCensus(before, after),
      migrations: newMigrations(before, after),
      changes: await changesBetween(reader, { before, after, ...seen }),
      unread: [...new Set([...before.unread, ...after.unread])],
    }
  }

  /** Ends the watch alone: a watch that goes on would keep a process that has failed from ending. */
  leave(): void {
    this.#watching.abort()
  }

  /**
   * Ends the watch, and deletes the census where the run is over: only now that its end was told, for whoever is killed before is
   * to be told by the next. By then the lock was given back, and is taken once more. What cannot be deleted the next run replaces.
   */
  async close(
    { reader, writer }: Pick<Cluster, 'reader' | 'writer'>,
    lock: Lock,
    isOver: boolean,
  ): Promise<void> {
    this.leave()
    if ((!isOver && !this.#place.eachRun) || !this.#mayKeep || this.#taken === undefined) return
    const { namespace, warn } = this.#place
    try {
      await lock.hold((held) => dropCensus({ reader, writer: guardedWriter(writer, held) }, namespace))
    } catch (error) {
      if (!(error instanceof KvupError)) throw error
      warn(`the list of what ran before is left in configmaps in namespace ${namespace}: ${error.message}`)
    }
  }

  async #begin(procedure: Procedure, cx: StepContext): Promise<void> {
    if (this.#taken !== undefined) return
    this.#taken = (await this.#kept(procedure, cx)) ?? (await this.#take(procedure, cx))
    this.#watch(cx.reader, VirtualMachines, (vm) => {
      if (isAsked(vm)) this.#asked.add(vm.metadata.uid ?? '')
    })
    this.#watch(cx.reader, VirtualMachineInstances, ({ metadata, status }) => {
      if (status?.phase === 'Succeeded') this.#shutDown.add(metadata.uid ?? '')
    })
  }

  /** The one that an earlier process of this run has left. One of a run that has finished since is used only to tell its end. */
  async #kept(procedure: Procedure, cx: StepContext): Promise<Taken | undefined> {
    if (!this.#mayKeep) return undefined
    const found = await this.#orWarn('what ran before cannot be read in', () =>
      findCensus(cx.reader, this.#place.namespace),
    )
    if (found?.is !== 'whole' || !this.#isOf(found.origin, procedure.name)) return undefined
    const { origin, packed } = found
    const since = (await cx.journal.entries()).filter(
      (entry) => entry.procedure === origin.procedure && Date.parse(entry.at) >= Date.parse(origin.at),
    )
    if (this.#place.eachRun && since.some(({ what }) => cutShort.has(what))) return undefined
    const isFinished = since.some(({ what }) => what === 'finished')
    // Whoever may write ConfigMaps there can lay one down: it is believed only where the journal shows the run that took it.
    if (!isFinished && !hasStarted(await cx.journal.entries(), origin.procedure)) return undefined
    if (isFinished && !(await procedure.reached(cx))) return undefined
    return { origin, packed, resumed: true }
  }

  async #take({ name }: Procedure, cx: StepContext): Promise<Taken> {
    const { namespace, kubevirt, who, warn } = this.#place
    const { eachRun, continues, isEnd = () => false } = this.#place
    const own = (await cx.journal.entries()).filter(
      ({ procedure }) => procedure === name || procedure === continues,
    )
    const told = eachRun ? ends : finished
    const late = hasChanged(own, (entry) => told.has(entry.what) || isEnd(entry))
    const census = await takeCensus(cx.reader)
    const origin = { procedure: name, kubevirt, at: cx.clock.now().toISOString(), by: who, late }
    const packed = pack(census)
    if (this.#mayKeep) {
      const isTooMuch = packed.length > mostCensusBytes
      if (isTooMuch) warn('there are too many VMs to keep their names: a run that resumes only counts them')
      await this.#orWarn('what runs before is only known to this process, for it cannot be kept in', () =>
        keepCensus(cx, namespace, { origin, packed: isTooMuch ? packCounts(census) : packed }),
      )
    }
    return { origin, packed, resumed: false }
  }

  /** Of this run, and not told yet. Whoever may not read it has none. */
  async #isOpen(reader: Reader, procedure: string): Promise<boolean> {
    try {
      const found = await findCensus(reader, this.#place.namespace)
      return found.is === 'whole' && this.#isOf(found.origin, procedure)
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
  }

  #isOf(origin: CensusOrigin, procedure: string): boolean {
    const { kubevirt, continues } = this.#place
    return (origin.procedure === procedure || origin.procedure === continues) && origin.kubevirt === kubevirt
  }

  /** What passes is tried again by the run; what the cluster refuses is said, and the run goes on without. */
  async #orWarn<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ApiError) || meaningOf(error) === 'retry' || meaningOf(error) === 'login')
        throw error
      this.#place.warn(`${what} configmaps in namespace ${this.#place.namespace}: ${error.message}`)
      return undefined
    }
  }

  /** For as long as the run lives: a request is gone from the VM as soon as it was carried out. What was missed is told by nobody. */
  #watch<T extends KubeObject>(reader: Reader, kind: Kind<T>, note: (object: T) => void): void {
    const follow = async () => {
      for await (const change of reader.follow(kind, {}, this.#watching.signal))
        if ('object' in change && change.type !== 'deleted') note(change.object)
    }
    follow().catch((error: unknown) => {
      if (!this.#watching.signal.aborted && error instanceof KvupError)
        this.#place.warn(`restarts that are asked for are not seen: ${error.message}`)
    })
  }
}

/** The last that the journal knows of this procedure is not its end. */
function hasStarted(entries: readonly Entry[], procedure: string): boolean {
  const last = entries.findLast((entry) => entry.procedure === procedure)
  return last !== undefined && last.what !== 'finished'
}
