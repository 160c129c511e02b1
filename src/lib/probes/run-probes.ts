import type { Cluster } from '../cluster/cluster.ts'
import { Events } from '../cluster/kinds/core.ts'
import type { Pod } from '../cluster/kinds/pods.ts'
import type { ImageProbe } from '../facts/image-probe.ts'
import { itemsOf, known } from '../facts/known.ts'
import { pullFailure } from '../facts/pull-failure.ts'
import { shorten } from '../system/shorten.ts'
import { type Clock, ticks } from '../system/clock.ts'
import type { Probe } from './probe.ts'
import { pullLimit } from './probe-pod.ts'
import { type Created, ProbePods } from './probe-pods.ts'
import { gone, isLasting, type Outcome, refusedBy } from './pull-outcome.ts'
import { lookOfPull, type PullLook } from './pull-verdict.ts'

export interface ProbeWork {
  probes: readonly Probe[]
  namespace: string
  /** A name that no other run has: a label's value. */
  run: string
}

export interface ProbeHands {
  cluster: Pick<Cluster, 'reader' | 'writer'>
  clock: Clock
  signal: AbortSignal
  /** One is through, after so many ms. */
  told(result: ImageProbe, took: number): void
  /** Nothing was told for 30 s: what is waited for. */
  still(images: readonly string[]): void
  /** Pods could not be removed; Kubernetes ends them. */
  left(error: unknown): void
}

const atOnce = 10
const pause = 1000
const heartbeat = 30_000
/** A failure that may pass, as a registry that is busy, is given so long. */
const patience = 60_000
/** A kubelet that is silent ends nothing; so long after the limit we do. */
const grace = 15_000

interface Try {
  probe: Probe
  began: number
  /** When it was first seen to fail, and what was said. */
  failing?: { since: number; text: string }
}

/**
 * Night C6: makes a pod for each probe, ten at a time, sees what becomes of its pull, and removes it. However it ends, Ctrl-C included, the
 * pods of this run are removed. Throws what the server answers when it cannot be asked, and the signal's reason.
 */
export async function runProbes(work: ProbeWork, hands: ProbeHands): Promise<readonly ImageProbe[]> {
  const run = new ProbeRun(work, hands)
  try {
    return await run.results()
  } finally {
    await run.end()
  }
}

class ProbeRun {
  readonly #hands: ProbeHands
  readonly #namespace: string
  readonly #run: string
  readonly #pods: ProbePods
  readonly #waiting: Probe[]
  readonly #active = new Map<string, Try>()
  readonly #results = new Map<Probe, ImageProbe>()
  readonly #probes: readonly Probe[]
  #room = atOnce
  #made = 0
  #lastWord: number

  constructor({ probes, namespace, run }: ProbeWork, hands: ProbeHands) {
    this.#hands = hands
    this.#namespace = namespace
    this.#run = run
    this.#pods = new ProbePods(hands.cluster, { namespace, run })
    this.#probes = probes
    this.#waiting = [...probes]
    this.#lastWord = this.#now
  }

  /** In the order of the probes. */
  async results(): Promise<readonly ImageProbe[]> {
    const { clock, signal } = this.#hands
    for (;;) {
      signal.throwIfAborted()
      await this.#fill()
      if (this.#active.size === 0 && this.#waiting.length === 0) break
      await clock.sleep(pause, signal)
      await this.#judge()
    }
    return this.#probes.flatMap((probe) => this.#results.get(probe) ?? [])
  }

  async end(): Promise<void> {
    try {
      await this.#pods.removeAll()
    } catch (error) {
      this.#hands.left(error)
    }
  }

  get #now(): number {
    return ticks(this.#hands.clock)
  }

  async #fill(): Promise<void> {
    const batch = this.#waiting.splice(0, Math.max(0, this.#room - this.#active.size))
    const began = this.#now
    const tried = await Promise.all(
      batch.map(async (probe) => {
        const name = `kvup-probe-${this.#run}-${++this.#made}`
        const created = await this.#pods.create(probe, name)
        if (created.is === 'made') this.#active.set(name, { probe, began })
        return { probe, created }
      }),
    )
    for (const { probe, created } of tried) if (created.is !== 'made') this.#refused(probe, created)
  }

  /** A quota may leave room for fewer at once; for none is for good. */
  #refused(probe: Probe, { is, why, message }: Exclude<Created, { is: 'made' }>): void {
    if (is === 'full' && this.#active.size > 0) {
      this.#room = this.#active.size
      this.#waiting.push(probe)
    } else this.#tell(probe, { is: 'untried', why, message }, this.#now)
  }

  async #judge(): Promise<void> {
    const pods = await this.#pods.mine()
    await Promise.all([...this.#active].map(([name, one]) => this.#judgeOne(name, one, pods.get(name))))
    if (this.#active.size === 0 || this.#now - this.#lastWord < heartbeat) return
    this.#lastWord = this.#now
    this.#hands.still([...new Set([...this.#active.values()].map(({ probe }) => probe.image))])
  }

  async #judgeOne(name: string, one: Try, pod: Pod | undefined): Promise<void> {
    const outcome = pod ? await this.#outcome(one, pod) : gone
    if (outcome === undefined) return
    this.#active.delete(name)
    this.#tell(one.probe, outcome, one.began)
    // What fails here is tried again at the end.
    if (pod) await this.#pods.remove(pod).catch(() => undefined)
  }

  /** Undefined: not yet. */
  async #outcome(one: Try, pod: Pod): Promise<Outcome | undefined> {
    const look = lookOfPull(pod)
    if (look.is === 'pulled') return look
    if (look.is === 'ended') return one.failing ? refusedBy(one.failing.text) : { ...look, is: 'untried' }
    if (look.is === 'failing') return this.#failing(one, pod, look)
    if (this.#now - one.began < pullLimit * 1000 + grace) return undefined
    const text = await this.#events(pod)
    return { is: 'untried', why: 'it was not there in time', ...(text && { message: shorten(text) }) }
  }

  async #failing(one: Try, pod: Pod, { reason, message }: Extract<PullLook, { is: 'failing' }>) {
    one.failing ??= { since: this.#now, text: message || reason }
    // The words of a back-off have lost the cause; the event of the failure keeps it.
    if (pullFailure(one.failing.text) === undefined) {
      const text = [message, await this.#events(pod), reason].find((some) => some && pullFailure(some))
      one.failing.text = text ?? one.failing.text
    }
    const why = pullFailure(one.failing.text) ?? reason
    const waited = this.#now - one.failing.since
    return isLasting(why) || waited >= patience ? refusedBy(one.failing.text, why) : undefined
  }

  /** Warnings on the pod, in one text; empty where events may not be read. */
  async #events({ metadata: { name } }: Pod): Promise<string> {
    const where = { namespace: this.#namespace, fields: `involvedObject.name=${name},type=Warning` }
    const events = await known(this.#hands.cluster.reader.list(Events, where))
    return [...new Set(itemsOf(events).map(({ message = '' }) => message))].join('; ')
  }

  #tell(probe: Probe, outcome: Outcome, began: number): void {
    const { of, image, needed, nodes, node } = probe
    const result: ImageProbe = { of, image, needed, nodes, node, ...outcome }
    this.#results.set(probe, result)
    this.#lastWord = this.#now
    this.#hands.told(result, this.#now - began)
  }
}
