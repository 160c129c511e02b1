import { type GuessedHop, guessHops, type OfferedChannel, type OperatorSnapshot } from './olm-operator.ts'
import { type CatalogPackage, makesCatalog, passesOver, pathTo } from '../../releases/catalog-path.ts'
import { assessHyperConverged } from '../../openshift/hyperconverged.ts'
import { tainted } from '../../openshift/operator-rules.ts'
import { type HopFinding, warning, blocker } from '../../releases/hop-findings.ts'
import {
  compareOperatorVersions,
  operatorMinor,
  type OperatorVersion,
  operatorVersionOf,
  stemOf,
  type Version,
  versionOf,
} from '../../releases/release-versions.ts'
import type { Releases } from '../../releases/releases.ts'
import { blocked } from '../../kube/errors.ts'
import { type OperatorTarget, packageIn, resolveTarget } from './operator-target.ts'
import { condition } from '../../kube/object.ts'
import { forgetVersions } from '../../openshift/olm-failures.ts'
import { goneCsv, showsWithoutCsv } from '../../openshift/olm-status.ts'
import { againstPlatform, knownMinors } from '../../releases/platform-releases.ts'
import type { Subscription } from '../../kube/kinds/operator-kinds.ts'
import { type HopTools, isBetween } from './operator-manifest.ts'
import { type Judged, judgedOn } from './install-plan-approval.ts'

/** What a plan by OLM says beside the versions of KubeVirt. */
export interface OlmPart {
  package: string
  subscription: { namespace: string; name: string; uid: string }
  /** The Subscription's; where it is Automatic OLM continues by itself, and kvup joins it. */
  approval: 'Automatic' | 'Manual'
  /** Set when the plan was made. */
  channel?: string
  /** The release of the operator whose operands are all there, and the one to end up with. */
  from: string
  to: string
  /** Name of the CSV to end at. */
  csv: string
  /** The KubeVirt that it brings, where a table says so. */
  kubevirt?: string
  /** From `from` to `to`. */
  hops: readonly GuessedHop[]
  /** The hops are from a file-based catalog; else they are what the cluster shows of it, and OLM may take others in between. */
  certain: boolean
  offered: readonly OfferedChannel[]
  approveAlso: readonly string[]
  /** That the settings of the KubeVirt are written to. */
  hyperconverged: { ref: { name: string; namespace: string }; uid: string }
  accepted: readonly string[]
  /** A release is installed whose operands are not all there yet. */
  isUnderWay: boolean
}

/** What a person asked for that only this method knows. */
export interface OlmRequest {
  /** As it was typed behind `--to`. */
  typed: string
  approveAlso: readonly string[]
  /** Ids of the risks that were accepted by name. */
  accepted: readonly string[]
  /** The same upgrade, as its remedies repeat it with one flag more. */
  command: string
}

/** The part of a plan that only OLM has, and what it makes of the versions. */
export interface OlmGoal {
  part: OlmPart
  /** The KubeVirt to end up with; the operator's own version where no table says which it brings. */
  to: Version
  /** HyperConverged runs the target already. */
  isThere: boolean
  said: readonly string[]
  findings: readonly HopFinding[]
}

interface Question {
  request: OlmRequest
  operatorSnapshot: OperatorSnapshot
  releases: Releases
  /** Packages of `--catalog-file`. */
  catalog?: readonly CatalogPackage[] | undefined
}

