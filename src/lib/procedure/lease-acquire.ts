import type { Cluster } from '../cluster/cluster.ts'
import { type Lease, Leases } from '../cluster/kinds/core.ts'
import type { Clock } from '../system/clock.ts'
import { isConflict } from '../system/errors.ts'
import { heldBy, leaseName, leaseTerm } from './lease-errors.ts'
import { type Holder, isDead } from './lease-holder.ts'
import type { Queueing } from './lock.ts'
import { oneLine } from '../system/shell-word.ts'
import { unlessAborted } from './unless-aborted.ts'

/** Where the Lease is. */
export interface LeasePlace {
  cluster: Pick<Cluster, 'reader' | 'writer'>
  namespace: string
  /** This machine's own, for terms and sleeps: whatever the cluster's time does, the other programs are as real as this one. */
  clock: Clock
  /** The cluster's, for what is written into the Lease. */
  time: Pick<Clock, 'now' | 'speed'>
}

export interface Claim {
  identity: string
  holder: Holder
  /** The holder that may be replaced without waiting: `--take-over=HOLDER`. */
  takeOver?: string | undefined
}

/** The Lease in our name, and when the writing of it began: its term counts from there. */
export interface Taken {
  lease: Lease
  at: number
}

const lookEvery = 1000

/** A foreign Lease as it was first seen, and when it runs out if it stays so. */
interface Watched {
  version: string | undefined
  until: number
}

/**
 * Takes the Lease: a free one, that of a dead process of this machine, or that of `takeOver`, at once. A foreign one is
 * watched for one term by our own clock: throws `locked` as soon as it is seen renewed, and takes it when it is not.
 */
export async function acquireLease(place: LeasePlace, claim: Claim, queueing: Queueing): Promise<Taken> {
  let watched: Watched | undefined
  for (;;) {
    const lease = await unlessAborted(findLease(place), queueing.signal)
    const now = place.clock.now().getTime()
    if (lease === undefined || isFree(lease, claim) || hasExpired(lease, watched, now)) {
      const taken = await take(place, claim.identity, lease)
      if (taken !== undefined) return taken
    } else {
      watched = watch(lease, watched, { now, place, queueing })
      await place.clock.sleep(Math.max(1, Math.min(lookEvery, watched.until - now)), queueing.signal)
    }
  }
}

function hasExpired({ metadata }: Lease, watched: Watched | undefined, now: number): boolean {
  return watched !== undefined && watched.version === metadata.resourceVersion && now >= watched.until
}

function watch(
  lease: Lease,
  before: Watched | undefined,
  { now, place, queueing }: { now: number; place: LeasePlace; queueing: Queueing },
): Watched {
  const version = lease.metadata.resourceVersion
  if (before === undefined) {
    queueing.remark?.(waitingFor(lease))
    return { version, until: now + leaseTerm }
  }
  if (before.version !== version) throw heldBy(lease, place.namespace)
  return before
}

export async function findLease({ cluster, namespace }: LeasePlace): Promise<Lease | undefined> {
  const found = await cluster.reader.find(Leases, { name: leaseName, namespace })
  return found.is === 'object' ? found.object : undefined
}

function isFree({ spec }: Lease, { holder, takeOver }: Claim): boolean {
  const by = spec?.holderIdentity ?? ''
  return by === '' || by === takeOver || isDead(by, holder)
}

/** Undefined when somebody else was faster. */
async function take(
  place: LeasePlace,
  identity: string,
  lease: Lease | undefined,
): Promise<Taken | undefined> {
  const { cluster, namespace } = place
  const at = place.clock.now().getTime()
  const time = microTime(place.time.now())
  const spec = {
    holderIdentity: identity,
    leaseDurationSeconds: inTimeOf(place.time, leaseTerm) / 1000,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: (lease?.spec?.leaseTransitions ?? -1) + 1,
  }
  const labels = { 'app.kubernetes.io/managed-by': 'kvup' }
  const ref = { name: leaseName, namespace }
  try {
    if (lease === undefined) {
      const { apiVersion, kind } = Leases
      const made = await cluster.writer.create(Leases, {
        apiVersion,
        kind,
        metadata: { ...ref, labels },
        spec,
      })
      return { lease: made, at }
    }
    const resourceVersion = lease.metadata.resourceVersion ?? ''
    const change = { metadata: { resourceVersion, labels }, spec }
    return { lease: await cluster.writer.mergePatch(Leases, ref, change), at }
  } catch (error) {
    if (isConflict(error)) return undefined
    throw error
  }
}

/** `metav1.MicroTime` wants exactly six digits. */
export const microTime = (at: Date): string => at.toISOString().replace('Z', '000Z')

/** Our term in the cluster's seconds: whoever reads the Lease measures by them. */
const inTimeOf = ({ speed = 1 }: Pick<Clock, 'speed'>, ms: number): number =>
  Math.ceil((ms * speed) / 1000) * 1000

const waitingFor = ({ spec }: Lease): string =>
  `${oneLine(spec?.holderIdentity ?? 'somebody')} holds the lock; it is taken over unless they renew it within ${leaseTerm / 1000}s`
