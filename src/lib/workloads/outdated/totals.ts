import type { Fate } from '../fate.ts'
import { canNarrow, narrowedLine } from '../../system/narrowed-line.ts'
import type { OutdatedItem } from './outdated-item.ts'
import type { Selection } from './selection.ts'

/** What is kept of the rows once they are printed. */
export interface Totals {
  total: number
  /** Those whose fate is not known are in `total` alone. */
  byFate: Record<Fate, number>
  /** On a launcher that is more than a year old. */
  old: number
}

export function noTotals(): Totals {
  return { total: 0, byFate: { migrates: 0, restarts: 0, 'shuts down': 0, 'is lost': 0, stays: 0 }, old: 0 }
}

export function addTo(totals: Totals, { will, launcher }: OutdatedItem): void {
  totals.total++
  if (will !== undefined) totals.byFate[will]++
  if (launcher.old) totals.old++
}

/**
 * What helps those that stay, folded: the commands of the first, and how many of each cause there are. Of a narrowed list no command that
 * would change other VMs too.
 */
export class NextStep {
  readonly #selection: Selection
  readonly #causes = new Map<string, { count: number; remedy: readonly string[] }>()

  constructor(selection: Selection) {
    this.#selection = selection
  }

  add({ will, why, remedy }: OutdatedItem): void {
    const [first] = why
    if (will !== 'stays' || !first) return
    const { count, remedy: found } = this.#causes.get(first.id) ?? { count: 0, remedy: [] }
    this.#causes.set(first.id, { count: count + 1, remedy: found.length > 0 ? found : remedy })
  }

  /** The command for the cause that keeps most of them; undefined where none stays that could be helped. */
  get command(): string | undefined {
    const [most] = [...this.#causes]
      .filter(([, { remedy }]) => remedy.length > 0)
      .toSorted(([, a], [, b]) => b.count - a.count)
    if (most === undefined) return undefined
    const [id, { count, remedy }] = most
    return count === 1 ? remedy[0] : (forMany[id]?.(this.#selection) ?? remedy[0])
  }
}

/** Where one command helps all of them. */
const forMany: Readonly<Record<string, (selection: Selection) => string | undefined>> = {
  denied: (selection) => (canNarrow(unblock, selection) ? narrowedLine(unblock, selection) : undefined),
  'not-migratable': restarting,
  external: restarting,
  'no-methods': (selection) => narrowedLine('kvup workloads update', selection),
}

const unblock = 'kvup workloads unblock --all'

function restarting(selection: Selection): string {
  return `${narrowedLine('kvup workloads update', selection)} --restart-unmigratable`
}
