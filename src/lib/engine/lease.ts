import { randomBytes } from 'node:crypto'
import { type Cluster, objectIn } from '../kube/cluster.ts'
import { type Clock, ownClock } from '../kube/clock.ts'
import { type Lease, Leases } from '../kube/kinds/core-kinds.ts'
import { asFarAsRead, isConflict, type KvupError, locked, unreachable } from '../kube/errors.ts'
import { oneLine, shellWord, watchLine, withoutFlags, withPurpose, wordsOf } from '../kube/shell-line.ts'
import { isDoneWithin, unlessAborted } from '../kube/interruption.ts'
import { Pods } from '../kube/kinds/workload-kinds.ts'
import type { PodIdentity } from '../kube/world.ts'

/** One procedure at a time per cluster, whoever's laptop it runs on. A Lease; section "Lock" of docs/conventions. */
export interface Lock {
  /**
   * Returns when nobody else is at work; takes nothing. Asked before the question, so that nobody agrees to what cannot begin. Throws `locked` (exit 6), naming the holder. Absent: it is
   * only known once the lock is to be taken.
   */
  ensureFree?(queueing?: Queueing): Promise<void>
  /**
   * Takes the lock, works, gives it back. `held` is aborted when the lock is lost.
   * Throws `locked` (exit 6), naming the holder, when somebody else is at work.
   */
  hold<T>(work: (held: HeldLease) => Promise<T>, queueing?: Queueing): Promise<T>
}

interface Queueing {
  signal?: AbortSignal
  remark?(text: string): void
}

export interface HeldLease {
  readonly signal: AbortSignal
  /** Reads the holder again; throws `locked` when it is no longer us. Called before every write. */
  confirm(): Promise<void>
}

interface LeaseLockOptions {
  /** KubeVirt's own. */
  namespace: string
  holder: Holder
  clock: Clock
  /** The holder that may be replaced: `--take-over=HOLDER`, as an error or `history` printed it. */
  takeOver?: string | undefined
  typed?: string
}

/**
 * The lock in Lease `kvup`: 15 s, renewed every 5 s; contract "Lock". A dead holder stops nobody for more than 15 s,
 * one on this machine not at all.
 */
export function leaseLock(cluster: Pick<Cluster, 'reader' | 'writer'>, options: LeaseLockOptions): Lock {
  const { namespace, holder, clock, takeOver, typed } = options
  const place = { cluster, namespace, clock: ownClock(clock), time: clock, ...(typed && { typed }) }
  const claim = { holder, takeOver }
  // Whom nobody saw renew his Lease before the question is not watched for a second term after it.
  let watched: Watched | undefined
  return {
    async ensureFree(queueing = {}) {
      watched = (await freeLease(place, claim, queueing)).watched
    },
    async hold(work, queueing = {}) {
      const identity = identityOf(holder, randomBytes(4).toString('hex'))
      let taken: Taken | undefined
      for (let known = watched; taken === undefined;) {
        const free = await freeLease(place, claim, queueing, known)
        taken = await take(place, identity, free.lease)
        known = free.watched
      }
      const holding = new RenewedLease(place, identity, taken)
      try {
        return await work(holding)
      } finally {
        await holding.release()
      }
    },
  }
}

interface Holder {
  /** user@host */
  who: string
  host: string
  pid: number
  /**
   * Which processes `isAlive` can see: the boot of this machine and the PID namespace of this process, lower-case letters and digits. Host names are not enough, for containers on
   * the network of their host, and machines that are all called `localhost`, share one. Undefined where it cannot be told.
   */
  machine?: string | undefined
  pod?: PodIdentity | undefined
  isAlive(pid: number): boolean
}

/**
 * `user@host/pid/nonce-machine`, in a pod `pod:namespace/name/uid/nonce`: unique per run, readable for people, and `--take-over` takes it as it is. Of a pod the cluster itself says
 * whether it is gone, so that no host is named.
 */
