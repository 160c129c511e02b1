import type { Group } from './check.ts'
import type { Finding } from './finding.ts'
import type { AskedBy, CheckResult } from './run-checks.ts'

/** A risk that a person took by its name: `--accept ID` or `--accept ID=reason`. */
export interface AcceptedRisk {
  id: string
  reason?: string
}

export interface ReportedFinding extends Finding {
  /** It was accepted by name, and no longer counts. */
  accepted?: true
  reason?: string
}

export interface ReportedCheck {
  id: string
  group: Group
  title: string
  is: CheckResult['is']
  runbook?: string
  /** Of a skipped one: the flag that it is made with. */
  without?: AskedBy
  findings: readonly ReportedFinding[]
}

/** Findings by their level, checks by what became of them. */
interface CheckCounts {
  blockers: number
  warnings: number
  infos: number
  /** Checks that could not be made. */
  notChecked: number
  /** Findings that were accepted; they are in no other count. */
  accepted: number
  passed: number
  skipped: number
}

export interface Reported {
  outcome: 'passed' | 'blocked'
  counts: CheckCounts
  items: readonly ReportedCheck[]
}

/** What became of all checks, and whether a change may go on. `strict`: warnings stop it as well. */
export function reportOf(
  results: readonly CheckResult[],
  accepted: readonly AcceptedRisk[],
  strict: boolean,
): Reported {
  const items = results.map((result) => reported(result, accepted))
  const open = items.flatMap(({ findings }) => findings.filter((finding) => !finding.accepted))
  const stops = open.some(({ level }) => isStop(level, strict))
  return { outcome: stops ? 'blocked' : 'passed', counts: counted(items), items }
}

/** Contract "Facts at scale": what a blocking check could not see stops as well. */
function isStop(level: Finding['level'], strict: boolean): boolean {
  return level === 'blocker' || level === 'not-checked' || (strict && level === 'warning')
}

function reported(
  { check, is, findings, without }: CheckResult,
  accepted: readonly AcceptedRisk[],
): ReportedCheck {
  const { id, group, title, runbook } = check
  return {
    id,
    group,
    title,
    is,
    ...(runbook !== undefined && { runbook }),
    ...(without !== undefined && { without }),
    findings: findings.map((finding) => taken(finding, accepted)),
  }
}

function taken(finding: Finding, accepted: readonly AcceptedRisk[]): ReportedFinding {
  const risk = accepted.find(({ id }) => id === finding.id)
  if (risk === undefined) return finding
  return { ...finding, accepted: true, ...(risk.reason !== undefined && { reason: risk.reason }) }
}

function counted(items: readonly ReportedCheck[]): CheckCounts {
  const found = items.filter(({ is }) => is === 'found').flatMap(({ findings }) => findings)
  const level = (wanted: Finding['level']) =>
    found.filter((finding) => !finding.accepted && finding.level === wanted).length
  const became = (is: CheckResult['is']) => items.filter((item) => item.is === is).length
  return {
    blockers: level('blocker'),
    warnings: level('warning'),
    infos: level('info'),
    notChecked: became('not-checked'),
    accepted: items.flatMap(({ findings }) => findings).filter((finding) => finding.accepted).length,
    passed: became('passed'),
    skipped: became('skipped'),
  }
}