/** Pure. Throws `blocked` for a target that is not known, not offered, older, ahead of the platform or out of reach. */
export function olmGoal(question: Question): OlmGoal {
  const { request, operatorSnapshot, releases } = question
  const target = resolveTarget(request.typed, {
    installed: operatorSnapshot.installed,
    offered:
      question.catalog === undefined
        ? operatorSnapshot.offered?.flatMap(({ entries }) => entries.map(({ version }) => version))
        : undefined,
    filed: question.catalog && versionsIn(packageIn(question.catalog, operatorSnapshot.package)),
    waiting: operatorSnapshot.waiting,
    silent: operatorSnapshot.silent,
    platform: operatorSnapshot.platform.minor,
    releases,
  })
  const part = partOf(question, target)
  const { operatorVersion } = assessHyperConverged(operatorSnapshot.hyperconverged)
  const isThere =
    operatorSnapshot.installed.text === target.operator.text && operatorVersion === target.operator.text
  const to = versionOf(target.kubevirt) ?? { ...target.operator, text: target.operator.text }
  const findings = [
    ...olmFindings(operatorSnapshot, target.operator, releases),
    ...minorSkipped(part),
    ...waitingPlan(operatorSnapshot, part, { releases, command: request.command }),
    ...storedVersionsLost(operatorSnapshot),
  ]
  const said = isThere ? [] : [...saidOf(part, target, operatorSnapshot), ...contentsSaid(operatorSnapshot)]
  return { part, to, isThere, said, findings }
}

const versionsIn = ({ channels }: CatalogPackage): readonly OperatorVersion[] =>
  channels
    .flatMap(({ entries }) => entries)
    .map(({ version }) => operatorVersionOf(version))
    .filter((version) => version !== undefined)

function partOf(question: Question, { operator, kubevirt }: OperatorTarget): OlmPart {
  const { request, operatorSnapshot, catalog } = question
  const { subscription, installed, csv } = operatorSnapshot
  const { spec = {}, metadata } = subscription
  const { namespace, name, uid } = metadata
  const { operatorVersion = installed.text } = assessHyperConverged(operatorSnapshot.hyperconverged)
  const csvNamed = (version: string) => csvIn(operatorSnapshot, version) ?? `${stemOf(csv)}.v${version}`
  const path = { from: installed, channel: spec.channel, to: operator, csvNamed }
  return {
    package: operatorSnapshot.package,
    subscription: { namespace, name, uid },
    approval: spec.installPlanApproval ?? 'Automatic',
    ...(spec.channel !== undefined && { channel: spec.channel }),
    from: operatorVersion,
    to: operator.text,
    csv: operator.text === installed.text ? csv : csvNamed(operator.text),
    ...(kubevirt !== undefined && { kubevirt }),
    hops:
      catalog === undefined
        ? guessHops(operatorSnapshot.offered ?? [], path)
        : hopsIn(catalog, question, operator.text),
    certain: catalog !== undefined,
    offered: operatorSnapshot.offered ?? [],
    approveAlso: request.approveAlso,
    hyperconverged: placeOf(operatorSnapshot.hyperconverged),
    accepted: request.accepted,
    isUnderWay: operatorVersion !== installed.text,
  }
}

const placeOf = ({
  metadata: { name, namespace = '', uid = '' },
}: OperatorSnapshot['hyperconverged']): OlmPart['hyperconverged'] => ({ ref: { name, namespace }, uid })

const csvIn = ({ offered = [] }: OperatorSnapshot, version: string): string | undefined =>
  offered.flatMap(({ entries }) => entries).find((entry) => entry.version.text === version)?.csv

/** Throws `blocked` with how far it goes. */
function hopsIn(
  catalog: readonly CatalogPackage[],
  { operatorSnapshot }: Question,
  to: string,
): readonly GuessedHop[] {
  const { csv, installed, subscription } = operatorSnapshot
  if (installed.text === to) return []
  const channel = subscription.spec?.channel
  const path = pathTo(packageIn(catalog, operatorSnapshot.package), {
    from: { csv, version: installed.text },
    channel,
    to,
  })
  if (path.is === 'none') throw unreachable({ csv, to }, path.reaches)
  let set = channel
  return path.hops.map((hop) => {
    const { csv: name, version = '', channel: next } = hop
    const isOther = next !== set
    set = next
    return isOther ? { csv: name, version, channel: next } : { csv: name, version }
  })
}