export const identityOf = ({ who, pid, machine, pod }: Holder, nonce: string): string =>
  pod === undefined
    ? `${who}/${pid}/${nonce}${machine === undefined ? '' : `-${machine}`}`
    : `pod:${pod.namespace}/${pod.name}/${pod.uid}/${nonce}`

function podOf(identity: string): PodIdentity | undefined {
  const { namespace, name, uid } =
    /^pod:(?<namespace>[a-z0-9-]+)\/(?<name>[a-z0-9.-]+)\/(?<uid>[0-9a-zA-Z-]+)\/[0-9a-z]+$/u.exec(identity)
      ?.groups ?? {}
  if (namespace === undefined || name === undefined || uid === undefined) return undefined
  return { namespace, name, uid }
}

function holderText(identity: string): string {
  const pod = podOf(identity)
  return pod === undefined ? oneLine(identity) : `pod ${pod.name} of namespace ${pod.namespace}`
}

interface Process {
  user: string
  host: string
  pid: number
  /** Absent in identities of releases that had none. */
  machine?: string
}

/** What an identity says of its process; undefined for one that kvup did not make. */
export function processOf(identity: string): Process | undefined {
  const parts =
    /^(?<user>[^\s/]+)@(?<host>[^\s@/]+)\/(?<pid>\d+)\/[^\s/-]+(?:-(?<machine>[0-9a-z]+))?$/u.exec(
      identity,
    )?.groups
  const { user, host, pid, machine } = parts ?? {}
  if (user === undefined || host === undefined) return undefined
  return { user, host, pid: Number(pid), ...(machine !== undefined && { machine }) }
}

/** True when the identity names a process that would be seen here and has ended. What cannot be told is alive, and is watched as a foreign one. */
export function isDead(identity: string, holder: Pick<Holder, 'machine' | 'pid' | 'isAlive'>): boolean {
  const theirs = processOf(identity)
  if (theirs?.machine === undefined || theirs.machine !== holder.machine) return false
  return theirs.pid !== holder.pid && !holder.isAlive(theirs.pid)
}

interface LeasePlace {
  cluster: Pick<Cluster, 'reader' | 'writer'>
  namespace: string
  /** This machine's own, for terms and sleeps: whatever the cluster's time does, the other programs are as real as this one. */
  clock: Clock
  /** The cluster's, for what is written into the Lease. */
  time: Pick<Clock, 'now' | 'speed'>
  typed?: string
}

interface Replacing {
  holder: Holder
  takeOver?: string | undefined
}

/** The Lease in our name, and when the writing of it began: its term counts from there. */

const readEvery = 1000

/** A foreign Lease as it was first seen, and when it runs out if it stays so. */
interface Watched {
  version: string | undefined
  until: number
}

/** The Lease in our name, and when the writing of it began: its term counts from there. */
interface Taken {
  lease: Lease
  at: number
}

/**
 * A Lease that may be taken: a free one, that of a dead process of this machine, or that of `takeOver`, at once. A foreign one is watched for one term by our own clock: throws `locked` as
 * soon as it is seen renewed, and may be taken when it is not.
 */
async function freeLease(
  place: LeasePlace,
  claim: Replacing,
  queueing: Queueing,
  known?: Watched,
): Promise<{ lease: Lease | undefined; watched: Watched | undefined }> {
  let watched = known
  for (;;) {
    const lease = await unlessAborted(getLease(place), queueing.signal)
    const now = place.clock.now().getTime()
    const isLate = watched !== undefined && now >= watched.until
    const hasExpired = isLate && watched?.version === lease?.metadata.resourceVersion
    if (lease === undefined || isFree(lease, claim) || hasExpired) return { lease, watched }
    if (await isOfEndedPod(lease, place, claim)) return { lease, watched }
    watched = watch(lease, watched, { now, place, queueing })
    await place.clock.sleep(Math.max(1, Math.min(readEvery, watched.until - now)), queueing.signal)
  }
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
  if (before.version !== version) throw heldBy(lease, place)
  return before
}

