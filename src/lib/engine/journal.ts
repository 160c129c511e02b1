import type { HeldLease } from './lease.ts'
import type { MissingValue, Overrides } from './overrides.ts'
import { isDeepStrictEqual } from 'node:util'
import type { FieldOwner } from '../kube/field-owners.ts'
import { blocked } from '../kube/errors.ts'
import { filled } from '../kube/known.ts'
import { Answers } from '../kube/read-cache.ts'
import { thinned, withNumber } from './journal-runs.ts'

/** Who changed what, and the settings that were borrowed: what the cluster cannot tell later. Never progress. */
export interface Journal {
  entries(): Promise<readonly Entry[]>
  /** Throws when it cannot be written: then nothing may be changed. */
  record(entry: Entry): Promise<void>
  /** The open ones, as they are noted on their objects (see `Overrides`). */
  overrides(): Promise<readonly Override[]>
  /** What reads as kvup leaves it, and whose former value nobody may be believed about. */
  missing(): Promise<readonly MissingValue[]>
  /** A person said that this claim of the journal is true: for this process it is open. */
  believe(claim: Override): void
  /**
   * Says what is about to be changed. The first value wins: an open override with this id is returned as it is, but for what it is set to. Whoever changes the field writes what is
   * returned onto the object, in the same patch (`noteOf`, `savingNote`).
   */
  override(override: Override): Promise<Override>
  /** Writes down that an override is closed: given back, with its note off its object, or for another reason. Closing a closed one is no error. */
  release(id: string, why?: string): Promise<void>
  /**
   * Keeps a baseline (a uid, an old transition time); the first value under a key wins. A key that begins with the
   * procedure's name and `/` is forgotten when that procedure is recorded as finished.
   */
  keep(key: string, value: unknown): Promise<void>
  kept(key: string): Promise<unknown>
  /** The same journal for who holds the lock: it is confirmed before each write, tries after a conflict included. */
  under(held: HeldLease): Journal
}

/** What a `check` may see of it. */
export type JournalReader = Pick<Journal, 'entries' | 'overrides' | 'kept'>

export interface StepPlace {
  /** From 1. */
  step: number
  of: number
}

export interface Entry {
  /** RFC 3339. */
  at: string
  /** user@host. */
  by: string
  procedure: string
  step: string
  /** `intends` is written before `apply`, `applied` after it; the `step` of `accepted` is the id of the risk. */
  what:
    | 'started'
    | 'accepted'
    | 'intends'
    | 'applied'
    | 'saved'
    | 'restored'
    | 'closed'
    | 'finished'
    | 'failed'
    | 'interrupted'
  text: string
  /** Which stage of how many was at work, or step where a run has none: the third of five. Absent before the first, and in what an earlier kvup wrote. */
  place?: StepPlace
  /** The uid of the sealed plan that was carried out, where there was one. */
  plan?: string
  /** Of an accepted risk: who the API server took kvup for. Absent there: the server did not say. */
  user?: string
  /** Number of the run that wrote it, which the journal gives. Absent in what an earlier kvup wrote. */
  run?: number
  from?: string
  to?: string
  availability?: JournaledAvailability
  /** Of a start: ids of what stood against the run, or was warned of. */
  findings?: readonly string[]
  /** Of a start what was rehearsed, of an end also what came true of it. */
  rehearsal?: RehearsalComparison
}

/** What became of what was rehearsed. */
export interface RehearsalComparison {
  seed: number
  /** How it ended; one that was blocked is compared with nothing. */
  outcome: 'through' | 'stalls'
  stages: readonly ComparedStage[]
  /** The stages that both have begin in the same order. */
  sameOrder: boolean
  /** Absent where VMs or migrations could not be read, or were not. */
  vms?: VmComparison
}

/** Seconds. */
export interface ComparedStage {
  name: string
  /** Absent: the rehearsal had no such stage, or it did not end there. */
  rehearsed?: number
  /** Absent: the upgrade had no such stage, it did not end, or an earlier run began it. */
  took?: number
  /** Absent where only one of the two is known. */
  agrees?: boolean
}

export interface VmComparison {
  total: number
  agreed: number
  /** KubeVirt has not come to them yet; none where the upgrade waited for VMs. */
  open: number
  items: readonly {
    namespace: string
    name: string
    rehearsed: RehearsedTry
    tried: TriedWithVm
  }[]
}