function unreachable(
  { csv, to }: { csv: string; to: string },
  reaches: readonly { csv: string; version?: string }[],
) {
  const far = reaches.map(({ version, csv: name }) => version ?? name)
  const how = far.length === 0 ? 'nothing replaces it' : `its path leads to ${far.join(', ')}`
  return blocked('target-unreachable', `the catalog has no upgrade path from ${csv} to ${to}: ${how}`, {
    remedy: far
      .slice(0, 1)
      .map((version) => `kvup upgrade --to ${version} --method olm     goes as far as possible`),
  })
}

function saidOf(part: OlmPart, target: OperatorTarget, { installed }: OperatorSnapshot): readonly string[] {
  const path = part.hops.map(({ version, channel }) =>
    channel === undefined ? version : `${version} (channel ${channel})`,
  )
  const later = part.certain
    ? ''
    : '; the catalog shows no upgrade path: OLM may install others in between, which kvup follows'
  return [
    ...(target.said === undefined ? [] : [target.said]),
    ...(path.length > 0
      ? [`the path of HyperConverged: ${[installed.text, ...path].join(' → ')}${later}`]
      : []),
    ...(part.approval === 'Automatic'
      ? ['the Subscription is Automatic: kvup follows OLM, and approves nothing']
      : []),
    'there is no way back: OLM does not downgrade',
    ...(compareOperatorVersions(target.operator, installed) > 0
      ? ['HyperConverged may change parts of its own spec during the upgrade']
      : []),
  ]
}

/** What speaks against beginning, seen when the plan is made; each step asks again. Pure. */
function olmFindings(
  operatorSnapshot: OperatorSnapshot,
  to: OperatorVersion,
  releases: Pick<Releases, 'hyperconverged'>,
): readonly HopFinding[] {
  if (operatorSnapshot.installed.text === to.text) return csvNotSucceeded(operatorSnapshot)
  return [
    ...notGood(operatorSnapshot, to),
    ...csvNotSucceeded(operatorSnapshot),
    ...tainted({ hyperconverged: { known: true, items: [operatorSnapshot.hyperconverged] } }),
    ...minorUnknown(operatorSnapshot, to, releases),
  ]
}

/** An operator whose minor is not known against this platform's; one that is known to be beyond it is refused (night E8). */
function minorUnknown(
  { platform: { minor } }: OperatorSnapshot,
  to: OperatorVersion,
  releases: Pick<Releases, 'hyperconverged'>,
): readonly HopFinding[] {
  if (minor === undefined || againstPlatform(to, minor, releases).is !== 'unknown') return []
  const last = knownMinors(releases).at(-1)
  const known = last === undefined ? '' : `: the last known one is ${last.operator}, of ${last.platform}`
  return warning({
    id: 'operator-minor-unknown',
    summary: `kvup does not know whether HyperConverged ${to.text} belongs to platform ${minor} or to a later one${known}. A mismatch is not supported`,
    remedy: ['name later release data by --releases', 'kvup releases -o json     prints those that are used'],
  })
}

function notGood(
  { hyperconverged, installed }: OperatorSnapshot,
  to: OperatorVersion,
): readonly HopFinding[] {
  const {
    good,
    why,
    name,
    namespace,
    operatorVersion = installed.text,
  } = assessHyperConverged(hyperconverged)
  if (good) return []
  const remedy = [`kubectl -n ${namespace} describe hyperconverged.hco.kubevirt.io ${name}`]
  // At another version than what is installed it rolls, and looks so on the way.
  const isRepair =
    operatorVersion === installed.text &&
    condition(hyperconverged, 'Degraded')?.status === 'True' &&
    operatorMinor(installed) === operatorMinor(to)
  const summary = `HyperConverged ${name} is not healthy: ${why.join('; ')}`
  if (isRepair) return blocker({ id: 'hyperconverged-degraded', summary, remedy })
  return warning({
    id: 'hyperconverged-not-good',
    summary: `${summary}; kvup waits until it is`,
    remedy,
  })
}

