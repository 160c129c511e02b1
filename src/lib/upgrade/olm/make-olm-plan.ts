import type { CatalogPackage } from '../../catalogs/catalog.ts'
import { pathTo } from '../../catalogs/path.ts'
import { hyperConvergedStanding } from '../../facts/hyperconverged/hyperconverged-standing.ts'
import type { HopFinding } from '../../releases/finding.ts'
import {
  compareOperatorVersions,
  type OperatorVersion,
  operatorVersionOf,
  stemOf,
} from '../../releases/operator-version.ts'
import type { Releases } from '../../releases/releases.ts'
import { type Version, versionOf } from '../../releases/version.ts'
import { blocked } from '../../system/errors.ts'
import { guessHops, type GuessedHop } from './guess-hops.ts'
import { minorSkipped } from './minor-skipped.ts'
import { olmFindings } from './olm-findings.ts'
import type { OlmPart, OlmRequest } from './olm-part.ts'
import type { OperatorSeen } from './operator-seen.ts'
import { waitingPlan } from './waiting-plan.ts'
import { packageIn } from './package-in.ts'
import { type OperatorTarget, resolveTarget } from './resolve-target.ts'

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
  seen: OperatorSeen
  releases: Releases
  /** Packages of `--catalog-file`. */
  catalog?: readonly CatalogPackage[] | undefined
}

/** Pure. Throws `blocked` for a target that is not known, not offered, older, ahead of the platform or out of reach. */
export function olmGoal(question: Question): OlmGoal {
  const { request, seen, releases } = question
  const target = resolveTarget(request.typed, {
    installed: seen.installed,
    offered:
      question.catalog === undefined
        ? seen.offered?.flatMap(({ entries }) => entries.map(({ version }) => version))
        : undefined,
    filed: question.catalog && versionsIn(packageIn(question.catalog, seen.package)),
    platform: seen.platform.minor,
    releases,
  })
  const part = partOf(question, target)
  const { operatorVersion } = hyperConvergedStanding(seen.hyperconverged)
  const isThere = seen.installed.text === target.operator.text && operatorVersion === target.operator.text
  const to = versionOf(target.kubevirt) ?? { ...target.operator, text: target.operator.text }
  const findings = [
    ...olmFindings(seen, target.operator, releases),
    ...minorSkipped(part),
    ...waitingPlan(seen, part, { releases, command: request.command }),
  ]
  return { part, to, isThere, said: isThere ? [] : saidOf(part, target, seen), findings }
}

const versionsIn = ({ channels }: CatalogPackage): readonly OperatorVersion[] =>
  channels
    .flatMap(({ entries }) => entries)
    .map(({ version }) => operatorVersionOf(version))
    .filter((version) => version !== undefined)

function partOf(question: Question, { operator, kubevirt }: OperatorTarget): OlmPart {
  const { request, seen, catalog } = question
  const { subscription, installed, csv } = seen
  const { spec = {}, metadata } = subscription
  const { namespace, name, uid } = metadata
  const { operatorVersion = installed.text } = hyperConvergedStanding(seen.hyperconverged)
  const csvNamed = (version: string) => csvIn(seen, version) ?? `${stemOf(csv)}.v${version}`
  const way = { from: installed, channel: spec.channel, to: operator, csvNamed }
  return {
    package: seen.package,
    subscription: { namespace, name, uid },
    approval: spec.installPlanApproval ?? 'Automatic',
    ...(spec.channel !== undefined && { channel: spec.channel }),
    from: operatorVersion,
    to: operator.text,
    csv: operator.text === installed.text ? csv : csvNamed(operator.text),
    ...(kubevirt !== undefined && { kubevirt }),
    hops:
      catalog === undefined ? guessHops(seen.offered ?? [], way) : hopsIn(catalog, question, operator.text),
    certain: catalog !== undefined,
    offered: seen.offered ?? [],
    approveAlso: request.approveAlso,
    hyperconverged: placeOf(seen.hyperconverged),
    accepted: request.accepted,
    isUnderWay: operatorVersion !== installed.text,
  }
}

function placeOf({
  metadata: { name, namespace = '', uid = '' },
}: OperatorSeen['hyperconverged']): OlmPart['hyperconverged'] {
  return { ref: { name, namespace }, uid }
}

const csvIn = ({ offered = [] }: OperatorSeen, version: string): string | undefined =>
  offered.flatMap(({ entries }) => entries).find((entry) => entry.version.text === version)?.csv

/** Throws `blocked` with how far it goes. */
function hopsIn(catalog: readonly CatalogPackage[], { seen }: Question, to: string): readonly GuessedHop[] {
  const { csv, installed, subscription } = seen
  if (installed.text === to) return []
  const channel = subscription.spec?.channel
  const path = pathTo(packageIn(catalog, seen.package), {
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
  const how = far.length === 0 ? 'nothing replaces it' : `it leads to ${far.join(', ')}`
  return blocked('target-unreachable', `no path of the catalog leads from ${csv} to ${to}: ${how}`, {
    remedy: far
      .slice(0, 1)
      .map((version) => `kvup upgrade --to ${version} --method olm     is as far as it goes`),
  })
}

function saidOf(part: OlmPart, target: OperatorTarget, { installed }: OperatorSeen): readonly string[] {
  const path = part.hops.map(({ version, channel }) =>
    channel === undefined ? version : `${version} (channel ${channel})`,
  )
  const later = part.certain
    ? ''
    : '; the catalog shows no edges: OLM may take others in between, which kvup follows'
  return [
    ...(target.said === undefined ? [] : [target.said]),
    ...(path.length > 0
      ? [`the path of HyperConverged: ${[installed.text, ...path].join(' → ')}${later}`]
      : []),
    ...(part.approval === 'Automatic'
      ? ['the Subscription approves by itself: kvup joins what OLM does, and approves nothing']
      : []),
    'OLM knows no downgrade: there is no way back',
    ...(compareOperatorVersions(target.operator, installed) > 0
      ? ['HyperConverged may rewrite parts of its own spec when it upgrades']
      : []),
  ]
}
