import type { LockHolder } from '../../kubevirt/lease-holders.ts'
import { ageAt } from '../age.ts'

/** Who holds kvup's lock; `gone` where its process was on this machine and has ended. */
export interface ShownHolder extends LockHolder {
  gone?: { user: string; host: string; pid: number }
}

/** `jane was at work until 12s ago on host here (pid 7 is gone)`, or that the lock is held: a Lease alone does not tell who lives. */
export function holderText({ holder, renewed, gone }: ShownHolder, at: string): string {
  const age = renewed === undefined ? undefined : `${ageAt(renewed, at)} ago`
  if (gone)
    return `${gone.user} was at work until ${age ?? 'a moment ago'} on host ${gone.host} (pid ${gone.pid} is gone)`
  return `${holder} holds the lock${age === undefined ? '' : `; renewed ${age}`}`
}
