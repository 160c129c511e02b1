import { narrowedLine } from '../../output/kvup-words.ts'
import type { ForecastTotals } from './forecast-report.ts'
import { type Counts, type NamespaceTotals, type ForecastPage } from './forecast-report.ts'
import type { WholeTime } from './migration-time.ts'
import { type Span } from './migration-time.ts'
import type { CommandContext } from '../../kube/world.ts'
import type { Version } from '../../releases/release-versions.ts'
import { usageError } from '../../kube/errors.ts'
import { type ForecastItem, outcomes } from './vm-forecast.ts'
import type { SelectedVms } from '../vm-selection.ts'
import { lateRemarks } from './cluster-room.ts'

import type { Basis } from './forecast-basis.ts'

/** What was asked for, and what is left of the rows once they are printed. */
export interface Foretold {
  selection: SelectedVms
  to: Version | undefined
  totals: ForecastTotals
  current: number
  time: WholeTime | undefined
  unread: { namespace?: string; what: string; why: string }[]
  remarks: string[]
}

export const foundNone = ({ totals, current, unread }: Foretold): boolean =>
  totals.total + current + unread.length === 0

export const isUneven = ({ byFate, total }: ForecastTotals): boolean =>
  total - byFate.migrates - byFate['is down'] > 0

export function fold(foretold: Foretold, { items, current, unread }: ForecastPage): void {
  foretold.current += current
  foretold.unread.push(...unread)
  for (const item of items) {
    foretold.totals.add(item)
    if (item.seconds) foretold.time?.addMigration(item.node ?? '', item.seconds)
    else if (item.will === 'restarts' || item.will === 'shuts down' || item.will === 'is lost')
      foretold.time?.addEviction()
  }
}

/** Everything besides the rows. Pure. */
export function forecastDocument(
  { selection, to, totals, current, time, unread, remarks }: Foretold,
  { at, context, room, judging, methodsFrom, remarks: known }: Basis,
): ForecastDocument {
  const next = nextOf(totals.byFate, {
    selection,
    to: to?.text,
    methodsFrom,
    methods: judging?.rules.methods,
  })
  const span = time?.span
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadForecast',
    asOf: at.toISOString(),
    selection,
    ...(to && { to: to.text }),
    ...(judging && { methods: judging.rules.methods }),
    methodsFrom,
    totals: { total: totals.total, byFate: totals.byFate, current, namespaces: totals.namespaces },
    ...(span && { seconds: span }),
    unread: [...context.unread, ...unread],
    remarks: [...known, ...room.remarks, ...lateRemarks(room), ...remarks],
    ...(next !== undefined && { next }),
  }
}

interface Judged {
  selection: SelectedVms
  to: string | undefined
  methodsFrom: Basis['methodsFrom']
  methods: readonly string[] | undefined
}

/** What is held, or only supposed, needs no hold. */
function nextOf(
  counts: Foretold['totals']['byFate'],
  { selection, to, methodsFrom, methods = [] }: Judged,
): string | undefined {
  if (to !== undefined) return `kvup plan --to ${to}`
  const interrupted = counts.restarts + counts['shuts down'] + counts['is lost']
  if (interrupted + counts.stays + counts.migrates === 0) return undefined
  if (methodsFrom === 'flag')
    return `kvup workloads strategy set --methods ${methods.join(',') || 'none'} --dry-run=client`
  if (methodsFrom === 'loan') return narrowedLine('kvup workloads update', selection)
  return interrupted > 0 ? 'kvup workloads hold' : narrowedLine('kvup workloads outdated', selection)
}

interface SavedForecast {
  asOf: string
  to?: string
  items: readonly ForecastItem[]
}

export async function savedForecast({ world }: CommandContext, file: string): Promise<SavedForecast> {
  const text = file === '-' ? await world.readStdin() : await read(world, file)
  try {
    const saved: unknown = JSON.parse(text)
    if (isForecast(saved)) return saved
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw usageError('not-a-forecast', `${JSON.stringify(file)} holds no forecast`, {
    remedy: 'kvup workloads forecast -o json > FILE, before the VMs are moved',
  })
}

async function read(world: CommandContext['world'], file: string): Promise<string> {
  try {
    return await world.readText(file)
  } catch (cause) {
    throw usageError('no-such-file', `cannot read ${JSON.stringify(file)}`, { cause })
  }
}

function isForecast(saved: unknown): saved is SavedForecast {
  const { kind, asOf, items } = (saved ?? {}) as Record<string, unknown>
  return (
    kind === 'WorkloadForecast' && typeof asOf === 'string' && Array.isArray(items) && items.every(isItem)
  )
}

function isItem(item: unknown): item is ForecastItem {
  const { namespace, name, will } = (item ?? {}) as Record<string, unknown>
  const known = will === undefined || outcomes.some((one) => one === will)
  return typeof namespace === 'string' && typeof name === 'string' && known
}

/** Besides its `items`, which are ForecastItem. Times are RFC 3339. */
export interface ForecastDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'WorkloadForecast'
  asOf: string
  selection: { namespace?: string; labels?: string }
  /** The version that was asked for; absent: the one that is installed. */
  to?: string
  /** The methods that it is judged by. Absent: they may not be read. */
  methods?: readonly string[]
  /** `loan`: kvup borrowed them, and gives these back; `flag`: --methods. */
  methodsFrom: 'cluster' | 'loan' | 'flag' | 'unknown'
  totals: {
    total: number
    byFate: Counts
    /** VMs that run the new virt-launcher already: no rows. */
    current: number
    namespaces: readonly NamespaceTotals[]
  }
  /** How long the whole takes, in seconds; absent: nothing moves, or it is not known. */
  seconds?: Span
  unread: readonly { namespace?: string; what: string; why: string }[]
  remarks: readonly string[]
  next?: string
}

/** Besides its `items`, which are ScoredItem. Times are RFC 3339. */
export interface ForecastScoreDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'WorkloadForecast'
  asOf: string
  /** When the forecast was made, and for which version. */
  forecastOf: { asOf: string; to?: string }
  score: { total: number; agreed: number; unknown: number }
}
