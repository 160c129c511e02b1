import type { Cluster, Reader, Reviewer } from '../../kube/cluster.ts'
import { ConfigMaps } from '../../kube/kinds/core-kinds.ts'
import { VirtualMachineInstances, VirtualMachines } from '../../kube/kinds/kubevirt-kinds.ts'
import type { Kind, KubeObject } from '../../kube/object.ts'
import { cutShort, ends, finished, hasChanged } from '../../engine/journal-runs.ts'
import type { Entry, Override } from '../../engine/journal.ts'
import { guardedWriter, meaningOf } from '../../engine/run-session.ts'
import type { Lock } from '../../engine/lease.ts'
import type { Procedure, StepContext } from '../../engine/step.ts'
import { ApiError, KvupError, lost } from '../../kube/errors.ts'
import {
  type Census,
  type CensusCircumstances,
  type Change,
  changesBetween,
  compareCensus,
  type Differences,
  isAsked,
  newMigrations,
  type Span,
  takeCensus,
} from './vm-census.ts'
import {
  censusNames,
  type CensusOrigin,
  dropCensus,
  getCensus,
  keepCensus,
  mostCensusBytes,
  pack,
  packCounts,
  type Packed,
  proceduresOf,
  runningIn,
  unpack,
} from './saved-census.ts'
import { counted, someOf } from '../../kube/text.ts'

/** Which run it is of. */
interface CensusPlace {
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
  /** Of which procedures that were cut off the next one takes up the census: what the one knew is what ran before the other. */
  takesUp?: (procedure: string) => boolean
  /** The methods that were saved on the cluster, by whomever, and not given back: only who may change the KubeVirt can write that. Something is still going on, then. */
  saved?: Override | undefined
  /** Ends beside that of the procedure at which what was compared was told, and from which on nothing rolls. */
  isEnd?: (entry: Entry) => boolean
  /** Of those the ones at which nothing can have rolled, wherever KubeVirt stood: what is made anew behind them is no loss. */
  isBetween?: (entry: Entry) => boolean
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
  /** In which no upgrade ran, and nothing rolled. */
  between: readonly Span[]
}

/**
 * The VMs and volumes as they were when a run began: taken under the lock before anything is changed, kept in ConfigMaps so that
 * whoever ends the run compares with it, and deleted once that was told. A run that resumes uses the one that is there, and one to another release
 * takes up that of the upgrade that was cut off, and adds its own name. Where it may not be kept, or cannot be, this process alone knows it, which is said; no
 * upgrade ends over it.
 */
