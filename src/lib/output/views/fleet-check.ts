import { type CommonFinding, type FleetCheckRow, type FleetFinding } from '../../fleet/fleet-checks.ts'
import { checkWords, fleetCheckText } from './fleet-words.ts'
import { counted, someOf } from '../../kube/text.ts'
import type { Column, Document, Paint, View } from '../printer.ts'
import { table } from '../table.ts'
import { brief, helpLine, wrap } from '../text.ts'
import { sameClusterLines, type SuiteCase, suites } from './fleet.ts'

export interface FleetCheckDocument extends Document {
  kind: 'FleetCheck'
  /** RFC 3339. */
  takenAt: string
  /** Absent: nothing was asked about a change. */
  to?: string
  /** Warnings stop a change as well. */
  strict: boolean
  /** The worst first. */
  items: readonly FleetCheckRow[]
  /** Findings of several clusters. */
  common: readonly CommonFinding[]
}

const worstOf = ({ findings: [worst], error }: FleetCheckRow): string | undefined =>
  error === undefined ? worst && `${worst.id}: ${worst.summary}` : error.message

const columns = ({ mark }: Pick<Paint, 'mark'>): readonly Column<FleetCheckRow>[] => [
  {
    name: 'CHECK',
    cell: ({ state }) => `${mark[checkWords[state][2]]} ${checkWords[state][0]}`,
    tone: ({ state }) => checkWords[state][1],
  },
  { name: 'CLUSTER', cell: ({ name }) => name },
  { name: 'VERSION', cell: ({ version }) => version },
  { name: 'BLOCKERS', cell: ({ blockers }) => blockers },
  { name: 'WARNINGS', cell: ({ warnings }) => warnings },
  { name: 'NOT CHECKED', cell: ({ notChecked }) => notChecked, wide: true },
  { name: 'ACCEPTED', cell: ({ accepted }) => accepted, wide: true },
  { name: 'SERVER', cell: ({ server }) => server, wide: true },
  {
    name: 'WORST',
    holds: 'text',
    cell: (row) => {
      const worst = worstOf(row)
      return worst === undefined ? '-' : brief(worst)
    },
  },
  { name: 'NEXT', holds: 'command', cell: ({ next }) => next ?? '-', wide: true },
]

/** A line per cluster, the worst first, and below them what several have. */
export const fleetCheckView: View<FleetCheckDocument> = {
  text(document, paint, size) {
    const { items, common } = document
    const [worst] = items
    const tone = worst === undefined ? 'dim' : checkWords[worst.state][1]
    return [
      ...wrap(paint[tone](fleetCheckText(document)), size.columns),
      '',
      ...table(columns(paint), items, { ...size, paint }),
      ...sameClusterLines(items, size.columns),
      ...commonLines(common, paint, size.columns),
      ...(worst?.next === undefined
        ? []
        : wrap(helpLine(`${worst.next}     # for ${worst.name}`, paint), size.columns)),
    ]
  },
  names: ({ items }) => items.map(({ name }) => `cluster/${name}`),
  formats: {
    junit: ({ items, strict }) =>
      suites(
        'kvup fleet check',
        items.flatMap((row) => casesOf(row, strict)),
      ),
  },
}

const levelWords: Readonly<Record<FleetFinding['level'], string>> = {
  blocker: 'blocker',
  'not-checked': 'not checked',
  warning: 'warning',
  info: 'info',
}

/** `kubernetes-window on 12 clusters: prod-1, prod-2, prod-3 and 9 more`. */
function commonLines(common: readonly CommonFinding[], paint: Paint, width: number): string[] {
  if (common.length === 0) return []
  return [
    '',
    paint.strong('On several clusters'),
    ...common.flatMap(({ id, level, clusters }) =>
      wrap(
        `${levelWords[level]} ${id} on ${counted(clusters.length, 'cluster')}: ${someOf(clusters)}`,
        width,
      ),
    ),
    '',
  ]
}

/** One case for each finding that blocks; a cluster without one, or that could not be checked, is one case. */
function casesOf({ name, state, findings, error }: FleetCheckRow, strict: boolean): readonly SuiteCase[] {
  if (error !== undefined)
    return [{ suite: name, test: 'check', failed: error.message, reason: error.reason }]
  const blocking = findings.filter(({ level }) => level !== 'warning' || strict)
  if (state === 'Passed' || blocking.length === 0) return [{ suite: name, test: 'check' }]
  return blocking.map(({ id, level, summary }) => ({ suite: name, test: id, failed: summary, reason: level }))
}
