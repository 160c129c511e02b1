import { type Clock, ownClock, ticks } from '../kube/clock.ts'
import { ApiError, blocked, exitCode, KvupError, messageOf, unreachable } from '../kube/errors.ts'
import { filled } from '../kube/known.ts'
import type {
  Watched,
  Procedure,
  ReadContext,
  RunContext,
  RunEvent,
  Step,
  StepContext,
  StepSummary,
} from './step.ts'
import { type Entry, type Journal, rememberedJournal, type StepPlace } from './journal.ts'
import type { HeldLease } from './lease.ts'
import { unlessAborted } from '../kube/interruption.ts'
import {
  type Change,
  type Found,
  type Reader,
  readerWith,
  type Ref,
  type Where,
  type Writer,
} from '../kube/cluster.ts'
import { type Kind, type KubeObject, resourceOf } from '../kube/object.ts'

type Untimed<E> = E extends unknown ? Omit<E, 'at'> : never
type Tried<T> = { ok: true; value: T } | { ok: false; error: unknown }

const pauseAtMost = 5000
/** For the last look at a server that answers, ms. */
const lastMoment = 2000
const lastChange = 5000
/** Nobody reads it. Without a reason each look would make a DOMException with a stack. */
const answered = new Error('it answered')

const missingAtMost = 30_000

/** Never with what would make it anew: what was there when the run began may be there still, and would be reset. */
const gone = (error: Error, shows: string): KvupError =>
  blocked('gone', `not found, but it existed when this run began: ${error.message}`, {
    remedy: `${shows}     shows whether it is there; then run the same command again`,
    cause: error,
  })

type Besides = {
  [K in 'user' | 'from' | 'to' | 'availability' | 'findings' | 'rehearsal']?: Entry[K] | undefined
}

/** What the steps of one run share while the lock is held. */
export class OneRun {
  /** In ticks: when what the run works on was missing first. */
  #missingSince: number | undefined
  readonly procedure: Procedure
  readonly cx: RunContext
  /** Refuses to write once the lock is lost. */
  readonly journal: Journal
  readonly signal: AbortSignal
  readonly watchCache: CachedReader
  /** In ticks of the clock, which nothing that a server says moves. */
  readonly began: number
  #hop: { name: string | undefined; began: number }
  readonly #held: HeldLease
  readonly #memory: ReturnType<typeof rememberedJournal>
  readonly #remarks = new Set<string>()
  #isTroubled = false
  /** In ticks: since when no look has got an answer. */
  #silentSince: number | undefined
  #silentMs = 0
  readonly #heardClock: Clock
  #place: StepPlace | undefined
  readonly #refusals = new Set<string>()