export class RunCensus {
  readonly #place: CensusPlace
  #mayKeep = true
  #taken: Taken | undefined
  #toKeep: Pick<Taken, 'origin' | 'packed'> | undefined
  #hasBegun = false
  /** Another upgrade left a census of which nobody has told what became of it. */
  #isLeftUntold = false
  /** Nothing is unread that was read when it began. */
  #isAllRead = false
  /** And nothing was lost: whoever goes on needs none of what ran before. */
  #isAllTold = false
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
  async compare(reader: Reader, evicted: CensusCircumstances['evicted']): Promise<Compared | undefined> {
    if (this.#taken === undefined) return undefined
    const { origin, resumed, packed, between } = this.#taken
    const { at, by, late } = origin
    const since = { at, by, resumed, late }
    const unpacked = unpack(packed)
    const after = await takeCensus(reader)
    const { unread } = after
    this.#isAllRead = this.#isAllTold = false
    if (unpacked === undefined) return { since: { ...since, late: true }, changes: [], unread }
    if (unpacked.is === 'counted') {
      const counts = fewerThan(unpacked.running, runningIn(after))
      this.#isAllRead = unread.length === 0
      this.#isAllTold = this.#isAllRead && counts.length === 0
      return { since, changes: [], counts, unread }
    }
    const before = unpacked.census
    const observed = { asked: this.#asked, shutDown: this.#shutDown, evicted, between }
    const changes = await changesBetween(reader, { before, after, ...observed })
    this.#isAllRead = unread.every((kind) => before.unread.includes(kind))
    this.#isAllTold = this.#isAllRead && !late && !changes.some((change) => change.lost)
    return {
      since,
      differences: compareCensus(before, after),
      migrations: newMigrations(before, after),
      changes,
      unread: [...new Set([...before.unread, ...unread])],
    }
  }

  /** Ends the watch alone: a watch that goes on would keep a process that has failed from ending. */
  leave(): void {
    this.#watching.abort()
  }

  /**
   * Ends the watch, and deletes the census where the run is over: only now that its end was told, for whoever is killed before is
   * to be told by the next. By then the lock was given back, and is taken once more. What cannot be deleted the next run replaces.
   * `told`, `between`: the run goes on another time, and till then people do what they like. Where its losses were told it goes once everything was read, and
   * where they are only about to be told, once there are none.
   */
  async close(
    { reader, writer }: Pick<Cluster, 'reader' | 'writer'>,
    lock: Lock,
    end: 'over' | 'told' | 'between' | 'open',
  ): Promise<void> {
    this.leave()
    const isOver = { over: true, told: this.#isAllRead, between: this.#isAllTold, open: false }[end]
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
    if (this.#hasBegun) return
    this.#taken ??= (await this.#kept(procedure, cx)) ?? (await this.#take(procedure, cx))
    // A write that is refused for a moment is tried again with what was read before it: nothing else knows that by then.
    if (this.#toKeep) await this.#keep(this.#toKeep, cx)
    this.#hasBegun = true
    this.#watch(cx.reader, VirtualMachines, (vm) => {
      if (isAsked(vm)) this.#asked.add(vm.metadata.uid ?? '')
    })
    this.#watch(cx.reader, VirtualMachineInstances, ({ metadata, status }) => {
      if (status?.phase === 'Succeeded') this.#shutDown.add(metadata.uid ?? '')
    })
  }

  /** The one that was left by a run that was cut off. One of a run that has finished since is used only to tell its end. */
  async #kept(procedure: Procedure, cx: StepContext): Promise<Taken | undefined> {
    if (!this.#mayKeep) return undefined
    const found = await this.#orWarn('what ran before cannot be read in', () =>
      getCensus(cx.reader, this.#place.namespace),
    )
    if (found?.is !== 'whole' || found.origin.kubevirt !== this.#place.kubevirt) return undefined
    const { origin, packed } = found
    const entries = await cx.journal.entries()
    const names = proceduresOf(origin)
    const isOf = (entry: Entry) => names.includes(entry.procedure)
    const [own, since] = [entries.filter(isOf), entriesSince(origin, entries).filter(isOf)]
    const isOwn = names.includes(procedure.name)
    this.#isLeftUntold = this.#place.takesUp?.(origin.procedure) === true
    if (this.#place.eachRun && since.some(({ what }) => cutShort.has(what))) return undefined
    const between = this.#spansBetween(entriesSince(origin, entries), cx.clock.now())
    const taken = { origin, packed, resumed: true, between }
    const end = since.find(({ what }) => what === 'finished')
    if (end) return end.procedure === procedure.name && (await procedure.reached(cx)) ? taken : undefined
    if (!this.#isBelieved(origin, { own, isOwn })) return undefined
    if (isOwn) return taken
    const takenUp = { ...origin, takenUpBy: [...names.slice(1), procedure.name] }
    this.#toKeep = { origin: takenUp, packed }
    return { ...taken, origin: takenUp }
  }

  /** Whoever may write ConfigMaps there can lay one down: the journal has to show the run that took it, or where that was deleted, a value that it saved. */
  #isBelieved(origin: CensusOrigin, { own, isOwn }: { own: readonly Entry[]; isOwn: boolean }): boolean {
    const { saved, takesUp = () => false } = this.#place
    if (!isOwn && (saved === undefined || !takesUp(origin.procedure))) return false
    if (own.length === 0) return saved !== undefined && Date.parse(saved.at) >= Date.parse(origin.at)
    return isOwn ? own.at(-1)?.what !== 'finished' : hasChanged(own, ({ what }) => what === 'finished')
  }

  /** From each end behind which nothing rolls to the next beginning. */
  #spansBetween(entries: readonly Entry[], now: Date): readonly Span[] {
    const { isBetween = () => false } = this.#place
    return entries.flatMap((entry, index) => {
      if (!isBetween(entry)) return []
      const next = entries.slice(index + 1).find(({ what }) => what === 'started')
      return [{ from: Date.parse(entry.at), to: next ? Date.parse(next.at) : now.getTime() }]
    })
  }

  async #take({ name }: Procedure, cx: StepContext): Promise<Taken> {
    const { kubevirt, who } = this.#place
    const late = this.#isLeftUntold || this.#isUnderWay(name, await cx.journal.entries())
    const census = await takeCensus(cx.reader)
    const origin = { procedure: name, kubevirt, at: cx.clock.now().toISOString(), by: who, late }
    const packed = pack(census)
    this.#toKeep = { origin, packed: packed.length > mostCensusBytes ? this.#countsOf(census) : packed }
    return { origin, packed, resumed: false, between: [] }
  }

  #countsOf(census: Census): Packed {
    this.#place.warn('there are too many VMs to keep their names: a run that resumes only counts them')
    return packCounts(census)
  }

