import { endOf, isFinished, type Migration } from './migration.ts'

/** The last so many finished migrations of those that were shown to it; the older ones are only counted. */
export class NewestFinished {
  readonly #atMost: number
  readonly #namespace: string | undefined
  #kept: Migration[] = []
  #seen = 0

  constructor(atMost: number, namespace?: string) {
    this.#atMost = atMost
    this.#namespace = namespace
  }

  add(migration: Migration): void {
    if (!isFinished(migration) || migration.namespace !== (this.#namespace ?? migration.namespace)) return
    this.#seen++
    this.#kept.push(migration)
    if (this.#kept.length >= 2 * this.#atMost) this.#kept = this.items.slice()
  }

  /** The newest first. */
  get items(): readonly Migration[] {
    return this.#kept.toSorted((a, b) => endOf(b) - endOf(a)).slice(0, this.#atMost)
  }

  /** How many there are that `items` leaves out. */
  get older(): number {
    return Math.max(0, this.#seen - this.#atMost)
  }
}
