import { crdsAhead, noWayBack } from '../kubevirt/stored-versions.ts'
import {
  crdsThatGo,
  lossBehind,
  type HopFinding,
  type LaterCrdVersions,
  laterCrdVersions,
} from '../releases/hop-findings.ts'
import { knownReleases, type Releases } from '../releases/releases.ts'
import { compareVersions, type Version, versionOf } from '../releases/release-versions.ts'
import type { UpgradePlan, UpgradeState } from './upgrade-plan.ts'
import { blocked } from '../kube/errors.ts'
import { shellWord } from '../kube/shell-line.ts'
import type { RolloutStatus } from '../kubevirt/rollout-status.ts'
import type { CustomResourceDefinition } from '../kube/kinds/extension-kinds.ts'
import type { Installation } from '../kubevirt/installation.ts'
import type { Known } from '../kube/known.ts'
import { roleRemedy } from '../output/kvup-words.ts'

/**
 * Whether an update can be left for the version that is installed (night U4). `closes`: as long as virt-operator has not replaced the CRDs, which it
 * does before the first component; `closed`: it has, and the API server takes no older ones. `why` follows "there is no way back: ". `deletes`: virt-operator takes CRDs away, with all their objects.
 */
export type Downgrade =
  | { is: 'open'; deletes?: true }
  | { is: 'closes' | 'closed'; why: string; later: readonly LaterCrdVersions[] }

/** The CRDs themselves say whether it is closed, the release data whether it will be (facts 1.6). Pure. */
export function downgradeOf(
  to: Version,
  { rolloutStatus, crds }: Pick<UpgradeState, 'rolloutStatus' | 'crds'>,
  releases: Releases,
): Downgrade {
  const back = versionOf(rolloutStatus.observed.version)
  if (back === undefined || compareVersions(to, back) <= 0) return { is: 'open' }
  const later = laterCrdVersions(back, releases, to)
  if (later.length === 0) return { is: 'open', ...(crdsThatGo(to, back) !== undefined && { deletes: true }) }
  const stored = later.map(({ group, versions }) => `${group} as ${versions.join(' and ')}`)
  const why = `the CRDs of ${to.text} store ${stored.join(' and ')}, which ${back.text} does not have`
  return { is: crds?.known && crdsAhead(crds.items, later).length > 0 ? 'closed' : 'closes', why, later }
}

type DowngradeInputs = Pick<UpgradeState, 'rolloutStatus' | 'crds'>

/** Throws `blocked` where the CRDs keep KubeVirt from going to that release: nobody can accept what the API server refuses. */
export function refuseClosedDowngrade(
  to: Version,
  { rolloutStatus, crds }: DowngradeInputs,
  releases: Releases,
): void {
  if (!crds?.known) return
  const found = noWayBack(to, crds.items, { rolloutStatus, releases })
  if (found === undefined) return
  const { id, summary, objects = [], remedy } = found
  throw blocked(id, summary, { object: objects.join(', '), remedy })
}

/** Where the CRDs may not be read, and the release that is left stores what this one does not have: it may be closed. */
export function unknownDowngrade(
  to: Version,
  { rolloutStatus, crds }: DowngradeInputs,
  releases: Releases,
): readonly HopFinding[] {
  if (crds === undefined || crds.known) return []
  const { observed, target } = rolloutStatus
  const isLeft = [observed.version, target.version]
    .map((text) => versionOf(text))
    .some((left) => left !== undefined && laterCrdVersions(to, releases, left).length > 0)
  if (!isLeft) return []
  return [
    {
      id: 'crd-stored-versions',
      level: 'not-checked',
      summary: `kvup could not check whether the API server accepts the CRDs of ${to.text}: ${crds.why}`,
      remedy: [roleRemedy('kvup-upgrade')],
    },
  ]
}

/** How far an update to another version has come, by what going back from it costs (night U4). */
type DowngradeState = 'none' | 'joined' | 'untouched' | 'handlers' | 'controllers' | 'all'

/**
 * Where the operator is going now, seen from the version that is wanted. A new operator that takes the present version over
 * (night U2) is going nowhere else: `none`.
 */
export function runningUpdate(
  { target, observed, components, verdict }: RolloutStatus,
  to: Version,
): DowngradeState {
  const under = target.id !== undefined && observed.id !== undefined && target.id !== observed.id
  if (target.version === to.text) return under || verdict !== 'Healthy' ? 'joined' : 'none'
  return under && target.version !== observed.version ? howFar(components) : 'none'
}

function howFar(components: RolloutStatus['components']): DowngradeState {
  const moved = components.filter((c) => c.applied).map((c) => c.name)
  if (moved.length === 0) return 'untouched'
  if (moved.every((name) => name === 'virt-handler')) return 'handlers'
  return moved.includes('virt-api') ? 'all' : 'controllers'
}

