import type { Reported, ReportedFinding } from '../checks/check-run.ts'
import { exitCode, type ExitCode } from '../kube/errors.ts'
import { filled } from '../kube/known.ts'
import type { FleetPlace, FleetRow } from './fleet-rows.ts'

/** What `kvup check` says of a cluster, or why it says nothing. The worst first. */
const worstFirst = ['Unreachable', 'Failed', 'Forbidden', 'NotInstalled', 'Blocked', 'Passed'] as const

export type FleetCheckState = (typeof worstFirst)[number]

/** A finding that was not accepted, in one sentence. */
export type FleetFinding = Pick<ReportedFinding, 'id' | 'level' | 'summary'>

type Checked = Reported & { kubevirt: { version?: string }; next: readonly string[] }

/** What `kvup check` says of one cluster, in one line. */
export interface FleetCheckRow extends FleetPlace, Pick<FleetRow, 'version' | 'next' | 'error'> {
  state: FleetCheckState
  blockers?: number
  warnings?: number
  notChecked?: number
  accepted?: number
  /** What was not accepted, the worst first; what is only good to know is left to `kvup check`. */
  findings: readonly FleetFinding[]
}

const levels: readonly FleetFinding['level'][] = ['blocker', 'not-checked', 'warning']

function openFindings({ items }: Pick<Checked, 'items'>): readonly FleetFinding[] {
  const open = items.flatMap(({ findings }) => findings).filter(({ accepted }) => !accepted)
  return levels.flatMap((wanted) =>
    open.filter(({ level }) => level === wanted).map(({ id, level, summary }) => ({ id, level, summary })),
  )
}

/** A cluster that was checked. `again`: the line that checks it alone. Pure. */
export function checkRowOf(place: FleetPlace, document: Checked, again: string): FleetCheckRow {
  const { outcome, counts, kubevirt, next } = document
  const isBlocked = outcome === 'blocked'
  const { blockers, warnings, notChecked, accepted } = counts
  return {
    ...place,
    state: isBlocked ? 'Blocked' : 'Passed',
    ...filled({ version: kubevirt.version }),
    blockers,
    warnings,
    notChecked,
    accepted,
    findings: openFindings(document),
    ...filled({ next: isBlocked ? again : next[0] }),
  }
}

/** A cluster that could not be checked, by its row of a fleet: shown, never left out. */
export function failedCheckRow(row: FleetRow, again: string): FleetCheckRow {
  const { name, context, server, uid, also, state, error } = row
  const isKnown = state === 'Unreachable' || state === 'Forbidden' || state === 'NotInstalled'
  const place = { name, context, ...filled({ server, uid, also }) }
  return { ...place, state: isKnown ? state : 'Failed', findings: [], next: again, ...filled({ error }) }
}

/** The worst first: of those that are alike the one with more blockers, then more warnings. */
export const checksInOrder = (rows: readonly FleetCheckRow[]): readonly FleetCheckRow[] =>
  rows.toSorted(
    (one, other) =>
      worstFirst.indexOf(one.state) - worstFirst.indexOf(other.state) ||
      stopping(other) - stopping(one) ||
      (other.warnings ?? 0) - (one.warnings ?? 0),
  )

const stopping = ({ blockers = 0, notChecked = 0 }: FleetCheckRow): number => blockers + notChecked

/** As `kvup check` ends on the worst cluster. */
export function fleetCheckCode(rows: readonly FleetCheckRow[]): ExitCode {
  const [worst] = checksInOrder(rows)
  if (worst?.error !== undefined) return worst.error.code as ExitCode
  return worst?.state === 'Blocked' ? exitCode.blocked : exitCode.done
}

/** A finding of several clusters, counted once. */
export interface CommonFinding {
  id: string
  /** The worst that it has on one of them. */
  level: FleetFinding['level']
  clusters: readonly string[]
}

/** What more than one cluster has, the worst first, then what most have. Pure. */
export function commonFindings(rows: readonly FleetCheckRow[]): readonly CommonFinding[] {
  const all = rows.flatMap(({ name, findings }) => findings.map(({ id, level }) => ({ id, level, name })))
  const common = [...new Set(all.map(({ id }) => id))].flatMap((id): CommonFinding[] => {
    const own = all.filter((one) => one.id === id)
    const clusters = [...new Set(own.map(({ name }) => name))]
    const level = levels.find((wanted) => own.some((one) => one.level === wanted))
    return clusters.length < 2 || level === undefined ? [] : [{ id, level, clusters }]
  })
  return common.toSorted(
    (one, other) =>
      levels.indexOf(one.level) - levels.indexOf(other.level) || other.clusters.length - one.clusters.length,
  )
}
