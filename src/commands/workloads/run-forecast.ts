import type { Context } from '../../context.ts'
import type { Rows } from '../../lib/output/printer.ts'
import {
  type Basis,
  fold,
  type ForecastDocument,
  forecastDocument,
  type Foretold,
  foundNone,
  isCurrentFor,
  isUneven,
  judgingOf,
  readForForecast,
} from '../../lib/vms/forecast/forecast-document.ts'
import { forecastView } from '../../lib/output/views/vms/workload-forecast.ts'
import { parseVersion } from '../../lib/releases/release-versions.ts'
import { type ExitCode, exitCode } from '../../lib/kube/errors.ts'
import type { ForecastItem } from '../../lib/vms/forecast/vm-forecast.ts'
import { ForecastTotals, listForecast } from '../../lib/vms/forecast/forecast-report.ts'
import { WholeTime } from '../../lib/vms/forecast/migration-time.ts'
import { parseWanted } from '../../lib/vms/strategy/set-strategy.ts'
import { partlyUnread, type ReadCluster, readerFor } from '../../lib/kubevirt/snapshot.ts'
import { notThere, selectionOf } from '../../lib/vms/vm.ts'

export interface ForecastOptions {
  to?: string
  methods?: string
  allNamespaces?: boolean
  selector?: string
  exitCode?: boolean
  from?: string
}

/** Says VM by VM what becomes of it, as their pages arrive. Exit 7 where a part may not be read, after what may; changes nothing. */
export async function forecast(cx: Context, options: ForecastOptions): Promise<ExitCode> {
  const selection = selectionOf(options, cx.flags.namespace)
  const to = options.to === undefined ? undefined : parseVersion(options.to)
  const methods = methodsOf(options)
  const snapshot = await readerFor(cx, options.from)
  const basis = readForForecast(snapshot, { selection, to, methods })
  // Awaited with the first page.
  basis.catch(() => undefined)
  const rows = cx.printer.rows('WorkloadForecast', forecastView)
  const foretold: Foretold = {
    selection,
    to,
    totals: new ForecastTotals(),
    current: 0,
    time: undefined,
    unread: [],
    remarks: [],
  }
  await tell(snapshot, { foretold, basis, rows })
  const isScript = options.exitCode === true
  const absent = foundNone(foretold)
    ? await notThere(snapshot, selection, { isScript, running: true, output: cx.flags.output })
    : undefined
  foretold.remarks.push(...(absent?.remarks ?? []))
  const document = forecastDocument(foretold, await basis)
  const refusal = partlyUnread(document.unread)
  rows.end(document, refusal ? 'partial' : 'complete')
  if (refusal) throw refusal
  if (absent?.failure) throw absent.failure
  return isScript && isUneven(foretold.totals) ? exitCode.asked : exitCode.done
}

function methodsOf({ methods }: ForecastOptions): readonly string[] | undefined {
  if (methods === undefined) return undefined
  const { workloadUpdateMethods } = parseWanted({ methods })
  return Array.isArray(workloadUpdateMethods) ? workloadUpdateMethods : []
}

interface Telling {
  foretold: Foretold
  basis: Promise<Basis>
  rows: Rows<ForecastItem, ForecastDocument>
}

async function tell(snapshot: ReadCluster, { foretold, basis, rows }: Telling): Promise<void> {
  const { selection } = foretold
  const isCurrent = basis.then((known) => isCurrentFor(known, foretold.to))
  // Both are awaited with the first page, which is read meanwhile.
  const judging = judgingOf(basis)
  for (const early of [isCurrent, judging]) early.catch(() => undefined)
  const pages = listForecast(snapshot.cluster.reader, { ...selection, isCurrent }, judging)
  for await (const page of pages) {
    const { kubevirt } = (await basis).context
    foretold.time ??= kubevirt && new WholeTime(kubevirt)
    fold(foretold, page)
    rows.add(page.items)
  }
}
