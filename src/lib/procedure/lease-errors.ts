import type { Lease } from '../cluster/kinds/core.ts'
import { type KvupError, locked } from '../system/errors.ts'
import { oneLine, shellWord } from '../system/shell-word.ts'

/** The name of the Lease, in KubeVirt's own namespace. */
export const leaseName = 'kvup'
/** For how long a renewal holds, ms. */
export const leaseTerm = 15_000

const leaseIn = (namespace: string): string => `leases/${leaseName} in namespace ${namespace}`

/** Somebody else renews it: exit 6. */
export function heldBy(lease: Lease, namespace: string): KvupError {
  const { holderIdentity, acquireTime } = lease.spec ?? {}
  const holder = oneLine(holderIdentity ?? 'somebody')
  const since = acquireTime ? ` since ${acquireTime.replace(/\.\d+Z$/, 'Z')}` : ''
  return locked('locked', `${holder} is at work on this cluster${since}`, {
    object: leaseIn(namespace),
    remedy: [
      'kvup status -w      watches it',
      `add ${shellWord(`--take-over=${holderIdentity ?? 'somebody'}`)} to the command      ends its run at its next write, should it still live`,
    ],
  })
}

/** It was ours: exit 6, and nothing more is written. */
export function lost(why: string, namespace: string): KvupError {
  return locked('lock-lost', `the lock was lost: ${why}. Nothing was written after that`, {
    object: leaseIn(namespace),
    remedy: 'run the same command again: it goes on where the cluster stands',
  })
}
