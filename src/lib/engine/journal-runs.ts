import { filled } from '../kube/known.ts'
import type { Entry } from './journal.ts'

type What = Entry['what']

/** What a run that ends early writes down; one that is killed does not. */
export const cutShort: ReadonlySet<What> = new Set<What>(['interrupted', 'failed'])
/** What a run writes down that came to its end. */
export const finished: ReadonlySet<What> = new Set<What>(['finished'])
/** Every end that a run can write down. */
export const ends: ReadonlySet<What> = new Set<What>([...finished, ...cutShort])

/** The journal shows a change of a run of this procedure, and behind it none of these ends: with `ends` a run that is at work or was killed. */
export const isUnderWay = (entries: readonly Entry[], procedure: string, ended: ReadonlySet<What>): boolean =>
  hasChanged(
    entries.filter((entry) => entry.procedure === procedure),
    ({ what }) => ended.has(what),
  )

/** They show a change, and none of these ends behind it. */
export const hasChanged = (own: readonly Entry[], isEnd: (entry: Entry) => boolean): boolean =>
  own.slice(own.findLastIndex(isEnd) + 1).some(({ what }) => what === 'intends' || what === 'applied')

/** A run as the journal tells it: what anybody who may write its ConfigMap can have written. Evidence, never an order. */
export interface JournalRun extends Pick<
  Entry,
  'procedure' | 'by' | 'from' | 'to' | 'availability' | 'findings' | 'rehearsal'
> {
  /** Counts up per cluster, as `kvup history RUN` takes it. */
  run: number
  /** RFC 3339. */
  started: string
  /**
   * `incomplete`: it came to its end, and VMs failed. `stopped`: where --until or the like said so. `awaits-approval`: where it may not approve itself. `cut-off`: it wrote
   * down no end, and nobody is at work.
   */
  result:
    | 'done'
    | 'incomplete'
    | 'stopped'
    | 'awaits-approval'
    | 'interrupted'
    | 'failed'
    | 'running'
    | 'cut-off'
  /** Why it ended before its goal, and at which step. */
  reason?: string
  step?: string
  ended?: string
  tookMs?: number
  continues?: number
  continuedBy?: number
  accepted: readonly TakenRisk[]
}

/** A risk that somebody took: by whom, as the API server and as the machine know him. */
export interface TakenRisk {
  id: string
  reason?: string
  /** user@host. */
  by: string
  user?: string
}

interface Numbered {
  run: number
  entries: readonly Entry[]
}

/** A number beyond is nobody's count: who wrote it would have the numbers end. */
const mostRuns = 1_000_000

/**
 * Entries by run, the oldest first. Numbers count up: one that is written down counts where it goes on from the one before. A journal of an earlier kvup has none:
 * there each start is the next run, and what has lost its start is a run as well.
 */
export function entriesByRun(entries: readonly Entry[]): readonly Numbered[] {
  const runs: { run: number; entries: Entry[] }[] = []
  for (const entry of entries) {
    const last = runs.at(-1)
    const run = isAfter(entry.run, last?.run ?? 0) ? entry.run : undefined
    if (last !== undefined && entry.what !== 'started' && run === undefined) last.entries.push(entry)
    else runs.push({ run: run ?? (last?.run ?? 0) + 1, entries: [entry] })
  }
  return runs
}

const isAfter = (run: number | undefined, before: number): run is number =>
  run !== undefined && Number.isSafeInteger(run) && run > before && run <= mostRuns

/** The same entries and one more, all with the numbers of their runs: numbers stay when the oldest entries go. */
export const withNumber = (entries: readonly Entry[], entry: Entry): readonly Entry[] =>
  entriesByRun([...entries, entry]).flatMap(({ run, entries: own }) =>
    own.map((one) => (one.run === run ? one : { ...one, run })),
  )

/** Of a run that is over and long ago these stay longest: who, when, which risks, what was changed for a time, how it ended. */
const headlines: ReadonlySet<Entry['what']> = new Set([
  'started',
  'accepted',
  'saved',
  'restored',
  'closed',
  ...ends,
])

/**
 * Makes room, run by run from the oldest on, before whole entries go: first the intents of changes that are known to be made, then all but the
 * headlines. Never of the last run, nor of one whose work nobody has finished since.
 */
export function thinned(
  entries: readonly Entry[],
  fits: (entries: readonly Entry[]) => boolean,
): readonly Entry[] {
  const parts = entriesByRun(entries).map(({ entries: own }) => own)
  for (const thin of [withoutKeptIntents, headlinesOnly])
    for (const [index, own] of parts.slice(0, -1).entries()) {
      if (fits(parts.flat())) return parts.flat()
      if (isFinished(own, parts.slice(index))) parts[index] = thin(own)
    }
  return parts.flat()
}

const isFinished = ([first]: readonly Entry[], since: readonly (readonly Entry[])[]): boolean =>
  since.flat().some(({ what, procedure }) => what === 'finished' && procedure === first?.procedure)

const withoutKeptIntents = (own: readonly Entry[]): readonly Entry[] =>
  own.filter(
    ({ what, step }) => what !== 'intends' || !own.some((one) => one.what === 'applied' && one.step === step),
  )

