import type { Candidate } from './candidate.ts'
import { inOrder, type Order } from './order.ts'

/** How VMs are put into waves. */
export interface WavesWanted {
  order: Order
  /** Values of `--wave-by` in the order in which they are to come; the others follow by name. */
  first: readonly string[]
  /** So many before all others; 0: none. With `--canary-label` it is all that have it. */
  canaries: number
}

export interface Wave {
  /** `canary`, `wave-db`: stable while the VMs in it are, for the journal. */
  id: string
  /** Value of `--wave-by`; undefined: all in one wave, or the canary. */
  value?: string
  vms: readonly Candidate[]
}

/** What is known of the VMs before one of them is taken for a canary; `namespace/name` each. */
export interface CanariesSeen {
  /** So many have been moved already. */
  passed: number
  /** Chosen before, and not through: they stay the canary, also when they failed. */
  chosen?: ReadonlySet<string>
  /** Their last migration failed: they tell nothing of the new virt-launcher. */
  failing?: ReadonlySet<string>
}

/**
 * The canary, then wave after wave; none is empty. The canary of a number is taken from those that migrate, for a restart interrupts; first
 * those that were chosen before, last those that failed before. Pure.
 */
export function wavesOf(
  candidates: Iterable<Candidate>,
  wanted: WavesWanted,
  seen: CanariesSeen = { passed: 0 },
): readonly Wave[] {
  const ordered = inOrder(candidates, wanted.order)
  const canary = canariesOf(ordered, wanted, seen)
  const early = new Set(canary.map(({ vm }) => vm))
  const groups = Map.groupBy(
    ordered.filter(({ vm }) => !early.has(vm)),
    ({ wave }) => wave,
  )
  const values = [...groups.keys()].sort(
    (a, b) => byRank(rank(a, wanted.first), rank(b, wanted.first)) || (a < b ? -1 : 1),
  )
  return [
    ...(canary.length > 0 ? [{ id: 'canary', vms: canary }] : []),
    ...values.map((value) => waveOf(value, groups.get(value) ?? [])),
  ]
}

function canariesOf(
  ordered: readonly Candidate[],
  { canaries }: WavesWanted,
  { passed, chosen = new Set(), failing = new Set() }: CanariesSeen,
): readonly Candidate[] {
  const meant = ordered.filter(({ canary }) => canary)
  if (meant.length > 0) return meant
  const left = Math.max(0, canaries - passed)
  const migrating = ordered.filter(({ by }) => by === 'migration')
  const place = ({ vm }: Candidate) => (chosen.has(vm) ? 0 : failing.has(vm) ? 2 : 1)
  return (migrating.length > 0 ? migrating : ordered).toSorted((a, b) => place(a) - place(b)).slice(0, left)
}

/** Those that were not named come last, the ones without a value behind them. */
function rank(value: string, first: readonly string[]): number {
  const place = first.indexOf(value)
  if (place !== -1) return place
  return value === '' ? Infinity : first.length
}

function waveOf(value: string, vms: readonly Candidate[]): Wave {
  return value === '' ? { id: 'wave', vms } : { id: `wave-${value}`, value, vms }
}

/** Infinity less Infinity is no number. */
const byRank = (a: number, b: number): number => Number(a > b) - Number(a < b)
