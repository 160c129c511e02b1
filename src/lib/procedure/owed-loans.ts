import type { ConfigMap } from '../cluster/kinds/core.ts'
import type { Loan } from './journal.ts'
import type { JournalContent } from './journal-content.ts'

/** The loans that were open when a journal was seen last: who deletes the journal does not give them back. */
export class OwedLoans {
  #uid: string | undefined
  #loans: readonly Loan[] = []

  /** What a journal holds, and where it is not the ConfigMap that was seen last, what was open in that one as well. */
  addedTo(content: JournalContent, place: ConfigMap | undefined): JournalContent {
    if (this.#uid === undefined || this.#uid === place?.metadata.uid) {
      this.remember(content, place)
      return content
    }
    const lost = this.#loans.filter(({ id }) => !content.loans.some((loan) => loan.id === id))
    return lost.length === 0 ? content : { ...content, loans: [...content.loans, ...lost] }
  }

  /** What was just written, and where. */
  remember({ loans }: JournalContent, place: ConfigMap | undefined): void {
    this.#uid = place?.metadata.uid
    this.#loans = loans
  }
}
