import { spanText } from '../../../kube/duration.ts'
import type { ForecastItem, Outcome } from '../../../vms/forecast/vm-forecast.ts'
import type { Counts } from '../../../vms/forecast/forecast-report.ts'
import type { Span } from '../../../vms/forecast/migration-time.ts'
import { count, wrap } from '../../text.ts'
import type { Column, Paint, RowsView, Tone } from '../../printer.ts'
import { selectionText, unreadLines } from '../report-lines.ts'
import { outcomesText, outcomeTexts, type Said } from './outdated-workloads.ts'
import type { ForecastDocument } from '../../../vms/forecast/forecast-document.ts'

export const forecastView: RowsView<ForecastItem, ForecastDocument> = {
  columns: columns(),
  name: ({ name, uid }) => `virtualmachine${uid === undefined ? '' : 'instance'}.kubevirt.io/${name}`,
  below: (document, paint, size) =>
    [
      ...byNamespace(document),
      ...remarksOf(document, paint),
      ...timeLines(document),
      summary(document, paint),
    ].flatMap((line) => wrap(line, size.columns)),
}

function columns(): readonly Column<ForecastItem>[] {
  return [
    { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
    { name: 'NAME', cell: ({ name }) => name },
    { name: 'NODE', cell: ({ node }) => node },
    {
      name: 'OUTCOME',
      cell: ({ outcome }) => (outcome ? outcomeWords[outcome].one : 'unknown'),
      tone: toneOf,
    },
    { name: 'TAKES', cell: ({ seconds }) => seconds && rangeText(seconds), wide: true },
    { name: 'WHY', holds: 'text', cell: ({ why }) => why.map(({ text }) => text).join('; ') },
    { name: 'HELPS', holds: 'command', cell: ({ remedy }) => remedy.join(' && '), wide: true },
  ]
}

/** Each outcome as a person says it. */
const outcomeWords: Readonly<Record<Outcome, Said>> = {
  ...outcomeTexts,
  'is down': { one: 'is down', many: 'are down', tone: 'dim' },
}

function toneOf({ outcome }: ForecastItem): Tone | undefined {
  return outcome && outcomeWords[outcome].tone
}

const rangeText = ({ low, high }: Span) =>
  `${spanText(Math.ceil(low) * 1000)} to ${spanText(Math.ceil(high) * 1000)}`

const countsText = (counts: Counts): string => outcomesText(outcomeWords, counts)

/** More of them are in the document. */
const namespacesAtMost = 20

function byNamespace({ totals: { namespaces } }: ForecastDocument): readonly string[] {
  if (namespaces.length < 2) return []
  const shown = namespaces.slice(0, namespacesAtMost)
  const more = namespaces.length - shown.length
  return [
    ...shown.map(
      ({ namespace, byOutcome, total }) => `${namespace}: ${countsText(byOutcome) || `${total} unknown`}`,
    ),
    ...(more === 0 ? [] : [`and ${count(more, 'more namespace')}: -o json has all`]),
  ]
}

function remarksOf(
  { unread, remarks, methodsFrom, methods }: ForecastDocument,
  paint: Paint,
): readonly string[] {
  const warn = (text: string) => paint.warn(`${paint.mark.warning} ${text}`)
  const said = methods && (methods.join(', ') || 'none')
  return [
    ...unreadLines(unread, paint),
    ...remarks.map(warn),
    ...(methodsFrom === 'override'
      ? [`automatic VM updates are paused: this happens once they resume, with ${said}`]
      : []),
    ...(methodsFrom === 'flag' ? [`as if workloadUpdateMethods were ${said}`] : []),
  ]
}

function timeLines({ seconds }: ForecastDocument): readonly string[] {
  return seconds === undefined ? [] : [`takes ${rangeText(seconds)} once it has started`]
}

function summary({ totals, selection, to, next }: ForecastDocument, paint: Paint): string {
  const { total, byOutcome, current } = totals
  const where = selectionText(selection)
  const already = current === 0 ? '' : `; ${current} already on the new virt-launcher`
  const then = next === undefined ? '' : ` ${paint.mark.next} ${next}`
  if (total === 0) return `no VM needs to be moved${where}${already}${then}`
  const how = countsText(byOutcome) || 'their outcome is unknown'
  const after = to === undefined ? '' : ` after ${to}`
  return `${paint.strong(count(total, 'VM'))}${where}${after}: ${how}${already}${then}`
}
