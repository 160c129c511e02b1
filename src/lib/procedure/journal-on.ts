import type { Journal, Loan } from './journal.ts'
import {
  borrowed,
  claimed,
  type JournalContent,
  keeping,
  recorded,
  released,
  type Signature,
} from './journal-content.ts'
import type { Overrides } from './overrides.ts'

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

/** What a journal is laid over besides its store. */
interface Below {
  /** Comes right before every try to write, and stops it when it throws. */
  confirm?: () => Promise<void>
  /** What is noted on the objects themselves. Without it (a dry run) the store is believed: nobody else writes it. */
  overrides?: Overrides
}

/** The journal's rules on any store. `sign` names who gives a loan back, and when. */
export function journalOn(
  store: JournalStore,
  sign: (opened: Signature | undefined) => Signature,
  { confirm = async () => undefined, overrides }: Below = {},
): Journal {
  const { read } = store
  const update = (change: (content: JournalContent) => JournalContent) => store.update(change, confirm)
  const closing = (content: JournalContent, id: string, why?: string) =>
    released(content, id, { ...sign(content.loans.find((loan) => loan.id === id)), why })
  const loans = async () => (overrides ? overrides.loans() : (await read()).loans)
  const missing = async () => (await overrides?.missing((await read()).loans)) ?? []
  return {
    under: (held) =>
      journalOn(store, sign, { confirm: () => held.confirm(), ...(overrides && { overrides }) }),
    entries: async () => (await read()).entries,
    loans,
    missing,
    believe: (claim) => overrides?.remember(claim),
    async kept(key) {
      const { kept } = await read()
      return Object.hasOwn(kept, key) ? kept[key] : undefined
    },
    async record(entry) {
      const ends = entry.what === 'finished' && overrides
      const over = ends ? await overrides.over((await read()).loans) : []
      await update((content) =>
        recorded(
          over.reduce((now, { id, why }) => closing(now, id, why), content),
          entry,
        ),
      )
    },
    async borrow(loan) {
      if (overrides === undefined) {
        const after = await update((content) => borrowed(content, loan))
        return after.loans.find(({ id }) => id === loan.id) ?? loan
      }
      const open = (await overrides.loans()).find(
        ({ id, object }) => id === loan.id && object.uid === loan.object.uid,
      )
      const saved = open === undefined ? loan : { ...open, ...(loan.taken && { taken: loan.taken }) }
      await update((content) => claimed(content, saved))
      overrides.remember(saved)
      return saved
    },
    async release(id, why) {
      const known = overrides?.close(id)
      await update((content) => closing(known ? withClaim(content, known) : content, id, why))
    },
    async keep(key, value) {
      await update((content) => keeping(content, key, value))
    },
  }
}

/** A journal that somebody deleted meanwhile has the entry all the same. */
function withClaim(content: JournalContent, loan: Loan): JournalContent {
  const has = content.loans.some(({ id }) => id === loan.id)
  return has ? content : { ...content, loans: [...content.loans, loan] }
}
