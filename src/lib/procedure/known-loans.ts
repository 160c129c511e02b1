import type { Journal, Loan } from './journal.ts'

/** A journal that knows without asking. */
export interface KnowsLoans {
  /** The open loans as this process read or wrote them last; undefined before it has done either. */
  known(): readonly Loan[] | undefined
}

/** The same journal, which remembers what is borrowed: whoever leaves while the server is silent can still say so. */
export function remembering(journal: Journal): Journal & KnowsLoans {
  return rememberingIn(journal, { loans: undefined })
}

interface Memory {
  loans: readonly Loan[] | undefined
}

function rememberingIn(journal: Journal, memory: Memory): Journal & KnowsLoans {
  const without = (id: string) => (memory.loans ?? []).filter((loan) => loan.id !== id)
  return {
    ...journal,
    known: () => memory.loans,
    async loans() {
      return (memory.loans = await journal.loans())
    },
    async borrow(loan) {
      const opened = await journal.borrow(loan)
      memory.loans = [...without(loan.id), opened]
      return opened
    },
    async release(id, why) {
      await journal.release(id, why)
      memory.loans = without(id)
    },
    under: (held) => rememberingIn(journal.under(held), memory),
  }
}
