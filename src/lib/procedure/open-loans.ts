import type { Cluster } from '../cluster/cluster.ts'
import type { Clock } from '../system/clock.ts'
import { KvupError } from '../system/errors.ts'
import { configMapJournal } from './journal-config-map.ts'
import type { Loan } from './journal.ts'

/** The open loans for a command that only reads; `unread` says why they are not known. */
export async function openLoans(
  cluster: Cluster,
  { namespace, clock }: { namespace: string; clock: Clock },
): Promise<{ loans: readonly Loan[] } | { unread: string }> {
  try {
    return { loans: await configMapJournal(cluster, { namespace, who: '', clock }).loans() }
  } catch (error) {
    if (error instanceof KvupError) return { unread: error.message }
    throw error
  }
}