/** What KubeVirt tries with a VM by itself, as it is rehearsed. */
type RehearsedTry = 'migrate' | 'evict' | 'evict-refused' | 'nothing'

/**
 * What KubeVirt tried with a VM by itself. `migration-failed`: none succeeded, and KubeVirt may try again. `restart`: it started anew, and nothing tells that KubeVirt evicted it. `ended`: it
 * does not run.
 */
export type TriedWithVm = RehearsedTry | 'migration-failed' | 'restart' | 'ended'

/** What the journal keeps of a measurement: figures, and the longest outages of the API. At most 4 kB. */
export interface JournaledAvailability {
  /** In one line. */
  text: string
  /** RFC 3339. */
  begin: string
  end: string
  /** Whether the control plane remained available throughout; `partly`: as far as it was measured. */
  promise: 'kept' | 'broken' | 'partly' | 'unknown'
  callsPerMinute: number
  /** Seconds by probe, of those that had an outage. */
  unavailable: Readonly<Record<string, number>>
  outages: readonly { begin: string; end?: string; rolling?: readonly string[] }[]
  interruptedVms: number
  watchedVms: number
  migrations: number
}

/** A setting that was borrowed and has to be given back. */
export interface Override {
  /** Stable per setting: `workload-updates`. */
  id: string
  procedure: string
  object: { apiVersion: string; kind: string; namespace?: string; name: string; uid: string }
  /** JSON pointer: `/spec/workloadUpdateStrategy/workloadUpdateMethods`. */
  path: string
  /** Absence is a value too. */
  was: { present: true; value: unknown } | { present: false }
  /** What it is meanwhile; absent for overrides of more than one value. `step` sets it; once `applied` it is somebody else who changed it. */
  taken?: { value: unknown; step: string; applied?: true }
  by: string
  at: string
  /** For how long it does no harm to leave it open, and what does not work meanwhile. */
  harmless?: string
  /** It was opened by an upgrade over several minors, which waits for VMs between them. */
  severalMinors?: true
  /** The version that an upgrade went back to: what was overridden stays so at its end, for a person to restore. */
  goesBack?: string
  /** Who owned the field in managedFields, to whom it goes back with the value; none: nobody. Absent where the server did not tell. */
  owners?: readonly FieldOwner[]
}

/** Where the content of a journal is kept. */
export interface JournalStore {
  read: () => Promise<JournalContent>
  /**
   * Stores what `change` makes of the content, in one piece, and returns it. Unchanged content is not written.
   * `confirm` comes right before every try to write, and stops it when it throws.
   */
  update: (
    change: (content: JournalContent) => JournalContent,
    confirm: () => Promise<void>,
  ) => Promise<JournalContent>
}

interface Below {
  /** Comes right before every try to write, and stops it when it throws. */
  confirm?: () => Promise<void>
  /** What is noted on the objects themselves. Without it (a dry run) the store is believed: nobody else writes it. */
  onObjects?: Overrides
  /** What this process read or wrote last. */
  memory?: { overrides: readonly Override[] | undefined }
}

/** The journal's rules on any store. `sign` names who gives an override back, and when. */
export function journalOn(
  store: JournalStore,
  sign: (opened: Signature | undefined) => Signature,
  below: Below = {},
): Journal & KnowsOverrides {
  const { confirm = async () => undefined, onObjects, memory = { overrides: undefined } } = below
  const { read } = store
  const without = (id: string) => (memory.overrides ?? []).filter((override) => override.id !== id)
  const update = (change: (content: JournalContent) => JournalContent) => store.update(change, confirm)
  const closing = (content: JournalContent, id: string, why?: string) =>
    released(content, id, { ...sign(content.overrides.find((override) => override.id === id)), why })
  return {
    under: (held) => journalOn(store, sign, { ...below, confirm: () => held.confirm(), memory }),
    known: () => memory.overrides,
    entries: async () => (await read()).entries,
    overrides: async () => (memory.overrides = onObjects ? await onObjects.open() : (await read()).overrides),
    missing: async () => (await onObjects?.missing((await read()).overrides)) ?? [],
    believe: (claim) => onObjects?.remember(claim),
    async kept(key) {
      const { kept } = await read()
      return Object.hasOwn(kept, key) ? kept[key] : undefined
    },
    async record(entry) {
      const ends = entry.what === 'finished' && onObjects
      const over = ends ? await onObjects.over((await read()).overrides) : []
      await update((content) =>
        recorded(
          over.reduce((now, { id, why }) => closing(now, id, why), content),
          entry,
        ),
      )
    },
    async override(override) {
      const open = (await onObjects?.open())?.find(
        ({ id, object }) => id === override.id && object.uid === override.object.uid,
      )
      const { taken, goesBack } = override
      const saved = open ? { ...open, ...filled({ taken, goesBack }) } : override
      const change = onObjects ? claimed : withOverride
      const after = await update((content) => change(content, saved))
      onObjects?.remember(saved)
      const opened = onObjects ? saved : (after.overrides.find(({ id }) => id === override.id) ?? override)
      memory.overrides = [...without(override.id), opened]
      return opened
    },
    async release(id, why) {
      const known = onObjects?.close(id)
      await update((content) => closing(known ? withClaim(content, known, why) : content, id, why))
      memory.overrides = without(id)
    },
    async keep(key, value) {
      await update((content) =>
        Object.hasOwn(content.kept, key) ? content : { ...content, kept: { ...content.kept, [key]: value } },
      )
    },
  }
}

