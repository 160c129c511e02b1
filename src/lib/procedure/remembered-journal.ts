import type { JournalReader } from './journal.ts'

/**
 * Reads a journal once and remembers what it said until it is told to forget: under the lock nobody else writes it, and a wait
 * must not cost a request per look.
 */
export class RememberedJournal implements JournalReader {
  readonly #journal: JournalReader
  readonly #answers = new Map<string, Promise<unknown>>()

  constructor(journal: JournalReader) {
    this.#journal = journal
  }

  forget(): void {
    this.#answers.clear()
  }

  entries(): ReturnType<JournalReader['entries']> {
    return this.#once('entries', () => this.#journal.entries())
  }

  loans(): ReturnType<JournalReader['loans']> {
    return this.#once('loans', () => this.#journal.loans())
  }

  kept(key: string): Promise<unknown> {
    return this.#once(`kept ${key}`, () => this.#journal.kept(key))
  }

  #once<T>(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question) as Promise<T> | undefined
    if (known !== undefined) return known
    const answer = ask()
    this.#answers.set(question, answer)
    answer.catch(() => this.#answers.delete(question))
    return answer
  }
}
