import { someOf } from '../../kube/text.ts'
import { spanText } from '../../kube/duration.ts'
import type { Candidate } from './waves.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import { usageError } from '../../kube/errors.ts'

/** How fast VMs may be moved. Times in ms. */
export interface Pacing {
  /** Under way at a time, those that others began included. */
  parallel: number
  /** Of those, away from one node: more would only wait in KubeVirt (facts 3.3). */
  perNode: number
  /** Between the end of a wave and the beginning of the next. */
  pause: number
  /** How long a VM has to be well before the next that runs apart from it. */
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
  return { is: 'wait', on: `the time window to open${when}`, until }
}

function whenPaused(
  { wavedAt }: Traffic,
  { pacing, now }: { pacing: Pacing; now: number },
): Turn | undefined {
  const until = wavedAt === undefined ? now : wavedAt + pacing.pause
  if (until <= now) return undefined
  return { is: 'wait', on: `the pause of ${spanText(pacing.pause)} between waves`, until }
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
    return this.#wait ?? { is: 'wait', on: 'VMs that are moving' }
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
    if (this.#apart.has(apart)) return { is: 'wait', on: `${vm}, which runs alone`, until: Infinity }
    const wellAt = this.#traffic.apart.get(apart)
    const until = wellAt === undefined ? 0 : wellAt + this.#pacing.soak
    return until > this.#now ? { is: 'wait', on: `what ${vm} runs apart from`, until } : undefined
  }

  #node({ node, by }: Candidate): Extract<Turn, { is: 'wait' }> | undefined {
    const leaving = node === undefined || by === 'restart' ? 0 : (this.#fromNode.get(node) ?? 0)
    return leaving >= this.#pacing.perNode
      ? { is: 'wait', on: `${leaving} migrations away from ${node}`, until: Infinity }
      : undefined
  }
}

const underWay = ({ moving: { size } }: Traffic): string =>
  size === 1 ? '1 VM that is moving' : `${size} VMs that are moving`

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
    return { reason: 'did-not-come-back', text: `${listed(missing)} did not start again after the restart` }
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
      text: `no VM has made progress for ${spanText(still)} (--stalled-after)`,
    }
  return undefined
}

const listed = (vms: readonly string[]): string => someOf(vms, vms.length, 5)

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

/** When VMs may begin to move: on these days, between these times of day of a zone. */
interface Window {
  /** As it was typed. */
  text: string
  /** 0 is Sunday: the days on which it opens. */
  days: readonly number[]
  /** Minutes since midnight; a window that ends before it begins ends on the next day. */
  from: number
  to: number
  zone: string
}

const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const day = 86_400_000
const form = /^(?<days>[A-Za-z,-]+)\s+(?<from>\d{1,2}:\d{2})-(?<to>\d{1,2}:\d{2})\s+(?<zone>\S+)$/u

/** `Sat 22:00-04:00 Europe/Prague`, `Mon-Fri,Sun 00:00-24:00 UTC`, `daily …`. Throws `usage`, also for one that never opens. */
export function parseWindow(typed: string): Window {
  const text = typed.trim().replaceAll(/\s+/gu, ' ')
  const found = form.exec(text)?.groups
  if (found === undefined) throw notAWindow(text, 'it needs days, times and a time zone')
  const { days = '', from = '', to = '', zone = '' } = found
  if (!isZone(zone)) throw notAWindow(text, `${JSON.stringify(zone)} is not a known time zone`)
  const window = {
    text,
    days: parseDays(days, text),
    from: minutesOf(from, text),
    to: minutesOf(to, text),
    zone,
  }
  if (window.from === window.to)
    throw usageError('window-never-opens', `the time window ${JSON.stringify(text)} starts when it ends`, {
      remedy: 'for the whole day: 00:00-24:00',
    })
  if (window.from >= 24 * 60) throw notAWindow(text, 'it starts after the end of the day')
  return window
}

/** Until when one of them is open, in ms since the epoch; undefined while all are closed. None at all: always open. Pure. */
export function openUntil(windows: readonly Window[], at: number): number | undefined {
  if (windows.length === 0) return Infinity
  let until = at
  for (;;) {
    const ends = windows
      .flatMap((one) => occurrences(one, until, 0))
      .filter(({ opens, closes }) => opens <= until && until < closes)
    if (ends.length === 0) return until === at ? undefined : until
    const next = Math.max(...ends.map(({ closes }) => closes))
    if (next - at > 8 * day) return Infinity
    until = next
  }
}