/**
 * A journal that somebody deleted meanwhile has the entry all the same, and one that says already that it is closed has no second one; that it was given back behind that is news.
 */
function withClaim(content: JournalContent, override: Override, why: string | undefined): JournalContent {
  const last = content.entries.findLast(
    ({ step, what }) =>
      step === override.id && (what === 'saved' || what === 'restored' || what === 'closed'),
  )
  const isTold = last?.what === 'restored' || (last?.what === 'closed' && why !== undefined)
  const has = content.overrides.some(({ id }) => id === override.id) || isTold
  return has ? content : { ...content, overrides: [...content.overrides, override] }
}

/** Everything that a journal holds, as it is stored and as it is changed: by pure functions. */
export interface JournalContent {
  entries: readonly Entry[]
  /** Open ones only: an override that was given back is an entry. */
  overrides: readonly Override[]
  kept: Readonly<Record<string, unknown>>
}

export const emptyJournal: JournalContent = { entries: [], overrides: [], kept: {} }

/** Who writes, and when: for the entries that borrowing and giving back leave behind. */
interface Signature {
  by: string
  at: string
}

function recorded(content: JournalContent, entry: Entry): JournalContent {
  const entries = withNumber(content.entries, entry)
  if (entry.what === 'applied') {
    const overrides = content.overrides.map((one): Override => {
      const { taken, procedure } = one
      const isOfStep = taken?.step === entry.step && procedure === entry.procedure
      return isOfStep ? { ...one, taken: { ...taken, applied: true } } : one
    })
    return { ...content, entries, overrides }
  }
  if (entry.what !== 'finished') return { ...content, entries }
  const prefix = `${entry.procedure}/`
  const kept = Object.fromEntries(Object.entries(content.kept).filter(([key]) => !key.startsWith(prefix)))
  return { ...content, entries, kept }
}

/** The first value wins: of an open override with this id nothing changes but what it is set to from now on. */
function withOverride(content: JournalContent, override: Override): JournalContent {
  const open = content.overrides.find(({ id }) => id === override.id)
  return open === undefined ? claimed(content, override) : takenAnew(content, open, override)
}

/** As it is: another claim under this id is replaced, for what is said here lies on an object, or is about to. */
function claimed(content: JournalContent, override: Override): JournalContent {
  const former = content.overrides.find(({ id }) => id === override.id)
  if (former !== undefined && isSameOverride(former, override)) return takenAnew(content, former, override)
  if (former !== undefined)
    return claimed({ ...content, overrides: content.overrides.filter((one) => one !== former) }, override)
  if (override.was.present && override.was.value === undefined)
    throw new Error(`temporary change ${override.id} has no value to save`)
  const { procedure, by, at } = override
  const entry: Entry = { at, by, procedure, step: override.id, what: 'saved', text: wordsOf(override) }
  return recorded({ ...content, overrides: [...content.overrides, override] }, entry)
}

const isSameOverride = (one: Override, other: Override): boolean =>
  one.object.uid === other.object.uid && one.path === other.path && isDeepStrictEqual(one.was, other.was)

function takenAnew(content: JournalContent, open: Override, { taken }: Override): JournalContent {
  if (taken === undefined || isDeepStrictEqual(open.taken?.value, taken.value)) return content
  const overrides = content.overrides.map((override) => (override === open ? { ...open, taken } : override))
  return { ...content, overrides }
}

