import { formatDuration } from '../../kube/duration.ts'
import type { Candidate } from './waves.ts'
import { nextOpening, openUntil, type Window } from './time-windows.ts'
import { minutes, seconds } from '../../kube/clock.ts'

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

  /** A VM that has to be kept apart from others waits until they are through (night W4). */
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

/** A VM whose turn went wrong for good: its tries are over. */
export interface FailedVm {
  vm: string
  reason: string
}

/** What the rules are held against. Times in ms. */
export interface PacingState {
  /** VMs that failed in this run. */
  failed: readonly FailedVm[]
  /** Those of the canary among them. */
  canary: boolean
  maxFailures: number
  /** VMs with more than one launcher alive although no migration of them is under way. */
  split: readonly string[]
  /** Restarted VMs that are not back in time. */
  missing: readonly string[]
  /** For how long nothing that is under way has got any further; undefined: nothing is under way. */
  still?: number | undefined
  stillAtMost: number
}

export interface Stop {
  /** Stable, for scripts. */
  reason: 'two-launchers' | 'did-not-come-back' | 'canary-failed' | 'too-many-failures' | 'update-stalled'
  text: string
}

/** Why no further VM may be moved, the gravest first; undefined: go on. Pure (night W3, W5). */
export function stopOf(conditions: PacingState): Stop | undefined {
  const { failed, split, missing, canary, maxFailures, still = 0, stillAtMost } = conditions
  if (split.length > 0)
    return {
      reason: 'two-launchers',
      text: `${listed(split)}: two launchers run for one VMI, which can destroy its data`,
    }
  if (missing.length > 0)
    return { reason: 'did-not-come-back', text: `${listed(missing)} did not come back after the restart` }
  if (canary && failed.length > 0)
    return { reason: 'canary-failed', text: `the canary failed: ${told(failed)}` }
  if (failed.length >= maxFailures)
    return {
      reason: 'too-many-failures',
      text: `${failed.length} of at most ${maxFailures} failures: ${told(failed)}`,
    }
  if (still > stillAtMost)
    return {
      reason: 'update-stalled',
      text: `nothing that is under way has moved for ${formatDuration(still)}`,
    }
  return undefined
}

const few = 5

function listed(vms: readonly string[]): string {
  return `${vms.slice(0, few).join(', ')}${vms.length > few ? ` and ${vms.length - few} more` : ''}`
}

/** VMs that failed for the same reason are named together: it is mostly one (night W5). */
function told(failed: readonly FailedVm[]): string {
  const groups = [...Map.groupBy(failed, ({ reason }) => reason)]
  return groups.map(([reason, vms]) => `${listed(vms.map(({ vm }) => vm))}: ${reason}`).join('; ')
}

const oneMigration = 30 * seconds
/** Without the time that its guest may take to shut down. */
const oneRestart = 1 * minutes

/** How long a wave takes, ms, grace periods and soaks included: those that are kept apart follow each other (night W4). Pure. */
export function estimateOf(
  vms: readonly Candidate[],
  { parallel, soak }: Pick<Pacing, 'parallel' | 'soak'>,
): number {
  if (vms.length === 0) return 0
  const spread = sum(vms.map(costOf)) / Math.max(1, Math.min(parallel, vms.length))
  const apart = [...Map.groupBy(vms, (one) => one.apart)].map(([value, group]) =>
    value === undefined ? 0 : sum(group.map(costOf)) + soak * (group.length - 1),
  )
  return [spread, ...apart, ...vms.map(costOf)].reduce((most, one) => Math.max(most, one))
}

const costOf = ({ by, grace = 0 }: Candidate): number =>
  by === 'restart' ? oneRestart + grace : oneMigration
const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0)