/** When the next of them opens, `at` or later; undefined: in no time that matters. Pure. */
export function nextOpening(windows: readonly Window[], at: number): number | undefined {
  if (openUntil(windows, at) !== undefined) return at
  const opens = windows.flatMap((one) => occurrences(one, at, daysAhead)).map((one) => one.opens)
  const later = opens.filter((time) => time > at)
  return later.length === 0 ? undefined : Math.min(...later)
}

/** A window that falls into the hour that is skipped opens a week later. */
const daysAhead = 15

interface Occurrence {
  opens: number
  closes: number
}

/** Those that begin on the day before `at` up to so many days after it, on the zone's calendar. */
function occurrences({ days, from, to, zone }: Window, at: number, ahead: number): readonly Occurrence[] {
  const today = Math.floor(clockIn(zone, at) / day) * day
  const found: Occurrence[] = []
  for (let date = today - day; date <= today + ahead * day; date += day) {
    if (!days.includes(new Date(date).getUTCDay())) continue
    const opens = instantIn(zone, date + from * 60_000)
    const closes = instantIn(zone, date + to * 60_000 + (to <= from ? day : 0))
    if (opens < closes) found.push({ opens, closes })
  }
  return found
}

function parseDays(typed: string, text: string): readonly number[] {
  if (typed.toLowerCase() === 'daily') return [0, 1, 2, 3, 4, 5, 6]
  return [...new Set(typed.split(',').flatMap((part) => daysIn(part, text)))]
}

function daysIn(part: string, text: string): readonly number[] {
  const [first = '', last = first, ...more] = part.split('-')
  const [from, to] = [dayOf(first, text), dayOf(last, text)]
  if (more.length > 0) throw notAWindow(text, `${JSON.stringify(part)} are no days`)
  return Array.from({ length: ((to - from + 7) % 7) + 1 }, (_, index) => (from + index) % 7)
}

function dayOf(word: string, text: string): number {
  const index = names.findIndex((name) => name.toLowerCase() === word.toLowerCase())
  if (index === -1) throw notAWindow(text, `${JSON.stringify(word)} is no day: ${names.join(', ')} or daily`)
  return index
}

function minutesOf(typed: string, text: string): number {
  const [hour = 0, minute = 0] = typed.split(':').map(Number)
  if (hour > 24 || minute > 59 || hour * 60 + minute > 24 * 60)
    throw notAWindow(text, `${typed} is no time of day`)
  return hour * 60 + minute
}

function notAWindow(text: string, why: string): Error {
  return usageError('not-a-window', `${JSON.stringify(text)} is not a time window: ${why}`, {
    remedy: "write it like 'Sat 22:00-04:00 Europe/Prague'",
  })
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Throws RangeError for a zone that is not in the tz database. */
function formatFor(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, format)
  return format
}

function isZone(zone: string): boolean {
  try {
    formatFor(zone)
    return true
  } catch {
    return false
  }
}

/** What the clocks of a zone show at an instant, as ms that read like UTC. Whole seconds. */
function clockIn(zone: string, at: number): number {
  const parts = new Map(
    formatFor(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
}

/**
 * The instant at which the clocks of a zone show this, which is given as ms that read like UTC: the first one where the hour is repeated,
 * and the one at which the clocks are set forward where they never show it.
 */
function instantIn(zone: string, shown: number): number {
  const key = `${zone} ${shown}`
  const known = instants.get(key) ?? foundInstant(zone, shown)
  instants.set(key, known)
  return known
}

/** Every look asks for the same few days, and the tz database is slow. */
const instants = new Map<string, number>()

function foundInstant(zone: string, shown: number): number {
  const offsets = [shown - day, shown + day].map((near) => clockIn(zone, near) - near)
  const candidates = offsets.map((offset) => shown - offset).sort((a, b) => a - b)
  const hit = candidates.find((at) => clockIn(zone, at) === shown)
  const [first = shown, last = shown] = candidates
  return hit ?? whenPast(zone, shown, { first, last })
}

/** The first instant at which the clocks show more than that: halved down to a second. */
function whenPast(zone: string, shown: number, between: { first: number; last: number }): number {
  let { first, last } = between
  while (last - first > 1000) {
    const middle = first + Math.floor((last - first) / 2000) * 1000
    if (clockIn(zone, middle) > shown) last = middle
    else first = middle
  }
  return last
}