/** A CSV that did not succeed: why, and what helps before anything is changed (night E3). */
function csvNotSucceeded(operatorSnapshot: OperatorSnapshot): readonly HopFinding[] {
  const { csv, csvPhase, csvSays, csvIsGone, subscription } = operatorSnapshot
  const { namespace, name } = subscription.metadata
  if (csvIsGone)
    return warning({
      id: 'csv-not-succeeded',
      summary: `${goneCsv(name, csv)}: kvup changes HyperConverged only after it is Succeeded`,
      remedy: [showsWithoutCsv(namespace)],
    })
  if (csvPhase === undefined || csvPhase === 'Succeeded') return []
  return warning({
    id: 'csv-not-succeeded',
    summary: `ClusterServiceVersion ${csv} is ${csvPhase}${csvSays === undefined ? '' : ` (${csvSays})`}: kvup changes HyperConverged only after it is Succeeded`,
    remedy: [`kubectl -n ${namespace} describe csv ${csv}`],
  })
}

/**
 * Of an InstallPlan that waits and is not the one of the first hop: it stays in the way, whatever is changed (ocp 2.3 #3), so it is told before anybody is
 * asked. Not one that is on the way, nor while a release is on its way already: its steps judge what comes after it. Named as the steps name it. Pure.
 */
function waitingPlan(
  { subscription, plan, platform, contents }: OperatorSnapshot,
  part: OlmPart,
  tools: Pick<HopTools, 'releases' | 'command'>,
): readonly HopFinding[] {
  const [next] = part.isUnderWay ? [] : part.hops
  if (next === undefined || plan === undefined || plan.status?.phase === 'Complete') return []
  const hop = { ...part, ...next, stableMs: 0 }
  const judged = judgedOn(platform, {
    snapshot: { subscription },
    plan,
    hop,
    tools,
    hidden: contents?.hidden,
  })
  if (judged.blocked === undefined || isOnTheWay(judged, subscription, part)) return []
  const { reason, by, remedy } = judged.blocked
  return blocker({ id: reason, summary: by, remedy, objects: [`installplan/${plan.metadata.name}`] })
}

/** What somebody agrees to, before he is asked. */
function contentsSaid({ plan, contents }: OperatorSnapshot): readonly string[] {
  if (plan === undefined || contents === undefined) return []
  const [first = '', ...others] = contents.lines
  return [`InstallPlan ${plan.metadata.name}, which waits, ${first}`, ...others]
}

/** Seen before the approval, it costs two commands; OLM makes no other plan for one that failed of it (olm-real 4). Pure. */
function storedVersionsLost({ plan, contents }: OperatorSnapshot): readonly HopFinding[] {
  return (contents?.losses ?? []).map(({ crd, versions, stored }) => ({
    id: 'operand-crd-stored-versions',
    level: 'blocker',
    summary: `InstallPlan ${plan?.metadata.name ?? ''} would fail: it takes ${versions.join(' and ')} out of ${crd}, which status.storedVersions still names. OLM then creates no other plan`,
    remedy: forgetVersions(crd, stored),
    objects: [`customresourcedefinition/${crd}`],
    standsAt: `InstallPlan ${plan?.metadata.name ?? ''}`,
  }))
}

function isOnTheWay({ verdict }: Judged, { status }: Subscription, { certain, csv }: OlmPart): boolean {
  return verdict.is === 'wrong' && !certain && isBetween(verdict.offers, status?.installedCSV, csv)
}

/**
 * The catalog file leads past a minor, and nowhere else: OLM takes such an edge, while KubeVirt supports updates to the next minor alone. A warning where other
 * methods have a blocker, for it is whoever made the catalog that says so. Pure.
 */
function minorSkipped({ certain, from, hops }: OlmPart): readonly HopFinding[] {
  if (!certain) return []
  return hops.flatMap(({ version }, i) => {
    const before = hops[i - 1]?.version ?? from
    if (!passesOver(before, version)) return []
    return warning({
      id: 'minor-skipped',
      summary: `the catalog goes from HyperConverged ${before} to ${version} without a release of a minor in between, but KubeVirt supports only updates to the next minor`,
      remedy: ['name a catalog that has the minor in between by --catalog-file', makesCatalog()],
    })
  })
}
