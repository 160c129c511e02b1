import type { Evidence } from '../facts/evidence.ts'
import { itemsOf } from '../facts/known.ts'

/** What `lib/workloads` calls its loan. */
const loan = 'workload-updates'

/** Whether kvup has borrowed the workload update methods: empty as they are now, they come back at the end of its run (contract "Loans"). */
export const isHeldByKvup = ({ borrowed }: Evidence): boolean =>
  itemsOf(borrowed ?? { known: true, items: [] }).some(({ id }) => id === loan)
