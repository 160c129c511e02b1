import type { Entry } from '../../procedure/journal.ts'
import { minutes } from '../../system/units.ts'

/** An upgrade by kvup, and from when to when it was at work; resumed, it is one. */
interface UpgradeRun {
  procedure: string
  from: string
  to: string
}

/** How long after the end of an upgrade its new virt-controller may still find what it changed. */
const aftermath = 15 * minutes

/** The upgrade during which, or right after which, something began, by the journal; undefined where none was at work, or it is forgotten. Pure. */
export function upgradeAt(
  entries: readonly Entry[],
  since: string | undefined,
): { procedure: string; at: string } | undefined {
  const time = Date.parse(since ?? '')
  const run = runsIn(entries).findLast(
    ({ from, to }) => Date.parse(from) <= time && time <= Date.parse(to) + aftermath,
  )
  return run && { procedure: run.procedure, at: run.from }
}

function runsIn(entries: readonly Entry[]): readonly UpgradeRun[] {
  const runs: (UpgradeRun & { over: boolean })[] = []
  for (const { procedure, at, what } of entries) {
    if (!procedure.startsWith('upgrade ')) continue
    const last = runs.at(-1)
    const over = what === 'finished'
    if (last === undefined || last.over || last.procedure !== procedure)
      runs.push({ procedure, from: at, to: at, over })
    else Object.assign(last, { to: at, over })
  }
  return runs
}