const getLease = ({ cluster, namespace }: LeasePlace): Promise<Lease | undefined> =>
  objectIn(cluster.reader, Leases, { name: leaseName, namespace })

function isFree({ spec }: Lease, { holder, takeOver }: Replacing): boolean {
  const by = spec?.holderIdentity ?? ''
  return by === '' || by === takeOver || isDead(by, holder)
}

/**
 * Whether the cluster says that the pod which holds it is gone or has ended: then it need not be waited for. Only a pod asks, and only about pods of its own namespace, which it may read;
 * what it may not read is watched as any other holder. A pod that runs on behind the back of the API server writes nothing more: it reads its Lease before each write.
 */
async function isOfEndedPod(
  { spec }: Lease,
  { cluster }: LeasePlace,
  { holder }: Replacing,
): Promise<boolean> {
  const theirs = podOf(spec?.holderIdentity ?? '')
  if (theirs === undefined || theirs.namespace !== holder.pod?.namespace) return false
  if (theirs.uid === holder.pod.uid) return false
  const found = await asFarAsRead(cluster.reader.get(Pods, theirs))
  if (found === undefined || found.is === 'unserved') return false
  if (found.is === 'absent' || found.object.metadata.uid !== theirs.uid) return true
  return ['Succeeded', 'Failed'].includes(found.object.status?.phase ?? '')
}

