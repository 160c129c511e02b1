import { spanText } from '../../kube/duration.ts'
import { estimateOf, nextOpening, openUntil, type Pacing } from './pacing.ts'
import type { Wave } from './waves.ts'

type Windows = Pacing['windows']

/** A time in which nobody's turn comes; without `from` it has begun. RFC 3339. */
export interface Closure {
  from?: string
  until: string
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** So many are told beforehand: whoever needs more of them needs weeks. */
const closuresAtMost = 8

/** The times from now on in which all windows are closed; none without windows. Pure. */
export function closuresAfter(windows: Windows, now: number): readonly Closure[] {
  const found: Closure[] = []
  for (let at = now; found.length < closuresAtMost;) {
    const closes = openUntil(windows, at)
    if (closes === Infinity) break
    const opens = nextOpening(windows, closes ?? at)
    if (opens === undefined) break
    found.push({ ...(closes !== undefined && { from: iso(closes) }), until: iso(opens) })
    at = opens
  }
  return found
}

/** Work that goes on while a window is open alone. ms since the epoch. */
interface Spread {
  begins: number
  ends: number
  /** How long the window is open in which it begins, from then on. */
  room: number
  /** Windows that it goes over. */
  windows: number
}

/** Windows that are looked at for one piece of work: a daily one for a year. */
const mostWindows = 400

/** When so much work, begun no sooner than `from`, is through; undefined where that is in no time that matters. Pure. */
export function spreadOver(windows: Windows, from: number, work: number): Spread | undefined {
  let at = nextOpening(windows, from)
  if (at === undefined) return undefined
  const begins = at
  const room = (openUntil(windows, at) ?? at) - at
  let left = work
  for (let count = 1; count <= mostWindows; count++) {
    const span: number = (openUntil(windows, at) ?? at) - at
    if (left <= span) return { begins, ends: at + left, room, windows: count }
    left -= span
    at = nextOpening(windows, at + span)
    if (at === undefined) return undefined
  }
  return undefined
}

/** When the turn of a wave comes, as far as estimates go. Times are RFC 3339. */
export interface WaveTime {
  id: string
  /** ms */
  estimate: number
  begins: string
  ends: string
  /** It does not fit into the window in which it begins: so many it goes over. */
  windows: number
  /** How long that one is open from its beginning on, ms. */
  room: number
}

/** One after the other, with the pause between them; none without windows. It ends before the first that is in no time that matters. Pure. */
export function waveTimes(waves: readonly Wave[], pacing: Pacing, now: number): readonly WaveTime[] {
  if (pacing.windows.length === 0) return []
  const times: WaveTime[] = []
  let from = now
  for (const { id, vms } of waves.filter((wave) => wave.vms.length > 0)) {
    const estimate = estimateOf(vms, pacing)
    const spread = spreadOver(pacing.windows, from, estimate)
    if (spread === undefined) break
    const { begins, ends, room, windows } = spread
    times.push({ id, estimate, begins: iso(begins), ends: iso(ends), windows, room })
    from = ends + pacing.pause
  }
  return times
}

/** The next opening of the windows that were typed, as a document has it. RFC 3339. */
export interface ShownWindow {
  /** As they were typed. */
  typed: readonly string[]
  opens: string
  closes: string
}

/** Undefined without windows, and where none opens in any time that matters. Pure. */
export function shownWindow(windows: Windows, now: number): ShownWindow | undefined {
  const opens = windows.length === 0 ? undefined : nextOpening(windows, now)
  const closes = opens === undefined ? undefined : openUntil(windows, opens)
  if (opens === undefined || closes === undefined || closes === Infinity) return undefined
  return { typed: windows.map(({ text }) => text), opens: iso(opens), closes: iso(closes) }
}

const whole = (time: string): string => time.replace(/\.\d+Z$/u, 'Z')

/**
 * What a person has to know of them before the answer: when they open, when the turn of each wave comes, which of them one window is too short for, and where the time of the
 * run is over before. `ends`: of the run, ms since the epoch. Pure.
 */
export function windowLines(
  shown: ShownWindow | undefined,
  times: readonly WaveTime[],
  { now, ends }: { now: number; ends: number },
): readonly string[] {
  if (shown === undefined) return []
  const opens = Date.parse(shown.opens)
  const wait = opens > now ? `, in ${spanText(opens - now)}` : ''
  const head = `VMs start only in ${shown.typed.map((text) => `"${text}"`).join(' or ')}: ${opens > now ? `opens at ${whole(shown.opens)}${wait}` : 'open now'}, closes at ${whole(shown.closes)}`
  const late = times.findLast((time) => Date.parse(time.ends) > ends)
  return [
    head,
    ...times.map(waveLine),
    ...(late === undefined
      ? []
      : [`${late.id} does not finish before the timeout (--timeout), at ${whole(iso(ends))}`]),
  ]
}

function waveLine({ id, estimate, begins, ends, windows, room }: WaveTime): string {
  const when = `starts at ${whole(begins)}, done by about ${whole(ends)}`
  const took = `${id}: about ${spanText(estimate)}, ${when}`
  if (windows === 1) return took
  return `${took}; its time window is too short for it, ${spanText(room)} of ${spanText(estimate)}: the rest waits for the next ones, ${windows} windows in all`
}