function released(
  content: JournalContent,
  id: string,
  signed: Signature & { why?: string | undefined },
): JournalContent {
  const override = content.overrides.find((open) => open.id === id)
  if (override === undefined) return content
  const { procedure } = override
  const { by, at, why } = signed
  const text = why === undefined ? wordsOf(override) : `${why}: ${wordsOf(override)}`
  const entry: Entry = { at, by, procedure, step: id, what: why === undefined ? 'restored' : 'closed', text }
  return recorded({ ...content, overrides: content.overrides.filter((open) => open.id !== id) }, entry)
}

function wordsOf({ path, object, was }: Override): string {
  const value = was.present ? JSON.stringify(was.value) : 'absent'
  return `${path} of ${object.kind} ${object.name}, which was ${value}`
}

const mostEntries = 300
const mostEntryBytes = 256 * 1024
const mostText = 2000
const mostKept = 200
const mostOverrideBytes = 384 * 1024
const mostKeptBytes = 128 * 1024

/**
 * Stays well under the 1 MiB of a ConfigMap: what is told least of the oldest runs goes first, then the oldest entries and kept values, an open override never. Throws `blocked`
 * when the overrides alone are too large: then no setting may be changed for a time.
 */
export function bounded({ entries, overrides, kept }: JournalContent): JournalContent {
  if (bytesOf(overrides) > mostOverrideBytes)
    throw blocked(
      'journal-full',
      `the journal has ${overrides.length} temporary changes and no room for another`,
      {
        remedy: 'kvup history      shows them, and the line that restores each',
      },
    )
  return {
    entries: newest(thinned(entries.map(shortened), fitEntries), mostEntries, mostEntryBytes),
    overrides,
    kept: Object.fromEntries(newest(Object.entries(kept), mostKept, mostKeptBytes)),
  }
}

const fitEntries = (entries: readonly Entry[]): boolean =>
  entries.length <= mostEntries && entries.reduce((sum, entry) => sum + bytesOf(entry), 0) <= mostEntryBytes

function newest<T>(items: readonly T[], most: number, bytes: number): readonly T[] {
  let room = bytes
  let from = items.length
  while (from > 0 && items.length - from < most) {
    room -= bytesOf(items[from - 1])
    if (room < 0) break
    from--
  }
  return items.slice(from)
}

/** The cause of a long message stands at its end: the middle is cut. */
function shortened(entry: Entry): Entry {
  if (entry.text.length <= mostText) return entry
  const half = mostText / 2
  return { ...entry, text: `${entry.text.slice(0, half)} … ${entry.text.slice(-half)}` }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '') + 1

const nothing: JournalReader = {
  entries: async () => [],
  overrides: async () => [],
  kept: async () => undefined,
}

/** A journal that nobody finds later: for dry runs, over what the real one (`over`) says, and for tests. */
export function memoryJournal(over: JournalReader = nothing): Journal {
  let copied: Promise<JournalContent> | undefined
  const copy = async () => {
    const [entries, overrides] = [await over.entries(), await over.overrides()]
    return { ...emptyJournal, entries, overrides }
  }
  const read = () => (copied ??= copy())
  const journal = journalOn(
    {
      read,
      async update(change, confirm) {
        await confirm()
        const after = bounded(structuredClone(change(await read())))
        copied = Promise.resolve(after)
        return after
      },
    },
    (opened) => opened ?? { by: '', at: '' },
  )
  const above = (mine: Journal): Journal => ({
    ...mine,
    under: (held) => above(mine.under(held)),
    kept: async (key) => (await mine.kept(key)) ?? over.kept(key),
    async keep(key, value) {
      if ((await over.kept(key)) === undefined) await mine.keep(key, value)
    },
  })
  return above(journal)
}

/**
 * Reads a journal once and remembers what it said until it is told to forget: under the lock nobody else writes it, and a wait
 * must not cost a request per look.
 */
export function rememberedJournal(journal: JournalReader): JournalReader & { forget(): void } {
  const answers = new Answers()
  return {
    forget: () => answers.forget(),
    entries: () => answers.once('entries', () => journal.entries()),
    overrides: () => answers.once('overrides', () => journal.overrides()),
    kept: (key) => answers.once(`saved ${key}`, () => journal.kept(key)),
  }
}

/** A journal that knows without asking: whoever leaves while the server is silent can still say what is borrowed. */
export interface KnowsOverrides {
  /** The open overrides as this process read or wrote them last; undefined before it has done either. */
  known(): readonly Override[] | undefined
}
