import { fleetFindings } from './report-clusters.ts'
import { type Fields, listOf, textOf, textsOf } from './fields.ts'
import { type ReportTable, tableOf } from './report-table.ts'

/** Something that speaks against it. */
export interface ReportFinding {
  id: string
  level: 'blocker' | 'not-checked' | 'warning' | 'accepted' | 'info'
  summary: string
  remedy: readonly string[]
  objects: readonly string[]
  /** Of an accepted one. */
  reason?: string
}

interface ReportRisk {
  id: string
  /** Absent: none was given. */
  reason?: string
  /** user@host, and who the API server took kvup for. Absent: the document does not say. */
  by?: string
  user?: string
}

export const levelWords: Readonly<Record<ReportFinding['level'], string>> = {
  blocker: 'Blocker',
  'not-checked': 'Not checked',
  warning: 'Warning',
  accepted: 'Accepted',
  info: 'Info',
}

const levels = ['blocker', 'not-checked', 'warning', 'accepted', 'info'] as const

/** All of them, the worst first; what was accepted counts as that. */
export function findingsOf(document: Fields): readonly ReportFinding[] {
  const isCheck = document['kind'] === 'CheckReport'
  const risks = new Map(acceptedOf(document).map((risk) => [risk.id, risk]))
  const found = isCheck
    ? listOf(document['items']).flatMap(ofCheck)
    : document['kind'] === 'FleetPlan' || document['kind'] === 'FleetCheck'
      ? fleetFindings(document)
      : listOf(document['findings'])
  return found
    .map((finding) => findingOf(finding, risks))
    .toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level))
}

/** What a check that could not be made says is not checked, whatever else it were. */
const ofCheck = (check: Fields): readonly Fields[] =>
  listOf(check['findings']).map((finding) => (check['is'] === 'not-checked' ? unchecked(finding) : finding))

const unchecked = (finding: Fields): Fields => ({ ...finding, level: 'not-checked' })

function findingOf(finding: Fields, risks: ReadonlyMap<string, ReportRisk>): ReportFinding {
  const id = textOf(finding['id']) ?? ''
  const isAccepted = finding['accepted'] === true || risks.has(id)
  const reason = textOf(finding['reason']) ?? risks.get(id)?.reason
  return {
    id,
    level: isAccepted ? 'accepted' : (levels.find((level) => level === finding['level']) ?? 'info'),
    summary: textOf(finding['summary']) ?? '',
    remedy: textsOf(finding['remedy']),
    objects: textsOf(finding['objects']),
    ...(isAccepted && reason !== undefined && { reason }),
  }
}

/** Who took which risk, as far as the document says. */
function acceptedOf(document: Fields): readonly ReportRisk[] {
  const [run] = listOf(document['runs'])
  const by = textOf(run?.['by'])
  return [
    ...listOf(document['accepted']).map((risk) => riskOf(risk, textOf(risk['by']))),
    ...listOf(run?.['accepted']).map((risk) => riskOf(risk, by)),
  ]
}

function riskOf(risk: Fields, by: string | undefined): ReportRisk {
  const [reason, user] = [textOf(risk['reason']), textOf(risk['user'])]
  return {
    id: textOf(risk['id']) ?? '',
    ...(reason !== undefined && reason !== '' && { reason }),
    ...(by !== undefined && { by }),
    ...(user !== undefined && { user }),
  }
}

/** The same as a table. */
export function acceptedTable(document: Fields): ReportTable | undefined {
  const nobody = document['kind'] === 'CheckReport' ? 'whoever ran the check' : 'unknown'
  const rows = acceptedOf(document).map(({ id, reason, by, user }) => [
    id,
    reason ?? 'no reason given',
    by ?? nobody,
    user ?? 'unknown',
  ])
  return tableOf('Accepted risks', ['Risk', 'Reason', 'By', 'API user'], rows)
}
