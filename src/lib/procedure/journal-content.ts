import { isDeepStrictEqual } from 'node:util'
import { blocked } from '../system/errors.ts'
import type { Entry, Loan } from './journal.ts'

/** Everything that a journal holds, as it is stored and as it is changed: by pure functions. */
export interface JournalContent {
  entries: readonly Entry[]
  /** Open ones only: a loan that was given back is an entry. */
  loans: readonly Loan[]
  kept: Readonly<Record<string, unknown>>
}

export const emptyJournal: JournalContent = { entries: [], loans: [], kept: {} }

/** Who writes, and when: for the entries that borrowing and giving back leave behind. */
export interface Signature {
  by: string
  at: string
}

export function recorded(content: JournalContent, entry: Entry): JournalContent {
  const entries = [...content.entries, entry]
  if (entry.what === 'applied')
    return { ...content, entries, loans: content.loans.map((loan) => applied(loan, entry)) }
  if (entry.what !== 'finished') return { ...content, entries }
  const prefix = `${entry.procedure}/`
  const kept = Object.fromEntries(Object.entries(content.kept).filter(([key]) => !key.startsWith(prefix)))
  return { ...content, entries, kept }
}

function applied(loan: Loan, { procedure, step }: Entry): Loan {
  const { taken } = loan
  const isOfStep = taken?.step === step && loan.procedure === procedure
  return isOfStep ? { ...loan, taken: { ...taken, applied: true } } : loan
}

/** The first value wins: of an open loan with this id nothing changes but what it is set to from now on. */
export function borrowed(content: JournalContent, loan: Loan): JournalContent {
  const open = content.loans.find(({ id }) => id === loan.id)
  return open === undefined ? claimed(content, loan) : takenAnew(content, open, loan)
}

/** As it is: another claim under this id is replaced, for what is said here lies on an object, or is about to. */
export function claimed(content: JournalContent, loan: Loan): JournalContent {
  const former = content.loans.find(({ id }) => id === loan.id)
  if (former !== undefined && isSameLoan(former, loan)) return takenAnew(content, former, loan)
  if (former !== undefined)
    return claimed({ ...content, loans: content.loans.filter((one) => one !== former) }, loan)
  if (loan.was.present && loan.was.value === undefined)
    throw new Error(`loan ${loan.id} has no value to keep`)
  const { procedure, by, at } = loan
  const entry: Entry = { at, by, procedure, step: loan.id, what: 'borrowed', text: wordsOf(loan) }
  return recorded({ ...content, loans: [...content.loans, loan] }, entry)
}

const isSameLoan = (one: Loan, other: Loan): boolean =>
  one.object.uid === other.object.uid && one.path === other.path && isDeepStrictEqual(one.was, other.was)

function takenAnew(content: JournalContent, open: Loan, { taken }: Loan): JournalContent {
  if (taken === undefined || isDeepStrictEqual(open.taken?.value, taken.value)) return content
  const loans = content.loans.map((loan) => (loan === open ? { ...open, taken } : loan))
  return { ...content, loans }
}

export function released(
  content: JournalContent,
  id: string,
  signed: Signature & { why?: string | undefined },
): JournalContent {
  const loan = content.loans.find((open) => open.id === id)
  if (loan === undefined) return content
  const { procedure } = loan
  const { by, at, why } = signed
  const text = why === undefined ? wordsOf(loan) : `${why}: ${wordsOf(loan)}`
  const entry: Entry = { at, by, procedure, step: id, what: why === undefined ? 'gave-back' : 'closed', text }
  return recorded({ ...content, loans: content.loans.filter((open) => open.id !== id) }, entry)
}

export function keeping(content: JournalContent, key: string, value: unknown): JournalContent {
  if (Object.hasOwn(content.kept, key)) return content
  return { ...content, kept: { ...content.kept, [key]: value } }
}

function wordsOf({ path, object, was }: Loan): string {
  const value = was.present ? JSON.stringify(was.value) : 'absent'
  return `${path} of ${object.kind} ${object.name}, which was ${value}`
}

const mostEntries = 300
const mostEntryBytes = 256 * 1024
const mostText = 2000
const mostKept = 200
const mostLoanBytes = 384 * 1024
const mostKeptBytes = 128 * 1024

/**
 * Stays well under the 1 MiB of a ConfigMap: the oldest entries and kept values go first, an open loan never. Throws `blocked`
 * when the loans alone are too large; nothing may be borrowed then.
 */
export function bounded({ entries, loans, kept }: JournalContent): JournalContent {
  if (bytesOf(loans) > mostLoanBytes)
    throw blocked(
      'journal-full',
      `the journal holds ${loans.length} open loans and has no room for another`,
      {
        remedy: 'kvup history      shows them and the line that gives each back',
      },
    )
  return {
    entries: newest(entries.map(shortened), mostEntries, mostEntryBytes),
    loans,
    kept: Object.fromEntries(newest(Object.entries(kept), mostKept, mostKeptBytes)),
  }
}

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
