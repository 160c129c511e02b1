import { Leases } from '../cluster/kinds/core.ts'
import { isConflict, type KvupError } from '../system/errors.ts'
import { findLease, type LeasePlace, microTime, type Taken } from './lease-acquire.ts'
import { leaseName, leaseTerm, lost } from './lease-errors.ts'
import type { Held } from './lock.ts'

const renewEvery = 5000
const retryEvery = 1000
/** A server that hangs must not keep us from leaving. */
const releaseWithin = 800

/** A Lease that is ours until it is released or lost. `signal` is aborted with a `locked` error when it is lost. */
export class LeaseHolding implements Held {
  readonly #place: LeasePlace
  readonly #identity: string
  readonly #over = new AbortController()
  readonly #lost = new AbortController()
  #version: string | undefined
  #renewedAt: number

  constructor(place: LeasePlace, identity: string, { lease, at }: Taken) {
    this.#place = place
    this.#identity = identity
    this.#version = lease.metadata.resourceVersion
    this.#renewedAt = at
    void this.#keepRenewing()
    void this.#watchTerm()
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  async confirm(): Promise<void> {
    this.#throwIfOver()
    await this.#mine()
    this.#throwIfOver()
  }

  /** Empties the holder, so that the next run need not wait. Gives up after a moment: then the Lease runs out by itself. */
  async release(): Promise<void> {
    this.#expire()
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
      await this.#write({ holderIdentity: '', renewTime: microTime(this.#now()) })
    } catch {
      // It runs out by itself.
    }
  }

  async #keepRenewing(): Promise<void> {
    let pause = renewEvery
    while (await this.#slept(pause)) pause = (await this.#renewed()) ? renewEvery : retryEvery
  }

  /** False when it has to be tried again soon. */
  async #renewed(): Promise<boolean> {
    this.#expire()
    if (this.signal.aborted) return false
    const at = this.#now()
    try {
      await this.#write({ renewTime: microTime(at) })
      this.#renewedAt = at
      return true
    } catch (error) {
      if (isConflict(error)) await this.#mine().catch(() => undefined)
      return false
    }
  }

  /** Wakes when the term is over, also where a renewal hangs, and after the process or the machine was suspended. */
  async #watchTerm(): Promise<void> {
    while (await this.#slept(Math.max(1, this.#renewedAt + leaseTerm + 1 - this.#now()))) this.#expire()
  }

  #expire(): void {
    const late = this.#now() - this.#renewedAt
    if (late > leaseTerm)
      this.#lose(lost(`it was not renewed for ${Math.round(late / 1000)}s`, this.#place.namespace))
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

  #throwIfOver(): void {
    this.#expire()
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
