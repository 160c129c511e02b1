import { formatDuration } from '../../system/duration.ts'
import type { Candidate } from './candidate.ts'
import { nextOpening, openUntil, type Window } from './windows.ts'

/** How fast VMs may be moved. Times in ms. */
export interface Pacing {
  /** Under way at a time, those that others began included. */
  parallel: number
  /** Of those, away from one node: more would only wait in KubeVirt (facts 3.3). */
  perNode: number
  /** Between the end of a wave and the beginning of the next. */
  pause: number
  /** How long a VM has to be well before the next that is kept apart from it. */
  soak: number
  windows: readonly Window[]
}

/** What is under way in the whole cluster, whoever began it. Times in ms since the epoch. */
export interface Traffic {
  /** Every VM that has an unfinished migration or a restart under way: never a second one. */
  moving: ReadonlySet<string>
  /** How many of them leave a node. */
  fromNode: ReadonlyMap<string, number>
  /** Values that are kept apart, and when the last VM of each was well again; Infinity while one moves. */
  apart: ReadonlyMap<string, number>
  /** VMs that are not tried before this time: back-off after a failure. */
  notBefore: ReadonlyMap<string, number>
  /** When the last VM of an earlier wave was through. */
  wavedAt?: number | undefined
}

export type Turn =
  | { is: 'begin'; vms: readonly Candidate[] }
  /** `until`: ms since the epoch, where the time is known. */
  | { is: 'wait'; on: string; until?: number | undefined }

/** Whose turn it is now, among those of a wave that are to be moved still. Pure. */
export function turnOf(
  queue: readonly Candidate[],
  traffic: Traffic,
  { pacing, now }: { pacing: Pacing; now: number },
): Turn {
  const closed = whenClosed(pacing, now) ?? whenPaused(traffic, { pacing, now })
  if (closed !== undefined) return closed
  const free = pacing.parallel - traffic.moving.size
  if (free <= 0) return { is: 'wait', on: underWay(traffic) }
  const picked = new Picked(traffic, { pacing, now })
  for (const one of queue) if (picked.vms.length < free) picked.offer(one)
  return picked.vms.length > 0 ? { is: 'begin', vms: picked.vms } : picked.wait
}

function whenClosed({ windows }: Pacing, now: number): Turn | undefined {
  if (openUntil(windows, now) !== undefined) return undefined
  const until = nextOpening(windows, now)
  const when = until === undefined ? '' : ` at ${new Date(until).toISOString()}`
  return { is: 'wait', on: `the window to open${when}`, until }
}

function whenPaused(
  { wavedAt }: Traffic,
  { pacing, now }: { pacing: Pacing; now: number },
): Turn | undefined {
  const until = wavedAt === undefined ? now : wavedAt + pacing.pause
  if (until <= now) return undefined
  return { is: 'wait', on: `the pause of ${formatDuration(pacing.pause)} between waves`, until }
}

/** Takes one VM after the other, unless something is against it now. */
class Picked {
  readonly vms: Candidate[] = []
  readonly #traffic: Traffic
  readonly #pacing: Pacing
  readonly #now: number
  readonly #fromNode: Map<string, number>
  readonly #apart = new Set<string>()
  /** The soonest that somebody is free again. */
  #wait: Extract<Turn, { is: 'wait' }> | undefined

  constructor(traffic: Traffic, { pacing, now }: { pacing: Pacing; now: number }) {
    this.#traffic = traffic
    this.#pacing = pacing
    this.#now = now
    this.#fromNode = new Map(traffic.fromNode)
  }

  get wait(): Turn {
    return this.#wait ?? { is: 'wait', on: 'VMs that are under way' }
  }

  offer(one: Candidate): void {
    if (this.#traffic.moving.has(one.vm)) return
    const against = this.#backOff(one) ?? this.#kept(one) ?? this.#node(one)
    if (against !== undefined) {
      if (soonest(against) < soonest(this.#wait)) this.#wait = against
      return
    }
    this.vms.push(one)
    if (one.apart !== undefined) this.#apart.add(one.apart)
    if (one.node !== undefined && one.by === 'migration')
      this.#fromNode.set(one.node, (this.#fromNode.get(one.node) ?? 0) + 1)
  }

  #backOff({ vm }: Candidate): Extract<Turn, { is: 'wait' }> | undefined {
    const until = this.#traffic.notBefore.get(vm) ?? 0
    if (until <= this.#now) return undefined
    const others = this.#traffic.moving.size > 0 ? `${underWay(this.#traffic)}, and ` : ''
    return { is: 'wait', on: `${others}the back-off of ${vm}`, until }
  }

  /** Night W4. */
  #kept({ apart, vm }: Candidate): Extract<Turn, { is: 'wait' }> | undefined {
    if (apart === undefined) return undefined
    if (this.#apart.has(apart)) return { is: 'wait', on: `${vm}, which is kept apart`, until: Infinity }
    const wellAt = this.#traffic.apart.get(apart)
    const until = wellAt === undefined ? 0 : wellAt + this.#pacing.soak
    return until > this.#now ? { is: 'wait', on: `what ${vm} is kept apart from`, until } : undefined
  }

  #node({ node, by }: Candidate): Extract<Turn, { is: 'wait' }> | undefined {
    const leaving = node === undefined || by === 'restart' ? 0 : (this.#fromNode.get(node) ?? 0)
    return leaving >= this.#pacing.perNode
      ? { is: 'wait', on: `${leaving} migrations away from ${node}`, until: Infinity }
      : undefined
  }
}

const underWay = ({ moving: { size } }: Traffic): string =>
  size === 1 ? '1 VM that is under way' : `${size} VMs that are under way`

const soonest = (wait: { until?: number | undefined } | undefined): number =>
  wait === undefined ? Number.POSITIVE_INFINITY : Math.min(wait.until ?? Number.MAX_VALUE, Number.MAX_VALUE)