const headlinesOnly = (own: readonly Entry[]): readonly Entry[] =>
  own.filter(({ what }) => headlines.has(what))

interface Beside {
  running?: { since?: string; gone?: unknown } | undefined
  /** Spans of a run that goes on count to here. */
  asOf: string
}

/** What became of each run, the oldest first. Pure. */
export function journalRuns(entries: readonly Entry[], beside: Beside): readonly JournalRun[] {
  const runs: JournalRun[] = []
  const parts = entriesByRun(entries)
  for (const [index, part] of parts.entries()) {
    const [first] = part.entries
    if (first === undefined) continue
    const continued = leftUnfinished(runs, first.procedure)
    const run = runOf(part, first, { ...beside, continued, isLast: index === parts.length - 1 })
    if (continued !== undefined) continued.continuedBy = run.run
    runs.push(run)
  }
  return runs
}

/** The last run of this procedure, where it did not come to its end and no other upgrade has since. */
function leftUnfinished(runs: readonly JournalRun[], procedure: string): JournalRun | undefined {
  const last = runs.findLast(
    (run) => run.procedure === procedure || (run.result === 'done' && run.to !== undefined),
  )
  return last?.procedure === procedure && last.result !== 'done' ? last : undefined
}

function runOf(
  { run, entries }: Numbered,
  first: Entry,
  beside: Beside & { continued: JournalRun | undefined; isLast: boolean },
): JournalRun {
  const { procedure, by, at: started } = first
  const { continued } = beside
  const { availability } = entries.findLast((entry) => entry.availability !== undefined) ?? {}
  const { rehearsal } = entries.findLast((entry) => entry.rehearsal !== undefined) ?? {}
  return {
    run,
    procedure,
    by,
    started,
    ...filled({ from: continued?.from ?? first.from, to: first.to ?? continued?.to }),
    ...outcomeOf(entries, started, beside),
    ...filled({ continues: continued?.run }),
    accepted: entries.filter(({ what }) => what === 'accepted').map(takenRisk),
    ...filled({ availability, findings: first.findings, rehearsal }),
  }
}

function outcomeOf(
  entries: readonly Entry[],
  started: string,
  beside: Beside & { isLast: boolean },
): Pick<JournalRun, 'result' | 'step' | 'reason' | 'ended' | 'tookMs'> {
  const end = endOf(entries)
  const took = (until: string | undefined) => {
    const ms = Date.parse(until ?? '') - Date.parse(started)
    return ms >= 0 ? { tookMs: ms } : {}
  }
  if (end === undefined) {
    const result = beside.isLast && isAtWork(started, beside) ? 'running' : 'cut-off'
    const { step } = entries.findLast((entry) => entry.step !== '') ?? {}
    const until = result === 'running' ? beside.asOf : entries.at(-1)?.at
    return { result, ...(step !== undefined && { step }), ...took(until) }
  }
  const { step, at: ended } = end
  const { result, reason } = resultOf(end)
  const spent = { result, ended, ...took(ended) }
  return result === 'done' ? spent : { ...spent, ...filled({ step }), reason }
}

/** Changes of settings may be written down beside the end; every other entry behind it says that the run went on. */
function endOf(entries: readonly Entry[]): Entry | undefined {
  const last = entries.findLast(({ what }) => !['saved', 'restored', 'closed'].includes(what))
  return last !== undefined && ends.has(last.what) && last.by !== '' ? last : undefined
}

/** How the entry of a run begins that was told where to stop, or had no time for the next step. */
export const stoppedBefore = 'stopped before it'

/** The same of a run that ended where a person has to approve something. */
export const waitsForApproval = 'waits for approval'

/** How the entry of a run begins that came to its end without reaching all of it; behind a semicolon stands what it changed. */
export const incomplete = 'incomplete'

function resultOf({ what, text }: Entry): { result: JournalRun['result']; reason: string } {
  const behind = (start: string) => text.slice(`${start}: `.length)
  if (what === 'failed') return { result: 'failed', reason: text }
  if (what === 'finished') {
    if (!text.startsWith(`${incomplete}: `)) return { result: 'done', reason: '' }
    return { result: 'incomplete', reason: behind(incomplete).split('; ')[0] ?? '' }
  }
  if (text.startsWith(waitsForApproval))
    return { result: 'awaits-approval', reason: behind(waitsForApproval) }
  const isStopped = text.startsWith(stoppedBefore)
  return isStopped
    ? { result: 'stopped', reason: behind(stoppedBefore) }
    : { result: 'interrupted', reason: text }
}

/** Whoever has the lock took it before the run began. */
function isAtWork(started: string, { running }: Beside): boolean {
  if (running === undefined || running.gone) return false
  return running.since === undefined || Date.parse(running.since) <= Date.parse(started) + 1000
}

const prefix = 'accepted: '

const takenRisk = ({ step: id, text, user, by }: Entry): TakenRisk => ({
  id,
  by,
  ...(text.startsWith(prefix) && { reason: text.slice(prefix.length) }),
  ...filled({ user }),
})
