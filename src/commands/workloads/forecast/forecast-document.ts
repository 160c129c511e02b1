import type { ForecastDocument } from '../../../lib/output/views/workload-forecast.ts'
import { lateRemarks } from '../../../lib/workloads/forecast/room.ts'
import { narrowedLine } from '../../../lib/system/narrowed-line.ts'
import type { SelectedVms } from '../outdated/selection.ts'
import type { Basis } from './basis.ts'
import type { Foretold } from './forecast.ts'

/** Everything besides the rows. Pure. */
export function forecastDocument(
  { selection, to, totals, current, time, unread, remarks }: Foretold,
  { at, surroundings, room, judging, methodsFrom, remarks: known }: Basis,
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
    unread: [...surroundings.unread, ...unread],
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
