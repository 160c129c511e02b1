import { roleRemedy } from '../output/kvup-words.ts'
import { usageError } from '../kube/errors.ts'
import type { Check, CheckedLayer, Finding, Group, NeededPart, Question } from './check-definition.ts'
import { withoutOffers } from '../openshift/firing-alerts.ts'
import type { LayerPart } from '../openshift/layer-parts.ts'

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
import { releaseChecks } from './groups/release-checks.ts'
import { methodsKnown, operatorChecks, platformChecks } from './groups/layer-checks.ts'
import { rightsChecks } from './groups/rights-checks.ts'
import type { AcceptedRisk } from '../releases/hop-findings.ts'

export interface CheckResult {
  check: Check
  /** `skipped`: what it needs was not asked for. */
  is: 'passed' | 'found' | 'not-checked' | 'skipped'
  findings: readonly Finding[]
  /** Of a skipped one: the flag that it is made with. */
  without?: AskedBy
  /** Of a skipped one, where that flag is there and does not help. */
  why?: string
  /** Of one that is not checked although all its parts were read: what is missing in them, or beside them. */
  lacks?: string
}

type AskedBy = '--to' | '--probe-images'

/**
 * All of them, always, in their order, but for those of layers that this cluster does not have; what could not be read is `not-checked`, never
 * passed. Pure.
 */
export function runChecks(checks: readonly Check[], question: Question): readonly CheckResult[] {
  return checks.filter((check) => hasLayers(check, question)).map((check) => resultOf(check, question))
}

/** Each layer by the part that is read wherever it is. */
const partOf: Readonly<Record<CheckedLayer, LayerPart>> = {
  platform: 'clusterVersion',
  operator: 'hyperconverged',
  olm: 'subscriptions',
}

const hasLayers = ({ layers = [] }: Check, { snapshot }: Question): boolean =>
  layers.every((layer) => snapshot[partOf[layer]] !== undefined)

function resultOf(check: Check, question: Question): CheckResult {
  const without = notAskedFor(check, question)
  if (without !== undefined) {
    const why = without === '--to' && question.noOneTarget
    return { check, is: 'skipped', findings: [], without, ...(why && { why }) }
  }
  const unknown = whyNeedsUnknown(check, question)
  if (unknown.length > 0)
    return { check, is: 'not-checked', findings: [notChecked(check, unknown, question)] }
  const findings = check.assess(question)
  const lack = findings.length === 0 ? lackOf(check, question) : undefined
  if (lack !== undefined)
    return { check, is: 'not-checked', lacks: lack, findings: [lacking(check, lack, question)] }
  return { check, is: findings.length > 0 ? 'found' : 'passed', findings }
}

/** What it needs besides is asked of what it always needs, so that comes first. */
function whyNeedsUnknown({ needs, alsoNeeds }: Check, question: Question): readonly string[] {
  const unknown = needs.flatMap((part) => whyUnknown(part, question))
  if (unknown.length > 0 || alsoNeeds === undefined) return unknown
  return alsoNeeds(question).flatMap((part) => (needs.includes(part) ? [] : whyUnknown(part, question)))
}

/** Of these every KubeVirt that runs has some: where none were found, others were looked at. */
const neverEmpty: ReadonlySet<NeededPart> = new Set([
  'kubevirts',
  'operators',
  'deployments',
  'daemonsets',
  'pods',
  'nodes',
  'leases',
  'crds',
  'apiServices',
  'webhooks',
  'clusterOperators',
  'pools',
])

const noneFound = 'and there must be some'

/** What a part is to a person. */
const partWords: Readonly<Partial<Record<NeededPart, string>>> = {
  kubevirts: 'KubeVirt resources',
  operators: 'Deployments of virt-operator',
  deployments: 'Deployments of KubeVirt',
  daemonsets: 'DaemonSets of KubeVirt',
  pods: 'pods of KubeVirt',
  leases: 'Leases of KubeVirt',
  crds: 'CRDs of KubeVirt',
  apiServices: 'APIServices of KubeVirt',
  webhooks: 'webhooks of KubeVirt',
  endpoints: 'endpoints of KubeVirt',
  instances: 'VMIs',
  vms: 'VMs',
  overrides: 'temporary changes by kvup',
  dataJobs: 'snapshots, restores, clones, exports, backups and imports',
  budgets: 'PodDisruptionBudgets',
  quotas: 'ResourceQuotas',
  others: 'health checks, deschedulers and pools',
  operatorRoles: 'roles of virt-operator',
  editBindings: 'bindings of the role edit',
  networkDevices: 'NetworkAttachmentDefinitions',
  rights: 'permissions of this user',
  probes: 'results of image pulls',
  serverVersion: 'version of the API server',
  clusterVersion: 'ClusterVersion',
  clusterOperators: 'ClusterOperators',
  pools: 'MachineConfigPools',
  hyperconverged: 'HyperConverged',
  oldMaintenances: 'old NodeMaintenances',
  maintenances: 'NodeMaintenances',
  bridgeNetworks: 'networks of type cnv-bridge',
}

const partText = (part: NeededPart): string => partWords[part] ?? part

