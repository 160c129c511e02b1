import { randomBytes } from 'node:crypto'
import type { Cluster } from '../cluster/cluster.ts'
import { type Clock, ownClock } from '../system/clock.ts'
import { acquireLease } from './lease-acquire.ts'
import { type Holder, identityOf } from './lease-holder.ts'
import { LeaseHolding } from './lease-holding.ts'
import type { Lock } from './lock.ts'

export interface LeaseLockOptions {
  /** KubeVirt's own. */
  namespace: string
  holder: Holder
  clock: Clock
  /** The holder that may be replaced: `--take-over=HOLDER`, as an error or `history` printed it. */
  takeOver?: string | undefined
}

/**
 * The lock in Lease `kvup`: 15 s, renewed every 5 s; contract "Lock". A dead holder stops nobody for more than 15 s,
 * one on this machine not at all.
 */
export function leaseLock(cluster: Pick<Cluster, 'reader' | 'writer'>, options: LeaseLockOptions): Lock {
  const { namespace, holder, clock, takeOver } = options
  const place = { cluster, namespace, clock: ownClock(clock), time: clock }
  return {
    async hold(work, queueing = {}) {
      const identity = identityOf(holder, randomBytes(4).toString('hex'))
      const holding = new LeaseHolding(
        place,
        identity,
        await acquireLease(place, { identity, holder, takeOver }, queueing),
      )
      try {
        return await work(holding)
      } finally {
        await holding.release()
      }
    },
  }
}