/** To an older version than what is installed, or to what is installed from an update that has replaced every component. */
export function isDowngrade(rolloutStatus: RolloutStatus, to: Version): boolean {
  const installed = versionOf(rolloutStatus.observed.version)
  if (installed === undefined) return false
  return (
    compareVersions(to, installed) < 0 ||
    (to.text === installed.text &&
      runningUpdate(rolloutStatus, to) === 'all' &&
      !isOlder(rolloutStatus.target.version, to))
  )
}

const isOlder = (text: string | undefined, than: Version): boolean => {
  const version = versionOf(text)
  return version !== undefined && compareVersions(version, than) < 0
}

/** Whether `kvup upgrade --to` the version before is done without a risk to accept: virt-controller is not new yet (night U4). */
function isDowngradeOpen(rolloutStatus: RolloutStatus, back: Version): boolean {
  const direction = runningUpdate(rolloutStatus, back)
  if (isOlder(rolloutStatus.target.version, back)) return rolloutStatus.observed.version === back.text
  return rolloutStatus.observed.version === back.text && direction !== 'controllers' && direction !== 'all'
}

/** What stands against leaving an update that is under way, and what it means. `onNew`: VMIs on its virt-launcher already. */
export function runningFindings(
  rolloutStatus: RolloutStatus,
  to: Version,
  onNew: readonly string[],
): readonly HopFinding[] {
  const direction = runningUpdate(rolloutStatus, to)
  if (direction === 'none') return []
  const running = rolloutStatus.target.version ?? 'another version'
  if (direction === 'joined')
    return [
      {
        id: 'update-joined',
        level: 'info',
        summary: `an update to ${to.text} is running already: kvup joins it`,
        remedy: [],
      },
    ]
  if (direction === 'untouched')
    return [
      {
        id: 'update-taken-over',
        level: 'info',
        summary: [
          `an update to ${running} is running, but no component is updated yet: ${to.text} replaces it`,
          ...(rolloutStatus.observed.version === to.text ? crdsGone(running, to) : []),
        ].join('; '),
        remedy: [],
      },
    ]
  if (rolloutStatus.observed.version === to.text && isOlder(running, to))
    return [
      {
        id: 'update-taken-over',
        level: 'info',
        summary: `a downgrade to ${running} is running: kvup cancels it, and ${to.text} remains installed`,
        remedy: [],
      },
    ]
  return rolloutStatus.observed.version === to.text
    ? rollbackLine(direction, { running, to, onNew })
    : [anotherUpdate(running, to)]
}

const anotherUpdate = (running: string, to: Version): HopFinding => ({
  id: 'another-update-running',
  level: 'blocker',
  summary: `an update to ${running} is running and components are updated already; ${to.text} was requested`,
  remedy: [`kvup upgrade --to ${shellWord(running)}`, 'kvup status'],
})

/** Graded by what was replaced already: virt-controller of the new version starts VMs that cannot migrate back (night U4). */
function rollbackLine(
  direction: DowngradeState,
  { running, to, onNew }: { running: string; to: Version; onNew: readonly string[] },
): readonly HopFinding[] {
  const summary = {
    handlers: `going back from ${running} to ${to.text}: virt-handler is new on some nodes and is rolled back`,
    controllers: `going back from ${running} to ${to.text}: virt-controller is new; ${stranded(onNew)}`,
    all: `going back from ${running} to ${to.text} is a downgrade: virt-api has begun to run ${running}; ${stranded(onNew)}`,
  }[direction as 'handlers' | 'controllers' | 'all']
  const level = direction === 'handlers' ? 'warning' : 'blocker'
  const id = direction === 'all' ? 'downgrade' : 'way-back'
  return [
    {
      id,
      level,
      summary: [summary, ...crdsGone(running, to)].join('; '),
      ...(direction !== 'handlers' && onNew.length > 0 && { objects: onNew.slice(0, 20) }),
      remedy: [
        `kvup upgrade --to ${shellWord(running)}`,
        `kvup upgrade --to ${to.text} --accept ${id}     goes back, which KubeVirt does not support`,
      ],
    },
  ]
}

function crdsGone(running: string, to: Version): readonly string[] {
  const from = versionOf(running)
  const goes = from && crdsThatGo(from, to)
  return goes === undefined ? [] : [goes]
}

function stranded(onNew: readonly string[]): string {
  if (onNew.length === 0) return 'no VM runs the new virt-launcher yet'
  return onNew.length === 1
    ? '1 VM runs the new virt-launcher and cannot migrate back'
    : `${onNew.length} VMs run the new virt-launcher and cannot migrate back`
}

/** What going back takes once virt-controller is new: `way-back` until virt-api begins, `downgrade` from then on (night U4). A line that is read in a plan has both, and works at either time. */
const risksTaken = ' --accept way-back --accept downgrade'

/**
 * The command that goes back to what is installed now, while this step or `component` is at work; `none` where nothing was installed, the plan
 * itself is the way back, or the CRDs are replaced by then and do not go back. A new operator stays, and takes the components back by a
 * tag (night U4).
 */