function lackOf(check: Check, question: Question): string | undefined {
  const empty = check.needs.find((part) => neverEmpty.has(part) && isEmpty(part, question))
  return empty === undefined ? check.lacks?.(question) : `no ${partText(empty)} were found, ${noneFound}`
}

function isEmpty(part: NeededPart, { snapshot }: Question): boolean {
  const found = snapshot[part]
  return found !== undefined && 'known' in found && found.known && found.items.length === 0
}

/** Nothing was found in what there is, and that is no pass: told, and no reason to stop. */
function lacking(check: Check, why: string, question: Question): Finding {
  const remedy = check.toSee?.(question) ?? (question.isSaved && why.endsWith(noneFound) ? [saveAll] : [])
  return { ...notChecked(check, [why], question), level: 'warning', remedy }
}

function notAskedFor(check: Check, { target, snapshot }: Question): AskedBy | undefined {
  if (check.needsTarget && target === undefined) return '--to'
  return check.needsProbes && snapshot.probes === undefined ? '--probe-images' : undefined
}

function whyUnknown(part: NeededPart, { snapshot }: Question): string[] {
  const found = snapshot[part]
  if (found === undefined) return [`kvup did not read the ${partText(part)}`]
  return 'known' in found && !found.known ? [unknownText(part, found.why)] : []
}

/** Why a part is unknown is a sentence that names it, but for the shortest. What shows alerts is a line of what helps. */
const unknownText = (part: NeededPart, why: string): string =>
  /^not (?:asked for|read)$/u.test(why) ? `kvup did not read the ${partText(part)}` : withoutOffers(why).why

/** Blocks where the check can block: unknown is not the same as good. */
function notChecked(
  { id, unchecked, blocks, toSee }: Check,
  why: readonly string[],
  question: Question,
): Finding {
  return {
    id,
    level: blocks ? 'not-checked' : 'warning',
    // Parts may be unknown for one reason.
    summary: `${unchecked}: ${[...new Set(why)].join('; ')}`,
    remedy: toSee?.(question) ?? [why.every(isNotSaved) ? saveAll : roleRemedy('kvup-view')],
  }
}

const saveAll = 'kvup snapshot --to-file cluster.ndjson.gz     saves everything that kvup checks'

/** A saved cluster lacks it; a right would not bring it. */
const isNotSaved = (why: string): boolean => /does not contain|^kvup did not read /u.test(why)

export interface ReportedFinding extends Finding {
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
  /** Of a skipped one, where that flag is there and does not help. */
  why?: string
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
  { check, is, findings, without, why }: CheckResult,
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
    ...(why !== undefined && { why }),
    findings: asReported(findings, accepted),
  }
}

/**
 * Who accepted a check by its name, and it found something that has a name of its own, is told that name: what he typed would be without effect. Throws `usage`; `again` is the line with
 * these risks instead.
 */
export function ensureFindingsAccepted(
  results: readonly CheckResult[],
  accepted: readonly AcceptedRisk[],
  again: (risks: readonly AcceptedRisk[]) => string,
): void {
  const names = ({ check: { id }, findings }: CheckResult) =>
    findings.some((finding) => finding.id === id) ? [] : findings.map((finding) => finding.id)
  const instead = accepted.flatMap((risk): readonly AcceptedRisk[] => {
    const { id: typed, reason } = risk
    const result = results.find(({ check }) => check.id === typed)
    const own = [...new Set(result === undefined ? [] : names(result))]
    if (own.length === 0) return [risk]
    return own.map((id) => (reason === undefined ? { id } : { id, reason }))
  })
  const without = accepted.filter((risk) => !instead.includes(risk)).map(({ id }) => id)
  if (without.length === 0) return
  const found = instead.filter((risk) => !accepted.includes(risk)).map(({ id }) => id)
  throw usageError(
    'accepted-a-check',
    `${without.join(', ')} is a check, and --accept takes what it found: ${found.join(', ')}`,
    { remedy: again(instead) },
  )
}

/** Findings with what was accepted of them. */
export const asReported = (
  findings: readonly Finding[],
  accepted: readonly AcceptedRisk[],
): readonly ReportedFinding[] => findings.map((finding) => taken(finding, accepted))

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

function ofGroup(group: Group, checks: readonly Check[]): readonly Check[] {
  return checks.filter((check) => check.group === group)
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
  ...ofGroup('installation', releaseChecks),
  methodsEmpty,
  methodsKnown,
  cdiAlongside,
]

/** What the update does to VMs, and they to it. */
export const workloadChecks: readonly Check[] = [
  ...activityChecks,
  ...vmChecks,
  ...ofGroup('workloads', releaseChecks),
]

/** Every check, in the order in which they are printed. */
export const allChecks: readonly Check[] = [
  ...pathChecks,
  ...installationChecks,
  ...operatorChecks,
  ...platformChecks,
  ...rightsChecks,
  ...ofGroup('rights', releaseChecks),
  ...machineryChecks,
  ...nodeChecks,
  ...ofGroup('nodes', releaseChecks),
  ...workloadChecks,
  ...backupChecks,
]
