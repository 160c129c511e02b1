import { formatDuration } from '../../system/duration.ts'
import type { ForecastItem, Outcome } from '../../workloads/forecast/forecast-item.ts'
import type { Counts, NamespaceTotals } from '../../workloads/forecast/forecast-totals.ts'
import type { Span } from '../../workloads/forecast/migration-time.ts'
import { count } from '../count.ts'
import type { Column, Document, Paint, RowsView, Tone } from '../printer.ts'
import { wrap } from '../wrap.ts'
import { fatesText, fateWords, type Said } from './fate-words.ts'

/** Besides its `items`, which are ForecastItem. Times are RFC 3339. */
export interface ForecastDocument extends Document {
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
    { name: 'WILL', cell: ({ will }) => (will ? outcomeWords[will].infinitive : 'not known'), tone: toneOf },
    { name: 'TAKES', cell: ({ seconds }) => seconds && spanText(seconds), wide: true },
    { name: 'PROBE', cell: ({ probe }) => probe?.answer, wide: true },
    { name: 'WHY', holds: 'text', cell: ({ why }) => why.map(({ text }) => text).join('; ') },
    { name: 'HELPS', holds: 'command', cell: ({ remedy }) => remedy.join(' && '), wide: true },
  ]
}

/** Each outcome as a person says it. */
export const outcomeWords: Readonly<Record<Outcome, Said>> = {
  ...fateWords,
  'is down': { infinitive: 'already down', one: 'is down', many: 'are down', tone: 'dim' },
}

function toneOf({ will }: ForecastItem): Tone | undefined {
  return will && outcomeWords[will].tone
}

const spanText = ({ low, high }: Span) =>
  `${formatDuration(Math.ceil(low) * 1000)} to ${formatDuration(Math.ceil(high) * 1000)}`

const countsText = (counts: Counts): string => fatesText(outcomeWords, counts)

/** More of them are in the document. */
const namespacesAtMost = 20

function byNamespace({ totals: { namespaces } }: ForecastDocument): readonly string[] {
  if (namespaces.length < 2) return []
  const shown = namespaces.slice(0, namespacesAtMost)
  const more = namespaces.length - shown.length
  return [
    ...shown.map(
      ({ namespace, byFate, total }) => `${namespace}: ${countsText(byFate) || `${total} not known`}`,
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
    ...unread.map(({ namespace, what, why }) =>
      warn(`${what}${namespace === undefined ? '' : ` in namespace ${namespace}`} may not be read: ${why}`),
    ),
    ...remarks.map(warn),
    ...(methodsFrom === 'loan'
      ? [`workload updates are held: this is what happens once they are restored, with ${said}`]
      : []),
    ...(methodsFrom === 'flag' ? [`judged as if workloadUpdateMethods were ${said}`] : []),
  ]
}

function timeLines({ seconds }: ForecastDocument): readonly string[] {
  return seconds === undefined ? [] : [`takes ${spanText(seconds)} once it has begun`]
}

function summary({ totals, selection, to, next }: ForecastDocument, paint: Paint): string {
  const { total, byFate, current } = totals
  const where = `${selection.namespace === undefined ? '' : ` in namespace ${selection.namespace}`}${selection.labels === undefined ? '' : ` with ${selection.labels}`}`
  const already = current === 0 ? '' : `; ${current} on the new virt-launcher already`
  const then = next === undefined ? '' : ` ${paint.mark.next} ${next}`
  if (total === 0) return `no VM has to be moved${where}${already}${then}`
  const how = countsText(byFate) || 'what becomes of them is not known'
  const after = to === undefined ? '' : ` after ${to}`
  return `${paint.strong(count(total, 'VM'))}${where}${after}: ${how}${already}${then}`
}
