import type { Journal } from './journal.ts'
import {
  borrowed,
  type JournalContent,
  keeping,
  recorded,
  released,
  type Signature,
} from './journal-content.ts'

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

/** The journal's rules on any store. `sign` names who gives a loan back, and when. */
export function journalOn(
  store: JournalStore,
  sign: (opened: Signature | undefined) => Signature,
  confirm: () => Promise<void> = async () => undefined,
): Journal {
  const { read } = store
  const update = (change: (content: JournalContent) => JournalContent) => store.update(change, confirm)
  return {
    under: (held) => journalOn(store, sign, () => held.confirm()),
    entries: async () => (await read()).entries,
    loans: async () => (await read()).loans,
    async kept(key) {
      const { kept } = await read()
      return Object.hasOwn(kept, key) ? kept[key] : undefined
    },
    async record(entry) {
      await update((content) => recorded(content, entry))
    },
    async borrow(loan) {
      const { loans } = await update((content) => borrowed(content, loan))
      return loans.find(({ id }) => id === loan.id) ?? loan
    },
    async release(id, why) {
      await update((content) =>
        released(content, id, { ...sign(content.loans.find((loan) => loan.id === id)), why }),
      )
    },
    async keep(key, value) {
      await update((content) => keeping(content, key, value))
    },
  }
}
