import type { ForecastDocument } from '../../../lib/output/views/workload-forecast.ts'
import { lateRemarks } from '../../../lib/workloads/forecast/room.ts'
import type { Basis } from './basis.ts'
import type { Foretold } from './forecast.ts'

/** Everything besides the rows. Pure. */
export function forecastDocument(
  { selection, to, at, totals, current, time, unread, remarks }: Foretold,
  { surroundings, room, judging, methodsFrom, remarks: known }: Basis,
): ForecastDocument {
  const next = nextOf(totals.byFate, to?.text)
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

function nextOf(counts: Foretold['totals']['byFate'], to: string | undefined): string | undefined {
  if (to !== undefined) return `kvup plan --to ${to}`
  const interrupted = counts.restarts + counts['shuts down'] + counts['is lost']
  if (interrupted > 0) return 'kvup workloads hold'
  return counts.stays > 0 || counts.migrates > 0 ? 'kvup workloads outdated' : undefined
}
