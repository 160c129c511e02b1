import type { Context } from '../../../context.ts'
import type { Rows } from '../../../lib/output/printer.ts'
import { type ForecastDocument, forecastView } from '../../../lib/output/views/workload-forecast.ts'
import { parseVersion, type Version } from '../../../lib/releases/version.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import type { ForecastItem } from '../../../lib/workloads/forecast/forecast-item.ts'
import { ForecastTotals } from '../../../lib/workloads/forecast/forecast-totals.ts'
import { type ForecastPage, listForecast } from '../../../lib/workloads/forecast/list-forecast.ts'
import { probeEvictions, whyNotProbed } from '../../../lib/workloads/forecast/probe.ts'
import { WholeTime } from '../../../lib/workloads/forecast/whole-time.ts'
import { parseWanted } from '../../../lib/workloads/strategy/wanted.ts'
import { partlyUnread } from '../../partly-unread.ts'
import { type LookedAt, readerFor } from '../../reader-for.ts'
import { noSuchPlace } from '../no-such-place.ts'
import { selectionOf, type SelectedVms } from '../outdated/selection.ts'
import { type Basis, isCurrentFor, lookForForecast } from './basis.ts'
import { forecastDocument } from './forecast-document.ts'

export interface ForecastOptions {
  to?: string
  methods?: string
  probe?: boolean
  allNamespaces?: boolean
  selector?: string
  score?: string
  exitCode?: boolean
  from?: string
}

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

/** Says VM by VM what becomes of it, as their pages arrive. Exit 7 where a part may not be read, after what may; changes nothing. */
export async function forecast(cx: Context, options: ForecastOptions): Promise<ExitCode> {
  const selection = selectionOf(options, cx.flags.namespace)
  const to = options.to === undefined ? undefined : parseVersion(options.to)
  const methods = methodsOf(options)
  const looked = await readerFor(cx, options.from)
  const basis = lookForForecast(looked, { selection, to, methods })
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
  await tell(looked, { foretold, basis, rows, probe: options.probe === true })
  if (foundNone(foretold)) foretold.remarks.push(...(await noSuchPlace(looked, selection)))
  const document = forecastDocument(foretold, await basis)
  const refusal = partlyUnread(document.unread)
  rows.end(document, refusal ? 'partial' : 'complete')
  if (refusal) throw refusal
  return options.exitCode && isUneven(foretold.totals) ? exitCode.asked : exitCode.done
}

function methodsOf({ methods }: ForecastOptions): readonly string[] | undefined {
  if (methods === undefined) return undefined
  const { workloadUpdateMethods } = parseWanted({ methods })
  return Array.isArray(workloadUpdateMethods) ? workloadUpdateMethods : []
}

const foundNone = ({ totals, current, unread }: Foretold): boolean =>
  totals.total + current + unread.length === 0

const isUneven = ({ byFate, total }: ForecastTotals): boolean =>
  total - byFate.migrates - byFate['is down'] > 0

interface Telling {
  foretold: Foretold
  basis: Promise<Basis>
  rows: Rows<ForecastItem, ForecastDocument>
  probe: boolean
}

async function tell(looked: LookedAt, { foretold, basis, rows, probe }: Telling): Promise<void> {
  const { selection } = foretold
  const isCurrent = basis.then((known) => isCurrentFor(known, foretold.to))
  // Both are awaited with the first page, which is read meanwhile.
  const judging = judgingOf(basis)
  for (const early of [isCurrent, judging]) early.catch(() => undefined)
  const notProbed = probe ? await whyNotProbed(looked.cluster, selection.namespace) : undefined
  if (notProbed !== undefined) foretold.remarks.push(notProbed)
  const pages = listForecast(looked.cluster.reader, { ...selection, isCurrent }, judging)
  for await (const page of pages) {
    const { kubevirt } = (await basis).surroundings
    foretold.time ??= kubevirt && new WholeTime(kubevirt)
    const asked = probe && notProbed === undefined
    const items = asked ? await probeEvictions(looked.cluster, page.items, page.vmis) : page.items
    fold(foretold, { ...page, items })
    rows.add(items)
  }
}

const judgingOf = async (basis: Promise<Basis>) => (await basis).judging

function fold(foretold: Foretold, { items, current, unread }: ForecastPage): void {
  foretold.current += current
  foretold.unread.push(...unread)
  for (const item of items) {
    foretold.totals.add(item)
    if (item.seconds) foretold.time?.addMigration(item.node ?? '', item.seconds)
    else if (item.will === 'restarts' || item.will === 'shuts down' || item.will === 'is lost')
      foretold.time?.addEviction()
  }
}