  async #keep(kept: Pick<Taken, 'origin' | 'packed'>, cx: StepContext): Promise<void> {
    if (this.#mayKeep)
      await this.#orWarn('what runs before is only known to this process, for it cannot be kept in', () =>
        keepCensus(cx, this.#place.namespace, kept),
      )
  }

  /** Changes were made before now of which nobody has told what came of them: of this procedure, or of the one that saved a value and was cut off. */
  #isUnderWay(name: string, entries: readonly Entry[]): boolean {
    const { eachRun, saved, takesUp = () => false, isEnd = () => false } = this.#place
    const told = eachRun ? ends : finished
    const isTold = (entry: Entry) => told.has(entry.what) || isEnd(entry)
    // An upgrade to another release that has finished since has told it as well.
    const entriesOf = (procedure: string) =>
      entries.filter(
        (entry) => entry.procedure === procedure || (takesUp(entry.procedure) && finished.has(entry.what)),
      )
    if (hasChanged(entriesOf(name), isTold)) return true
    if (saved === undefined || !takesUp(saved.procedure)) return false
    const isKnown = entries.some(({ procedure }) => procedure === saved.procedure)
    return !isKnown || hasChanged(entriesOf(saved.procedure), isTold)
  }

  /** Of this run, and not told yet. Whoever may not read it has none. */
  async #isOpen(reader: Reader, procedure: string): Promise<boolean> {
    try {
      const found = await getCensus(reader, this.#place.namespace)
      if (found.is !== 'whole') return false
      const { origin } = found
      return proceduresOf(origin).includes(procedure) && origin.kubevirt === this.#place.kubevirt
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
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
      for await (const change of reader.watch(kind, {}, this.#watching.signal))
        if ('object' in change && change.type !== 'deleted') note(change.object)
    }
    follow().catch((error: unknown) => {
      if (!this.#watching.signal.aborted && error instanceof KvupError)
        this.#place.warn(`restarts that are asked for are not seen: ${error.message}`)
    })
  }
}

function fewerThan(
  was: ReadonlyMap<string, number>,
  is: ReadonlyMap<string, number>,
): NonNullable<Compared['counts']> {
  return [...was]
    .map(([namespace, before]) => ({ namespace, before, now: is.get(namespace) ?? 0 }))
    .filter(({ before, now }) => now < before)
}

/** Those that were written once the census was taken, by their order: clocks of other hosts differ from that of the one that took it. */
function entriesSince({ at, by }: CensusOrigin, entries: readonly Entry[]): readonly Entry[] {
  const isLater = (entry: Entry) => Date.parse(entry.at) >= Date.parse(at)
  const first = entries.findIndex((entry) => entry.by === by && isLater(entry))
  return first === -1 ? entries.filter(isLater) : entries.slice(first)
}

/** Exit 9 where VMs or volumes were lost; undefined otherwise. `done`: what the run did all the same, `KubeVirt v1.8.4 is installed`. */
export function lostSince(
  { changes = [], comparedWith }: { changes?: readonly Change[]; comparedWith?: ComparedWith },
  done: string,
): KvupError | undefined {
  const all = changes.filter((change) => change.lost)
  if (all.length === 0) return undefined
  const volumes = all.filter(isVolume)
  const vms = all.filter((change) => !isVolume(change))
  const parts = [
    ...(vms.length > 0
      ? [`${counted(vms.length, 'VM', ['lost its instance', 'lost their instances'])}: ${named(vms)}`]
      : []),
    ...(volumes.length > 0
      ? [`${counted(volumes.length, 'volume', ['was', 'were'])} lost: ${named(volumes)}`]
      : []),
  ]
  return lost('workloads-lost', `${done}, but ${parts.join('; ')}`, {
    notes: [
      'No owner is seen to have done it.',
      // What is asked for is seen while a run lives.
      ...(comparedWith?.resumed === true
        ? ['A restart that was asked for while no kvup ran leaves no trace and counts as lost.']
        : []),
    ],
    remedy: all.slice(0, 3).flatMap(linesFor),
  })
}

const isVolume = ({ kind }: Change): boolean => kind === 'PersistentVolumeClaim' || kind === 'DataVolume'

const named = (changes: readonly Change[]): string =>
  someOf(changes.map(({ namespace, name, what }) => `${namespace}/${name} (${what})`))

function linesFor({ kind, namespace, name, what }: Change): string[] {
  const events = `kubectl -n ${namespace} get events --field-selector involvedObject.name=${name}     says what happened to it`
  const starts = kind === 'VirtualMachine' && (what === 'stopped' || what === 'failed')
  return starts ? [events, `virtctl -n ${namespace} start ${name}     starts it again`] : [events]
}
