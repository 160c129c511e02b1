import type { Journal, JournalReader } from './journal.ts'
import { bounded, emptyJournal, type JournalContent } from './journal-content.ts'
import { journalOn } from './journal-on.ts'

const nothing: JournalReader = {
  entries: async () => [],
  loans: async () => [],
  kept: async () => undefined,
}

/** A journal that nobody finds later: for dry runs, over what the real one (`over`) says, and for tests. */
export function memoryJournal(over: JournalReader = nothing): Journal {
  let copied: Promise<JournalContent> | undefined
  const copy = async () => ({ ...emptyJournal, entries: await over.entries(), loans: await over.loans() })
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
