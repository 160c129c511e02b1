import type { Held } from './lock.ts'
import type { MissingValue } from './overrides.ts'

/** Who changed what, and the settings that were borrowed: what the cluster cannot tell later. Never progress. */
export interface Journal {
  entries(): Promise<readonly Entry[]>
  /** Throws when it cannot be written: then nothing may be changed. */
  record(entry: Entry): Promise<void>
  /** The open ones, as they are noted on their objects (see `Overrides`). */
  loans(): Promise<readonly Loan[]>
  /** What reads as kvup leaves it, and whose former value nobody may be believed about. */
  missing(): Promise<readonly MissingValue[]>
  /** A person said that this claim of the journal is true: for this process it is open. */
  believe(claim: Loan): void
  /**
   * Says what is about to be changed. The first value wins: an open loan with this id is returned as it is, but for what it is set to. Whoever changes the field writes what is
   * returned onto the object, in the same patch (`noteOf`, `savingNote`).
   */
  borrow(loan: Loan): Promise<Loan>
  /** Writes down that a loan is closed, whose note is off its object: given back, or for another reason. Closing a closed one is no error. */
  release(id: string, why?: string): Promise<void>
  /**
   * Keeps a baseline (a uid, an old transition time); the first value under a key wins. A key that begins with the
   * procedure's name and `/` is forgotten when that procedure is recorded as finished.
   */
  keep(key: string, value: unknown): Promise<void>
  kept(key: string): Promise<unknown>
  /** The same journal for who holds the lock: it is confirmed before each write, tries after a conflict included. */
  under(held: Held): Journal
}

/** What a `check` may see of it. */
export type JournalReader = Pick<Journal, 'entries' | 'loans' | 'kept'>

export interface Entry {
  /** RFC 3339. */
  at: string
  /** user@host. */
  by: string
  procedure: string
  step: string
  /** `intends` is written before `apply`, `applied` after it. */
  what:
    | 'started'
    | 'intends'
    | 'applied'
    | 'borrowed'
    | 'gave-back'
    | 'closed'
    | 'finished'
    | 'failed'
    | 'interrupted'
  text: string
  /** The uid of the sealed plan that was carried out, where there was one. */
  plan?: string
}

/** What a borrowed setting is set to, kept with the loan, for entries are forgotten in time. */
interface Taken {
  value: unknown
  /** Id of the step that sets it. */
  step: string
  /** It was set: from then on it is somebody else who changed it. */
  applied?: true
}

/** A setting that was borrowed and has to be given back. */
export interface Loan {
  /** Stable per setting: `workload-updates`. */
  id: string
  procedure: string
  object: { apiVersion: string; kind: string; namespace?: string; name: string; uid: string }
  /** JSON pointer: `/spec/workloadUpdateStrategy/workloadUpdateMethods`. */
  path: string
  /** Absence is a value too. */
  was: { present: true; value: unknown } | { present: false }
  /** What it is meanwhile; absent for loans of more than one value. */
  taken?: Taken
  by: string
  at: string
  /** For how long it does no harm to leave it open, and what does not work meanwhile. */
  harmless?: string
  /** It was opened by an upgrade over several minors, which waits for VMs between them. */
  severalMinors?: true
}