export function undoOf({ from, to, method, wayBack: downgrade }: UpgradePlan, component?: string): string {
  if (from === undefined || from === to.text || method === 'olm') return 'none'
  const by = method === 'operator-manifest' ? ' --method image-tag' : ''
  const command = `kvup upgrade --to ${from}${by}`
  // What a downgrade replaced is older: nothing on it keeps from going on to what was installed.
  if (isOlder(to.text, versionOf(from) ?? to)) return command
  if (downgrade.is === 'open')
    return command + (component === undefined || component === 'virt-handler' ? '' : risksTaken)
  return downgrade.is === 'closed' || component !== undefined
    ? `none: ${downgrade.why}`
    : `${command}     until the CRDs are replaced: ${downgrade.why}`
}

/** What was seen of an update that ended early. */
export interface LeftUpdate {
  installation: Installation
  rolloutStatus: RolloutStatus
  /** Undefined where they were not read. */
  crds: Known<CustomResourceDefinition> | undefined
}

/**
 * The command that goes back. Only where it would be done: what is refused when it is pasted helps nobody. The new operator, once it has
 * taken over, stays: it takes the components back by a tag (night U4).
 */
export function downgradeLine(
  plan: LeftPlan,
  { installation, rolloutStatus, crds }: LeftUpdate,
): readonly string[] {
  const { to, method, owner } = plan
  const back = versionBefore(plan)
  if (back === undefined || installation.uid !== owner.uid) return []
  if (!hasBegun(plan, installation)) return []
  if (!isDowngradeOpen(rolloutStatus, back) || !areCrdsTaken(plan, crds)) return []
  const tookOver = versionOf(installation.kubevirt.status?.operatorVersion)?.text === to.text
  const by = method === 'operator-manifest' && tookOver ? ' --method image-tag' : ''
  const does = compareVersions(to, back) < 0 ? 'cancels the downgrade' : `goes back${lossBehind(to, back)}`
  return [`kvup upgrade --to ${back.text}${by}     ${does}`]
}

/** False while nothing but what is borrowed was written: there is nothing to go back from. */
function hasBegun({ to }: LeftPlan, { kubevirt, operator }: Installation): boolean {
  const { targetKubeVirtVersion, observedKubeVirtVersion, operatorVersion } = kubevirt.status ?? {}
  const names = [
    kubevirt.spec?.imageTag,
    operator?.version,
    targetKubeVirtVersion,
    observedKubeVirtVersion,
    operatorVersion,
  ]
  return names.some((name) => versionOf(name)?.text === to.text)
}

/** What the way back takes away besides, where there is one; undefined where there is none, or it takes nothing away. */
export function downgradeTakes(plan: UpgradePlan, left: LeftUpdate | undefined): string | undefined {
  const back = versionBefore(plan)
  if (left === undefined || back === undefined || downgradeLine(plan, left).length === 0) return undefined
  const goes = crdsThatGo(plan.to, back)
  return goes && `going back to ${back.text}: ${goes}`
}

type LeftPlan = Pick<UpgradePlan, 'to' | 'method' | 'from' | 'olm' | 'wayBack'> & { owner: { uid: string } }

/** The same of an update that whoever began: no plan is at hand. */
export function downgradeNow(left: LeftUpdate, releases: Releases = knownReleases): string | undefined {
  const { installation, rolloutStatus } = left
  const { target, observed } = rolloutStatus
  const to = versionOf(target.version)
  if (to === undefined || observed.version === undefined || installation.manager.kind === 'hyperconverged')
    return undefined
  const [line] = downgradeLine(
    {
      to,
      from: observed.version,
      method: installation.imageTag === to.text ? 'image-tag' : 'operator-manifest',
      owner: installation,
      wayBack: downgradeOf(to, { rolloutStatus, ...(left.crds && { crds: left.crds }) }, releases),
    },
    left,
  )
  return line
}

function versionBefore({ from, to, olm }: LeftPlan): Version | undefined {
  const before = versionOf(from)
  return olm || before?.text === to.text ? undefined : before
}

/** Why there is none; undefined where there is one, or where it is not known. */
export function whyNoDowngrade(
  { wayBack: downgrade }: UpgradePlan,
  crds: LeftUpdate['crds'],
): string | undefined {
  if (downgrade.is === 'open') return undefined
  const isClosed =
    downgrade.is === 'closed' || (crds?.known && crdsAhead(crds.items, downgrade.later).length > 0)
  return isClosed ? downgrade.why : undefined
}

export function noDowngradeNote(plan: UpgradePlan, left: LeftUpdate | undefined): string | undefined {
  const why = whyNoDowngrade(plan, left?.crds)
  return why && `there is no way back: ${why}`
}

/** Where it depends on them and they could not be read, nothing is promised. */
function areCrdsTaken({ wayBack: downgrade }: LeftPlan, crds: LeftUpdate['crds']): boolean {
  if (downgrade.is === 'open') return true
  return (
    downgrade.is === 'closes' && crds?.known === true && crdsAhead(crds.items, downgrade.later).length === 0
  )
}