async function take(
  place: LeasePlace,
  identity: string,
  lease: Lease | undefined,
): Promise<Taken | undefined> {
  const { writer } = place.cluster
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
  const ref = { name: leaseName, namespace: place.namespace }
  const { apiVersion, kind } = Leases
  try {
    if (lease === undefined) {
      const made = { apiVersion, kind, metadata: { ...ref, labels }, spec }
      return { lease: await writer.create(Leases, made), at }
    }
    const metadata = { resourceVersion: lease.metadata.resourceVersion ?? '', labels }
    return { lease: await writer.mergePatch(Leases, ref, { metadata, spec }), at }
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
  `another kvup has the lock: ${holderText(spec?.holderIdentity ?? 'somebody')}. Watching for ${leaseTerm / 1000} s whether it still runs`

const renewEvery = 5000
const retryEvery = 1000
/** A server that hangs must not keep us from leaving. */
const releaseWithin = 800

/**
 * A Lease that is ours until it is released or lost; `signal` is aborted with a `locked` error when it is lost. While the server is
 * away for longer than the term it is in doubt: nothing may be written until a renewal shows that nobody took it. A process
 * that slept past the term has lost it.
 */
class RenewedLease implements HeldLease {
  readonly #place: LeasePlace
  readonly #identity: string
  readonly #over = new AbortController()
  readonly #lost = new AbortController()
  #version: string | undefined
  #renewedAt: number
  #awakeAt: number

  constructor(place: LeasePlace, identity: string, { lease, at }: Taken) {
    this.#place = place
    this.#identity = identity
    this.#version = lease.metadata.resourceVersion
    this.#renewedAt = at
    this.#awakeAt = at
    void this.#keepRenewing()
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  async confirm(): Promise<void> {
    this.#throwIfLost()
    await this.#mine()
    if (this.#isLate() && !(await this.#renewed()))
      throw unreachable('lock-in-doubt', `the lock could not be renewed for more than ${leaseTerm / 1000}s`)
    this.#throwIfLost()
  }

  /** Empties the holder, so that the next run need not wait. Gives up after a moment: then the Lease runs out by itself. */
  async release(): Promise<void> {
    this.#loseIfAsleep()
    this.#over.abort()
    if (this.signal.aborted) return
    await isDoneWithin(this.#place.clock, releaseWithin, this.#give())
  }

  async #give(): Promise<void> {
    try {
      await this.#mine()
      await this.#write({ holderIdentity: '', renewTime: microTime(this.#place.time.now()) })
    } catch {
      // It runs out by itself.
    }
  }

  async #keepRenewing(): Promise<void> {
    let pause = renewEvery
    while (await this.#slept(pause)) {
      this.#loseIfAsleep()
      this.#awakeAt = this.#now()
      const isDone = await Promise.race([this.#renewed(), this.#slept(renewEvery).then(() => false)])
      pause = isDone ? renewEvery : retryEvery
    }
  }

  async #renewed(): Promise<boolean> {
    if (this.#over.signal.aborted) return false
    const at = this.#now()
    try {
      await this.#write({ renewTime: microTime(this.#place.time.now()) })
      this.#renewedAt = Math.max(this.#renewedAt, at)
      return true
    } catch (error) {
      if (isConflict(error)) await this.#mine().catch(() => undefined)
      return false
    }
  }

  #isLate(): boolean {
    return this.#now() - this.#renewedAt > leaseTerm
  }

  /** Suspended past the term: who waited for it to run out was right to go ahead. */
  #loseIfAsleep(): void {
    const asleep = this.#now() - this.#awakeAt
    if (this.#isLate() && asleep > leaseTerm)
      this.#lose(lost(`this process was suspended for ${Math.round(asleep / 1000)}s`, this.#place.namespace))
  }

  /** Reads the Lease again; throws `locked` when the holder is no longer us. */
  async #mine(): Promise<void> {
    const lease = await getLease(this.#place)
    const by = lease?.spec?.holderIdentity
    if (lease !== undefined && by === this.#identity) this.#version = lease.metadata.resourceVersion
    else
      this.#lose(
        lost(lease ? `${by || 'nobody'} has it now` : 'its Lease was deleted', this.#place.namespace),
      )
    this.signal.throwIfAborted()
  }

  async #write(spec: { holderIdentity?: string; renewTime: string }): Promise<void> {
    const { cluster, namespace } = this.#place
    const metadata = { resourceVersion: this.#version ?? '' }
    const lease = await cluster.writer.mergePatch(Leases, { name: leaseName, namespace }, { metadata, spec })
    this.#version = lease.metadata.resourceVersion
  }

  #throwIfLost(): void {
    this.#loseIfAsleep()
    this.signal.throwIfAborted()
  }

  #lose(why: KvupError): void {
    if (!this.#over.signal.aborted) this.#lost.abort(why)
    this.#over.abort()
  }

  /** False when it is over. */
  async #slept(ms: number): Promise<boolean> {
    try {
      await this.#place.clock.sleep(ms, this.#over.signal)
      return true
    } catch {
      return false
    }
  }

  #now(): number {
    return this.#place.clock.now().getTime()
  }
}

/** The name of the Lease, in KubeVirt's own namespace. */
export const leaseName = 'kvup'
/** For how long a renewal holds, ms. */
const leaseTerm = 15_000

const leaseIn = (namespace: string): string => `leases/${leaseName} in namespace ${namespace}`

/** Somebody else renews it: exit 6. */
function heldBy(lease: Lease, { namespace, typed }: LeasePlace): KvupError {
  const { holderIdentity, acquireTime } = lease.spec ?? {}
  const by = holderIdentity ?? 'somebody'
  const since = acquireTime ? ` since ${acquireTime.replace(/\.\d+Z$/, 'Z')}` : ''
  const takeOver = 'takes the lock from that run, which then ends at its next write'
  const taking = typed === undefined ? [] : [withPurpose(takingOver(typed, by), takeOver)]
  return locked('locked', `another kvup is running: ${holderText(by)}${since}`, {
    object: leaseIn(namespace),
    remedy: [watchLine(), ...taking],
  })
}

const takingOver = (typed: string, holder: string): string =>
  [...withoutFlags(wordsOf(typed), { valued: ['--take-over'] }), shellWord(`--take-over=${holder}`)].join(' ')

/** It was ours: exit 6, and nothing more is written. */
const lost = (why: string, namespace: string): KvupError =>
  locked('lock-lost', `the lock was lost: ${why}. kvup wrote nothing after that`, {
    object: leaseIn(namespace),
    remedy: 'run the same command again: it continues',
  })
