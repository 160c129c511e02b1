import type { Lease } from '../cluster/kinds/core.ts'
import { since } from './elapsed.ts'

/** Who holds kvup's lock, as its Lease says. */
export interface LockHolder {
  /** `user@host/pid/nonce`: what `--take-over` takes. */
  holder: string
  /** RFC 3339: when it was taken. */
  since?: string
  /** RFC 3339: when it was renewed last. */
  renewed?: string
}

const term = 15

/** Undefined where nobody holds it: a Lease that was not renewed for its term is a dead run's; a clock that is a bit off does no harm here. */
export function lockHolder(lease: Lease | undefined, at: Date): LockHolder | undefined {
  const { holderIdentity: holder, renewTime: renewed, acquireTime, leaseDurationSeconds } = lease?.spec ?? {}
  const age = since(renewed, at)
  if (!holder || !renewed || age === undefined || age > (leaseDurationSeconds ?? term) * 1000)
    return undefined
  return { holder, ...(acquireTime && { since: acquireTime }), renewed }
}