  constructor(procedure: Procedure, cx: RunContext, held: HeldLease) {
    const { cluster, clock } = cx
    this.procedure = procedure
    this.cx = cx
    this.#held = held
    this.journal = cx.journal.under(held)
    this.#memory = rememberedJournal(cx.journal)
    this.signal = AbortSignal.any([cx.signal, held.signal])
    this.watchCache = new CachedReader({ live: cluster.reader, clock, remark: (text) => this.remark(text) })
    this.#heardClock = {
      now: () => clock.now(),
      ticks: () => this.heard,
      base: clock,
      machine: ownClock(clock),
      ...(clock.speed !== undefined && { speed: clock.speed }),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    }
    this.began = this.ticks
    this.#hop = { name: undefined, began: this.began }
  }

  /** When the hop that is at work began, in ticks; of a run without hops when it began itself. */
  get hopBegan(): number {
    return this.#hop.began
  }

  /** When the time of the run is over, in ticks: `--timeout` counts from the beginning of the hop that is at work. */
  get ends(): number {
    return this.#hop.began + this.cx.limits.timeoutMs
  }

  /** Before each step, with the place that it has among them. What comes before the first hop, and after the last, is of that hop. */
  enter({ hop }: Step, place: StepPlace): void {
    this.#place = place
    if (hop === undefined || hop === this.#hop.name) return
    this.#hop = { name: hop, began: this.#hop.name === undefined ? this.began : this.ticks }
  }

  /** For limits, and for how long something took: ms. */
  get ticks(): number {
    return ticks(this.cx.clock)
  }

  /** The ticks in which the cluster answered: what was not seen counts for no limit but that of the run. */
  get heard(): number {
    return (this.#silentSince ?? this.ticks) - this.#silentMs
  }

  get isSilent(): boolean {
    return this.#silentSince !== undefined
  }

  silent(since: number): void {
    this.#silentSince ??= since
    this.#missingSince = undefined
  }

  /** For what is told and written down: ms since the epoch. */
  get now(): number {
    return this.cx.clock.now().getTime()
  }

  get live(): ReadContext {
    this.#memory.forget()
    return { reader: this.cx.cluster.reader, clock: this.#heardClock, journal: this.cx.journal }
  }

  /** What is followed is read from the watches, the journal from memory. */
  get watching(): ReadContext {
    return { reader: this.watchCache.reader, clock: this.#heardClock, journal: this.#memory }
  }

  get writing(): StepContext {
    const { cluster } = this.cx
    const writer = guardedWriter(cluster.writer, this.#held)
    return { ...cluster, clock: this.#heardClock, writer, journal: this.journal, signal: this.signal }
  }

  writingIn({ id }: Step): StepContext {
    const { writer, ...rest } = this.writing
    return { ...rest, writer: this.cx.writes?.(id, writer) ?? writer }
  }

  emit(event: Untimed<RunEvent>): void {
    this.cx.emit({ ...event, at: new Date(this.now).toISOString() })
  }

  remark(text: string): void {
    if (!this.#remarks.has(text)) this.emit({ kind: 'remark', text })
    this.#remarks.add(text)
  }

  async record(what: Entry['what'], step: string, text: string, besides: Besides = {}): Promise<void> {
    const { user, from, to, availability, findings = [], rehearsal } = besides
    const { who: by, plan } = this.cx
    const procedure = this.procedure.name
    const entry = { at: new Date(this.now).toISOString(), by, procedure, step, what, text }
    const more = { place: this.#place, plan, user, from, to, availability }
    const found = findings.length > 0 ? findings : undefined
    await this.journal.record({ ...entry, ...filled({ ...more, findings: found, rehearsal }) })
  }

  /** Writes down the end of the run, with what was measured beside it, and what came true of its rehearsal: as far as the run has told where nothing was compared. */
  recordEnd(what: Entry['what'], step: string, text: string, compared?: Entry['rehearsal']): Promise<void> {
    const { measurement, foreseen } = this.cx
    return this.record(what, step, text, {
      availability: measurement?.journaled(),
      rehearsal: compared ?? foreseen?.rehearsal?.soFar(),
    })
  }

  /** Failures that pass (server away, 429, login needed) become remarks; every other is thrown. */
  async tolerantly<T>(work: () => Promise<T>): Promise<Tried<T>> {
    const began = this.ticks
    try {
      const value = await work()
      this.#missingSince = undefined
      this.#hear()
      this.#recover()
      return { ok: true, value }
    } catch (error) {
      this.#missing(error)
      const meaning = meaningOf(error)
      if (meaning !== 'retry' && meaning !== 'login') throw error
      if (error instanceof KvupError && error.sought !== undefined) this.#hear()
      else this.silent(began)
      this.trouble(error)
      return { ok: false, error }
    }
  }

  #hear(): void {
    if (this.#silentSince === undefined) return
    this.#silentMs += this.ticks - this.#silentSince
    this.#silentSince = undefined
  }

  /** A server may answer a list from a state of long ago, or of none: what this run has seen is looked for again, for a while. */
  #missing(error: unknown): void {
    if (!(error instanceof KvupError) || error.sought === undefined) return
    this.#missingSince ??= this.ticks
    if (this.ticks - this.#missingSince >= missingAtMost) throw gone(error, error.sought)
  }

  trouble(error: unknown): void {
    this.#isTroubled = true
    this.remark(remarkOn(error))
  }

  /** A change that is not taken just now, whatever else the cluster answers: each reason is said once, until it is taken. */
  notTaken(error: unknown): void {
    const text = remarkOn(error)
    if (!this.#refusals.has(text)) this.remark(text)
    this.#refusals.add(text)
  }

  taken(): void {
    for (const text of this.#refusals) this.#remarks.delete(text)
    this.#refusals.clear()
  }

  #recover(): void {
    if (!this.#isTroubled) return
    this.#isTroubled = false
    this.#remarks.clear()
    this.emit({ kind: 'remark', text: 'the cluster answers again' })
  }

  /** Tries until it works or the run's time is over, and throws the last failure then. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      this.signal.throwIfAborted()
      const tried = await this.tolerantly(() => this.within(this.ends, work()))
      if (tried.ok) return tried.value
      if (this.ticks >= this.ends) throw tried.error
      await this.pause(tries)
    }
  }

  /**
   * What `work` gives, or the signal's reason, or at `ends`, in ticks, a failure that passes: a server that says nothing must not prolong a
   * run. The work is then left to itself. Whoever asks at the end has a moment more.
   */
  within<T>(ends: number, work: Promise<T>): Promise<T> {
    return this.#before(ends - this.ticks, unlessAborted(work, this.signal), lastMoment)
  }

  /** The same for a change, which no signal cuts off: it has a moment behind the end of the run's time, and is then left as a kill leaves it. */
  unlessLate<T>(change: Promise<T>): Promise<T> {
    return this.#before(this.ends - this.ticks, change, lastChange)
  }

  async #before<T>(left: number, work: Promise<T>, least: number): Promise<T> {
    const done = new AbortController()
    const over = this.cx.clock.sleep(Math.max(least, left), done.signal)
    const late = over.then(() => {
      throw unreachable('silent', 'no answer came in time')
    })
    try {
      return await Promise.race([work, late])
    } finally {
      late.catch(() => undefined)
      done.abort(answered)
    }
  }

  async pause(tries: number): Promise<void> {
    await this.cx.clock.sleep(Math.min(1000 * tries, pauseAtMost), this.signal)
  }
}

/** What a printer needs of a step. */
export const summaryOf = ({ id, title, estimate, part, ahead, hop }: Step): StepSummary => ({
  id,
  title,
  estimate,
  ...filled({ part, ahead, hop }),
})

/**
 * What a failure means for a run: `retry` (server away, 429, 5xx, an expired list, what the run works on is not in a list), `login` (401), `decide-again` (somebody wrote
 * first, or a JSON patch's `test` failed), `fatal` (everything else: 403, a blocked step, a lost lock, a bug).
 */
type Meaning = 'retry' | 'login' | 'decide-again' | 'fatal'

export function meaningOf(error: unknown): Meaning {
  if (!(error instanceof KvupError)) return 'fatal'
  if (error.sought !== undefined) return 'retry'
  if (!(error instanceof ApiError)) return error.exitCode === exitCode.unreachable ? 'retry' : 'fatal'
  if (error.status === 401) return 'login'
  if (error.status === 409 || error.status === 422) return 'decide-again'
  return error.status === 410 || error.exitCode === exitCode.unreachable ? 'retry' : 'fatal'
}

/** What a person reads while the run goes on in spite of it. */
export function remarkOn(error: unknown): string {
  const why = messageOf(error)
  if (meaningOf(error) === 'login')
    return `the cluster no longer accepts your credentials (${why}): log in again in another terminal, then this run continues`
  return `the cluster does not answer properly, kvup retries: ${why}`
}

/** Reads the lock's holder again before every write; a lost lock means no write (exit 6). */
export function guardedWriter(writer: Writer, held: HeldLease): Writer {
  const guarded = async <T>(write: () => Promise<T>): Promise<T> => {
    await held.confirm()
    return write()
  }
  return {
    create: (kind, object) => guarded(() => writer.create(kind, object)),
    mergePatch: (kind, ref, change, on) => guarded(() => writer.mergePatch(kind, ref, change, on)),
    jsonPatch: (kind, ref, operations, on) => guarded(() => writer.jsonPatch(kind, ref, operations, on)),
    apply: (kind, object, options) => guarded(() => writer.apply(kind, object, options)),
    delete: (kind, ref, only) => guarded(() => writer.delete(kind, ref, only)),
    subresource: (kind, ref, call) => guarded(() => writer.subresource(kind, ref, call)),
  }
}

/** Changes come in bursts: they are looked at together. */
const settleBurst = 150
/** Looking costs requests when the check reads what is not followed: then less often, still within a second. */
const settleCostly = 600
/** Nobody reads it. Without a reason each wait would make a DOMException with a stack. */
const changeCame = new Error('a change came')

interface CacheTools {
  live: Reader
  clock: Clock
  remark: (text: string) => void
}

/**
 * Answers `get`, `list` and `pages` from watches for what a step follows, and from the cluster for everything else or while a watch
 * is not in sync. Streams that the next step follows too go on; `close` ends them all.
 */
class CachedReader {
  readonly reader: Reader
  readonly #tools: CacheTools
  #streams = new Map<string, CachedStream>()
  #liveReads = 0
  #changesRead = 0
  #changes = 0
  #wake: () => void = () => undefined

  constructor(tools: CacheTools) {
    this.#tools = tools
    this.reader = this.#reading(tools.live)
  }

  follow(wanted: readonly Watched[]): void {
    const streams = new Map<string, CachedStream>()
    for (const watched of wanted) {
      const key = streamKey(watched)
      streams.set(key, this.#streams.get(key) ?? streams.get(key) ?? this.#open(watched))
    }
    for (const [key, stream] of this.#streams) if (!streams.has(key)) stream.close()
    this.#streams = streams
  }

  /** Begins every watch anew: they missed something, and may be dead without a word. */
  reopen(): void {
    const wanted = [...this.#streams.values()].map(({ followed: watched }) => watched)
    this.follow([])
    this.follow(wanted)
  }

  refresh(): void {
    this.#changesRead = this.#changes
    this.#liveReads = 0
  }

  /** Resolves after `ms`, or a moment after the first change since `refresh`. Rejects with the signal's reason. */
  async changeWithin(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    const patience = new AbortController()
    const over = AbortSignal.any([signal, patience.signal])
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve
      if (this.#changes !== this.#changesRead) resolve()
    })
    const slept = clock.sleep(ms, over).then(() => false)
    const news = await Promise.race([changed.then(() => true), slept])
    patience.abort(changeCame)
    if (news) await clock.sleep(Math.min(ms, this.#liveReads > 0 ? settleCostly : settleBurst), signal)
  }

  close(): void {
    this.follow([])
  }

  #open(watched: Watched): CachedStream {
    const { live, clock, remark } = this.#tools
    return new CachedStream(watched, {
      reader: live,
      clock,
      changed: () => {
        this.#changes++
        this.#wake()
      },
      lost: ({ kind }, why) =>
        remark(`watching ${resourceOf(kind)} is not possible for now, kvup polls them instead: ${why}`),
    })
  }

  #reading(live: Reader): Reader {
    const counted = <T>(answer: T): T => {
      this.#liveReads++
      return answer
    }
    return readerWith(live, {
      get: async (kind, ref) => this.#find(kind, ref) ?? counted(live.get(kind, ref)),
      list: async (kind, where = {}) => this.#list(kind, where) ?? counted(live.list(kind, where)),
      pages: (kind, where = {}) => this.#pages(kind, where) ?? counted(live.pages(kind, where)),
      versions: (group) => counted(live.versions(group)),
      version: () => counted(live.version()),
      log: (pod, options) => counted(live.log(pod, options)),
    })
  }

  #find<T extends KubeObject>(kind: Kind<T>, ref: { name: string; namespace?: string | undefined }) {
    for (const stream of this.#streams.values()) {
      if (!stream.synced || !isSame(stream.followed.kind, kind)) continue
      const answer = stream.find(ref)
      if (answer === 'absent') return { is: 'absent' } satisfies Found<T>
      if (answer !== 'unknown') return { is: 'object', object: answer as T } satisfies Found<T>
    }
    return undefined
  }

  #list<T extends KubeObject>(kind: Kind<T>, where: Where): T[] | undefined {
    const stream = this.#streams.get(streamKey({ kind, where }))
    return stream?.synced ? (stream.objects() as T[]) : undefined
  }

  #pages<T extends KubeObject>(kind: Kind<T>, where: Where) {
    const items = this.#list(kind, where)
    return items && onePage(items)
  }
}

async function* onePage<T>(items: readonly T[]) {
  yield { items, resourceVersion: '' }
}

const isSame = (a: Kind, b: Kind): boolean => a.apiVersion === b.apiVersion && a.plural === b.plural

interface StreamTools {
  reader: Reader
  clock: Clock
  changed(): void
  /** It may miss changes from now on. Told once per reason. */
  lost(watched: Watched, why: string): void
}

const restartAfter = 1000
const restartAtMost = 30_000

/** The objects of one `Watched`, kept up to date by a watch. Answers only while it is in sync. */
class CachedStream {
  readonly followed: Watched
  readonly #tools: StreamTools
  readonly #stop = new AbortController()
  readonly #objects = new Map<string, KubeObject>()
  #synced = false
  #broken = 0
  #why: string | undefined

  constructor(watched: Watched, tools: StreamTools) {
    this.followed = watched
    this.#tools = tools
    void this.#run()
  }

  get synced(): boolean {
    return this.#synced
  }

  objects(): KubeObject[] {
    return [...this.#objects.values()]
  }

  /** `unknown` where the stream would not have shown the object in any case. */
  find(ref: Ref): KubeObject | 'absent' | 'unknown' {
    const { where } = this.followed
    if (where.namespace !== undefined && where.namespace !== ref.namespace) return 'unknown'
    const object = this.#objects.get(keyOf(ref))
    if (object !== undefined) return object
    const all = where.labels === undefined && where.fields === undefined
    return all && (where.name === undefined || where.name === ref.name) ? 'absent' : 'unknown'
  }

  close(): void {
    this.#stop.abort()
  }

  /** A stream that ends by itself is begun anew, with a pause that grows while nothing comes of it. */
  async #run(): Promise<void> {
    const { clock } = this.#tools
    const { signal } = this.#stop
    while (!signal.aborted) {
      this.#objects.clear()
      await this.#stream(signal)
      const pause = Math.min(restartAfter * 2 ** this.#broken++, restartAtMost)
      await clock.sleep(pause, signal).catch(() => undefined)
    }
  }

  async #stream(signal: AbortSignal): Promise<void> {
    const { kind, where } = this.followed
    try {
      for await (const change of this.#tools.reader.watch(kind, where, signal)) {
        if (signal.aborted) return
        this.#take(change)
      }
      this.#lose('the watch ended')
    } catch (error) {
      this.#lose(messageOf(error))
    }
  }

  #take(change: Change<KubeObject>): void {
    switch (change.type) {
      case 'lost':
        this.#lose(change.why)
        return
      case 'synced':
        this.#synced = true
        this.#broken = 0
        this.#why = undefined
        break
      case 'deleted':
        this.#objects.delete(keyOf(change.object.metadata))
        break
      case 'added':
      case 'modified':
        this.#objects.set(keyOf(change.object.metadata), change.object)
        break
    }
    if (this.#synced) this.#tools.changed()
  }

  #lose(why: string): void {
    this.#synced = false
    if (this.#stop.signal.aborted) return
    if (this.#why !== why) this.#tools.lost(this.followed, why)
    this.#why = why
    this.#tools.changed()
  }
}

const streamKey = ({ kind, where: { namespace, name, labels, fields } }: Watched): string =>
  [kind.apiVersion, kind.plural, ...[namespace, name, labels, fields].map((part) => part ?? '*')].join(' ')

const keyOf = ({ namespace, name }: Ref): string => `${namespace ?? ''}/${name}`
