import { Answers } from '../system/answers.ts'
import type { JournalReader } from './journal.ts'

/**
 * Reads a journal once and remembers what it said until it is told to forget: under the lock nobody else writes it, and a wait
 * must not cost a request per look.
 */
export class RememberedJournal implements JournalReader {
  readonly #journal: JournalReader
  readonly #answers = new Answers()

  constructor(journal: JournalReader) {
    this.#journal = journal
  }

  forget(): void {
    this.#answers.forget()
  }

  entries(): ReturnType<JournalReader['entries']> {
    return this.#answers.once('entries', () => this.#journal.entries())
  }

  loans(): ReturnType<JournalReader['loans']> {
    return this.#answers.once('loans', () => this.#journal.loans())
  }

  kept(key: string): Promise<unknown> {
    return this.#answers.once(`kept ${key}`, () => this.#journal.kept(key))
  }
}
