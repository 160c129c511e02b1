import { type CustomResourceDefinition, CustomResourceDefinitions } from '../kube/kinds/extension-kinds.ts'
import { type HopFinding, laterCrdVersions, type LaterCrdVersions } from '../releases/hop-findings.ts'
import { latestPatch, type Releases } from '../releases/releases.ts'
import { compareVersions, minorOf, type Version, versionOf } from '../releases/release-versions.ts'
import type { RolloutStatus } from './rollout-status.ts'
import type { Reader } from '../kube/cluster.ts'
import { type Known, known } from '../kube/known.ts'

interface CrdQuestion {
  rolloutStatus: RolloutStatus
  releases: Releases
}

/**
 * What keeps KubeVirt from going to a release that lacks what its CRDs store: virt-operator would try for ever. Undefined where the way is
 * open, as it is until virt-operator has replaced the CRDs. Pure.
 */
export function noWayBack(
  to: Version,
  crds: readonly CustomResourceDefinition[],
  snapshot: CrdQuestion,
): HopFinding | undefined {
  const later = laterCrdVersions(to, snapshot.releases)
  const ahead = crdsAhead(crds, later)
  const newest = later.findLast((one) => crdsAhead(crds, [one]).length > 0)
  if (newest === undefined) return undefined
  const what = ahead.map(({ name, versions }) => `${name} stores ${versions.join(' and ')}`).join(', ')
  const running = versionOf(snapshot.rolloutStatus.observed.version)
  const isForward = running !== undefined && compareVersions(to, running) > 0
  const summary = isForward ? `${to.text} cannot be installed` : `there is no way back to ${to.text}`
  return {
    id: 'no-way-back',
    level: 'blocker',
    summary: `${summary}: ${what}, which ${to.text} does not have. The API server refuses a CRD that lacks a stored version`,
    objects: ahead.map(({ name }) => `customresourcedefinition/${name}`),
    remedy: [
      ...(isForward ? farther(running, newest, snapshot) : forward(to, newest.since, snapshot)),
      forgets,
    ],
  }
}

/** A release that has what is stored, where it is one step away: on the way to one that is farther each step would be refused. */
function farther(
  running: Version,
  { since, versions }: LaterCrdVersions,
  { releases }: CrdQuestion,
): readonly string[] {
  const goal = latestPatch(since, releases)
  return goal === undefined || goal.major !== running.major || goal.minor - running.minor > 1
    ? []
    : [`kvup upgrade --to ${goal.text}     has ${versions.join(' and ')}`]
}

/**
 * On to where the update was going once what holds it up is repaired, at the least to the minor that brought the CRDs; from where it has ended, to a
 * later patch.
 */
function forward(to: Version, since: string, { rolloutStatus, releases }: CrdQuestion): readonly string[] {
  const { observed, target, operator, verdict } = rolloutStatus
  const found = [target.version, observed.version, operator?.version]
    .map((text) => versionOf(text))
    .filter((version): version is Version => version !== undefined && compareVersions(version, to) > 0)
    .toSorted(compareVersions)
    .at(-1)
  const goal = found ?? latestPatch(since, releases)
  if (goal === undefined) return [showsStatus]
  const isUnderWay = verdict !== 'Healthy' || observed.version !== target.version
  if (isUnderWay) return [`kvup upgrade --to ${goal.text}     continues the upgrade to its end`, showsStatus]
  if (observed.version !== goal.text)
    return [
      `Keep ${observed.version ?? 'what is installed'}: KubeVirt goes forward only`,
      `kvup upgrade --to ${goal.text}     goes forward instead, to a newer release`,
    ]
  const patch = latestPatch(minorOf(goal), releases)
  return patch !== undefined && compareVersions(patch, goal) > 0
    ? [`kvup upgrade --to ${patch.text}     goes forward instead, to the newest patch of ${minorOf(goal)}`]
    : [`Keep ${goal.text}, or upgrade to a newer patch of ${minorOf(goal)}`]
}

const forgets = 'kvup explain no-way-back     shows when a stored version can be removed from a CRD'
const showsStatus = 'kvup status     shows what to repair first'

/** A CRD in which objects may be stored as an earlier release does not have them. */
interface CrdAhead {
  name: string
  versions: readonly string[]
}

/**
 * The CRDs whose `status.storedVersions` name one of these versions: the API server takes none for them that lacks it (facts 1.6). None until
 * virt-operator has replaced the CRDs. Pure.
 */
export function crdsAhead(
  crds: readonly CustomResourceDefinition[],
  later: readonly LaterCrdVersions[],
): readonly CrdAhead[] {
  return crds.flatMap(({ metadata, spec, status }) => {
    const versions = later
      .filter(({ group }) => group === spec?.group)
      .flatMap((one) => one.versions)
      .filter((version) => status?.storedVersions?.includes(version))
    return versions.length === 0 ? [] : [{ name: metadata.name, versions }]
  })
}

/**
 * The CRDs that virt-operator brings, by the label that it gives all of them: not the hundreds of a whole platform. Unknown where they may not be
 * read; throws every other ApiError.
 */
export function kubeVirtDefinitions(reader: Pick<Reader, 'list'>): Promise<Known<CustomResourceDefinition>> {
  return known(reader.list(CustomResourceDefinitions, { labels: 'kubevirt.io' }))
}
