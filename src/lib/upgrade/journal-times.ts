import type { Entry } from '../procedure/journal.ts'

/** What earlier upgrades by kvup on this cluster took, in ms. */
export interface JournalTimes {
  /** Whole runs that began the change and saw the end of it, the oldest first. */
  whole: readonly number[]
  /** What lay between two changes, or after the last one. */
  spans: readonly JournalSpan[]
}

export interface JournalSpan {
  /** Id of the step whose change was made at its beginning. */
  after: string
  /** Id of the step whose change came next; absent: the run was through. */
  before?: string
  ms: number
}

/** The changes that set a new version going. */
const changes = new Set(['apply-operator-manifest', 'set-image-tag'])

/**
 * Reads the times out of a journal. Pure. A run that was interrupted, failed or killed, or that went on with what another one had
 * begun, is left out: what it took says nothing of a whole upgrade.
 */
export function journalTimes(entries: readonly Entry[]): JournalTimes {
  const runs = finishedRuns(entries.filter(({ procedure }) => procedure.startsWith('upgrade to ')))
  return { whole: runs.map(lengthOf), spans: runs.flatMap(spansOf) }
}

function finishedRuns(entries: readonly Entry[]): Entry[][] {
  const runs: Entry[][] = []
  let open: Entry[] | undefined
  for (const entry of entries) {
    if (entry.what === 'started') open = []
    open?.push(entry)
    if (entry.what === 'failed' || entry.what === 'interrupted') open = undefined
    if (entry.what !== 'finished') continue
    if (open !== undefined && isWhole(open)) runs.push(open)
    open = undefined
  }
  return runs
}

/** Every change that it found made was its own: one that a cut-off run made is only written down (as applied) by the next. */
function isWhole(run: readonly Entry[]): boolean {
  const intended = new Set(run.filter(({ what }) => what === 'intends').map(({ step }) => step))
  const applied = run.filter(({ what }) => what === 'applied').map(({ step }) => step)
  return applied.some((step) => changes.has(step)) && applied.every((step) => intended.has(step))
}

function spansOf(run: readonly Entry[]): JournalSpan[] {
  return run.flatMap((entry, index): JournalSpan[] => {
    if (entry.what !== 'applied') return []
    const next = run.slice(index + 1).find(({ what }) => what === 'intends' || what === 'finished')
    if (next === undefined) return []
    const [after, before] = [idOf(entry), idOf(next)]
    return after === before ? [] : [{ after, ...(before !== '' && { before }), ms: between(entry, next) }]
  })
}

/** Without the number of a repetition. */
const idOf = ({ step }: Entry): string => step.replace(/#\d+$/, '')

const between = (from: Entry, to: Entry): number => Math.max(0, Date.parse(to.at) - Date.parse(from.at))

function lengthOf(run: readonly Entry[]): number {
  const [first, last] = [run[0], run.at(-1)]
  return first && last ? between(first, last) : 0
}
