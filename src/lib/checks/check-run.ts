import { roleRemedy } from '../output/kvup-words.ts'
import type { SnapshotPart } from '../kubevirt/full-snapshot.ts'
import type { Check, Finding, Group, Question } from './check-definition.ts'

import {
  cdiAlongside,
  lastAppliedSize,
  managerCheck,
  methodsEmpty,
  mixedIdentifiers,
  oneKubeVirt,
  settledNow,
} from './groups/installation-checks.ts'
import { crdStoredVersions, imagesPinned, imagesPullable, operatorNotOlder } from './groups/target-checks.ts'
import {
  customizeComponents,
  defaultsThatShift,
  fieldOwners,
  foreignEdits,
} from './groups/customization-checks.ts'
import { activityChecks } from './groups/activity-checks.ts'
import { vmChecks } from './groups/vm-checks.ts'
import { backupChecks, pathChecks } from './groups/path-checks.ts'
import { machineryChecks } from './groups/machinery-checks.ts'
import { nodeChecks } from './groups/node-checks.ts'
import { rightsChecks } from './groups/rights-checks.ts'
import type { AcceptedRisk } from '../releases/hop-findings.ts'

export interface CheckResult {
  check: Check
  /** `skipped`: what it needs was not asked for. */
  is: 'passed' | 'found' | 'not-checked' | 'skipped'
  findings: readonly Finding[]
  /** Of a skipped one: the flag that it is made with. */
  without?: AskedBy
}

/** Flags without which some checks are not made. */
type AskedBy = '--to' | '--probe-images'

/** All of them, always, in their order; what could not be read is `not-checked`, never passed. Pure. */
export function runChecks(checks: readonly Check[], question: Question): readonly CheckResult[] {
  return checks.map((check) => resultOf(check, question))
}

function resultOf(check: Check, question: Question): CheckResult {
  const without = notAskedFor(check, question)
  if (without !== undefined) return { check, is: 'skipped', findings: [], without }
  const unknown = check.needs.flatMap((part) => whyUnknown(part, question))
  if (unknown.length > 0) return { check, is: 'not-checked', findings: [notChecked(check, unknown)] }
  const findings = check.assess(question).map((finding) => notReset(finding, question))
  return { check, is: findings.length > 0 ? 'found' : 'passed', findings }
}

function notAskedFor(check: Check, { target, snapshot }: Question): AskedBy | undefined {
  if (check.needsTarget && target === undefined) return '--to'
  return check.needsProbes && snapshot.probes === undefined ? '--probe-images' : undefined
}

function whyUnknown(part: SnapshotPart, { snapshot }: Question): string[] {
  const found = snapshot[part]
  if (found === undefined) return [`${part}: not read`]
  return 'known' in found && !found.known ? [`${part}: ${found.why}`] : []
}

/** Blocks where the check can block: unknown is not the same as good. */
function notChecked({ id, title, blocks }: Check, why: readonly string[]): Finding {
  return {
    id,
    level: blocks ? 'not-checked' : 'warning',
    summary: `could not tell whether ${title}: ${why.join('; ')}`,
    remedy: [why.every(isNotSaved) ? saveAll : roleRemedy('kvup-view')],
  }
}

const saveAll = 'kvup snapshot --to-file cluster.ndjson.gz     saves all that is judged'

/** A saved cluster lacks it; a right would not bring it. */
const isNotSaved = (why: string): boolean => /does not hold|: not read$/u.test(why)

/** Without commands that write to a KubeVirt which HyperConverged owns: it would set them back (ocp 1.4). Pure. */
function notReset(finding: Finding, { installation }: Pick<Question, 'installation'>): Finding {
  const { manager, namespace } = installation
  if (manager.kind !== 'hyperconverged') return finding
  const remedy = finding.remedy.filter((line) => !/^kubectl .*\bpatch kubevirt /u.test(line))
  if (remedy.length === finding.remedy.length) return finding
  const show = `kubectl -n ${namespace} get hyperconvergeds.hco.kubevirt.io -o yaml     decides it: what is written to the KubeVirt is set back`
  return { ...finding, remedy: [...remedy, show] }
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

/** Whether what is installed can be upgraded as it is. */
const installationChecks: readonly Check[] = [
  settledNow,
  oneKubeVirt,
  mixedIdentifiers,
  managerCheck,
  operatorNotOlder,
  imagesPinned,
  imagesPullable,
  customizeComponents,
  crdStoredVersions,
  lastAppliedSize,
  foreignEdits,
  fieldOwners,
  defaultsThatShift,
  methodsEmpty,
  cdiAlongside,
]

/** What the update does to VMs, and they to it. */
export const workloadChecks: readonly Check[] = [...activityChecks, ...vmChecks]

/** Every check, in the order in which they are printed. */
export const allChecks: readonly Check[] = [
  ...pathChecks,
  ...installationChecks,
  ...rightsChecks,
  ...machineryChecks,
  ...nodeChecks,
  ...workloadChecks,
  ...backupChecks,
]
