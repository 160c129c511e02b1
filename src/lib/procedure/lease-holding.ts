import { Leases } from '../cluster/kinds/core.ts'
import { isConflict, type KvupError, unreachable } from '../system/errors.ts'
import { findLease, type LeasePlace, microTime, type Taken } from './lease-acquire.ts'
import { leaseName, leaseTerm, lost } from './lease-errors.ts'
import type { Held } from './lock.ts'

const renewEvery = 5000
const retryEvery = 1000
/** A server that hangs must not keep us from leaving. */
const releaseWithin = 800

/**
 * A Lease that is ours until it is released or lost; `signal` is aborted with a `locked` error when it is lost. While the server is
 * away for longer than the term it is in doubt: nothing may be written until a renewal shows that nobody took it. A process
 * that slept past the term has lost it.
 */
export class LeaseHolding implements Held {
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
    const patience = new AbortController()
    await Promise.race([
      this.#give(),
      this.#place.clock.sleep(releaseWithin, patience.signal).catch(() => undefined),
    ])
    patience.abort()
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

  /** False when it has to be tried again soon. */
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
    const lease = await findLease(this.#place)
    const by = lease?.spec?.holderIdentity
    if (lease !== undefined && by === this.#identity) this.#version = lease.metadata.resourceVersion
    else
      this.#lose(
        lost(lease ? `${by || 'nobody'} holds it now` : 'its Lease was deleted', this.#place.namespace),
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
