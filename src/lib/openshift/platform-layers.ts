import { unpausePool } from './platform-rules.ts'
import { itemsOf, filled, type Known } from '../kube/known.ts'
import type { ClusterOperator, MachineConfig, MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import { counted } from '../kube/text.ts'
import type { RecognisedWindow } from './eus-window.ts'
import type { JudgedLayer, Layer } from './olm-layers.ts'
import { assessPool, type PoolStatus } from './machine-config-pools.ts'
import { followingOf, type PoolFollowing } from './pool-nodes.ts'
import {
  assessPlatform,
  neverCompleted,
  type PlatformSnapshot,
  type PlatformStatus,
} from './platform-status.ts'
import { badOperators, type BadOperator, isComingUp } from './operator-health.ts'
import { drainHelp, drainLines } from './drain-blockers.ts'
import { nodeLines, type PoolReport } from './pool-nodes.ts'
import type { PlatformReport } from './platform-report.ts'
import { progressLines } from './update-progress.ts'

interface LayerContext {
  window: RecognisedWindow | undefined
  at: Date
  /** The same in numbers and names; absent where there is no ClusterVersion to read. */
  report: PlatformReport | undefined
  /** Rendered ones that pools want and nodes run. */
  machineConfigs: Known<MachineConfig>
}

/**
 * The cluster version, the operators of the platform where one is not as it should be, and each pool. None where this is no such cluster. Of a dump that
 * lacks one of the three it is told as not known, and the others are judged all the same.
 */
export function platformLayers(platform: PlatformSnapshot, context: LayerContext): Layer[] {
  const { window, at, report, machineConfigs } = context
  const { clusterVersion, clusterOperators, pools } = platform
  if (clusterVersion.known && clusterVersion.items.length === 0) return []
  const [cv] = itemsOf(clusterVersion)
  const platformStatus = cv && assessPlatform(cv)
  const operators = clusterOperators.known
    ? operatorsLayer(clusterOperators.items, { platformStatus, at })
    : ({ layer: 'operators', verdict: 'Unknown', says: clusterOperators.why } as const)
  return [
    platformStatus
      ? versionLayer(platformStatus, report, at)
      : { layer: 'platform', verdict: 'Unknown', says: clusterVersion.known ? '' : clusterVersion.why },
    ...(operators ? [operators] : []),
    ...poolLayers(pools, { platform, platformStatus, machineConfigs, window, reports: report?.pools ?? [] }),
  ]
}

function versionLayer(platformStatus: PlatformStatus, report: PlatformReport | undefined, at: Date): Layer {
  const base = { layer: 'platform', object: 'clusterversion/version' } as const
  const asked = armed(platformStatus)
  if (asked) return { ...base, ...asked, ...filled({ since: platformStatus.refusedSince }) }
  if (isComingUp(platformStatus, at))
    return { ...base, ...comingUp(platformStatus, report), ...filled({ since: platformStatus.since }) }
  const judged =
    platformStatus.state === 'idle'
      ? platformAtRest(platformStatus)
      : updatingPlatform(platformStatus, report)
  return { ...base, ...judged, ...filled({ since: sinceOf(platformStatus) }) }
}

/** Of the condition that is told, never of the update around it: an update of two hours may fail since a moment ago. */
function sinceOf({ state, failing, failingSince, progressingSince, since: from }: PlatformStatus) {
  if (failing === 'True') return failingSince
  return state === 'partial' ? progressingSince : from
}

/** `OpenShift 4.18.21`, `OKD 4.19.0-okd-scos.16`. */
function platformName(version = ''): string {
  return `${version.includes('okd') ? 'OKD' : 'OpenShift'} ${version}`.trim()
}

/** `OpenShift 4.18.21 to 4.19.14`; from a release that was never reached in full it says so, and of one version what else changes. */
function updateName({ version, target = '', from, sameVersion, installing }: PlatformStatus): string {
  if (installing) return `installation of ${platformName(target)}`
  const left = from?.version ?? version
  if (left === undefined) return platformName(target)
  if (sameVersion === 'multi-architecture') return `${platformName(left)} to Multi-Architecture`
  if (sameVersion === 'other-image') return `${platformName(left)} to another image of the same version`
  const [name, ...rest] = platformName(left).split(' ')
  return `${[name, ...(from?.incomplete ? ['incomplete'] : []), ...rest].join(' ')} to ${target}`
}

/** Asked for and refused, it stays armed, whatever else the cluster does (ocp 3.2). */
function armed(platformStatus: PlatformStatus): JudgedLayer | undefined {
  const { armed: asked, accepted, current, version } = platformStatus
  if (asked === undefined) return undefined
  const what = `${platformName(version)}; ${asked.version ?? asked.image ?? ''} is requested`
  if (!current || accepted.is !== 'no')
    return { verdict: 'Updating', says: what, waitsFor: 'the cluster version operator to start it' }
  return {
    verdict: 'Waiting',
    says: `${what} and was refused (${accepted.reason})`,
    waitsFor: 'its cause to pass; then the update starts by itself',
    notes: [accepted.message],
    help: ['oc adm upgrade --clear     withdraws the request'],
  }
}

/** Nothing is asked for that it does not follow: that its spec has a newer generation, as after a change of the channel, is no update. */
function platformAtRest({ failing, message, version, upgradeable }: PlatformStatus): JudgedLayer {
  const says = platformName(version)
  if (failing === 'True') return { verdict: 'Degraded', ...failingWords(says, message) }
  if (upgradeable.is !== 'no') return { verdict: 'Healthy', says }
  return { verdict: 'Healthy', says, notes: [`no next minor for now: ${upgradeable.message}`] }
}

/** So much of a reason stands in a headline. */
const longestReason = 120

/** The reason in the headline, and the whole message below where that is more. */
function failingWords(what: string, message: string): Pick<JudgedLayer, 'says' | 'notes'> {
  const [first = ''] = message.split('\n')
  if (first === '') return { says: `${what} fails` }
  const isShort = first === message && first.length <= longestReason
  const reason = first.length <= longestReason ? first : `${first.slice(0, longestReason - 1).trimEnd()}…`
  return { says: `${what} fails: ${reason}`, ...(!isShort && { notes: [message] }) }
}

/** Until its operators are there it says of itself that it fails, which is how an installation goes. */
function comingUp(platformStatus: PlatformStatus, report: PlatformReport | undefined): JudgedLayer {
  const { message, failing } = platformStatus
  return {
    verdict: 'Updating',
    says: updateName(platformStatus),
    waitsFor: 'its operators to become available',
    notes: [message, ...(report?.update ? progressLines(report.update) : [])],
    ...(failing === 'True' && { expected: 'expected for up to an hour during installation' }),
  }
}

function updatingPlatform(platformStatus: PlatformStatus, report: PlatformReport | undefined): JudgedLayer {
  const { state, failing, slow, message } = platformStatus
  const says = updateName(platformStatus)
  const incomplete = neverCompleted(platformStatus)
  const progress = report?.update ? progressLines(report.update) : []
  if (failing === 'True') {
    const { notes = [], ...words } = failingWords(says, message)
    return { verdict: 'Degraded', ...words, notes: [...notes, ...incomplete, ...progress] }
  }
  const notes = [message, ...incomplete, ...progress]
  if (state === 'partial') return { verdict: 'Stalled', says: `${says}, stopped halfway`, notes }
  if (report?.update?.pace === 'stalled')
    return { verdict: 'Stalled', says: `${says}, stalled`, waitsFor: waitedFor(message), notes }
  return {
    verdict: 'Updating',
    says,
    waitsFor: waitedFor(message),
    notes,
    ...(slow !== undefined && { expected: 'slower than usual, not failed' }),
  }
}

/** `Working towards 4.19.14: 712 of 897 done (79% complete), waiting on network` */
const waitedFor = (message: string): string =>
  /waiting (?:up to \d+ minutes )?on (?<what>.+?)(?: over .*)?$/u.exec(message)?.groups?.['what'] ??
  'its operators'

/** Undefined where all are as they should be, and it is known what they belong to. */
function operatorsLayer(
  operators: readonly ClusterOperator[],
  { platformStatus, at }: { platformStatus: PlatformStatus | undefined; at: Date },
): Layer | undefined {
  const bad = badOperators(operators, { platformStatus, at })
  const [worst] = bad
  if (!worst) {
    if (platformStatus !== undefined || operators.length === 0) return undefined
    return {
      layer: 'operators',
      verdict: 'Healthy',
      says: `${counted(operators.length, 'operator')}, all available`,
    }
  }
  const { name } = worst.operator
  const shown = bad.slice(0, mostOperators)
  const more = bad.length - shown.length
  return {
    layer: 'operators',
    object: `clusteroperator/${name}`,
    ...(platformStatus !== undefined && isComingUp(platformStatus, at) ? stillToCome : verdictOn(worst)),
    says: [...shown.map(inWords), ...(more > 0 ? [`and ${more} more`] : [])].join(', '),
    ...filled({ since: worst.told.since }),
    notes: [...shown.flatMap(noteOf), ...(more > 0 ? [`and ${more} more operators`] : [])],
    help: [`oc describe clusteroperator ${name}`],
  }
}

/** So many of them are told each, the worst first. */
const mostOperators = 6

const stillToCome = {
  verdict: 'Updating',
  expected: 'expected for up to an hour while the platform installs',
  waitsFor: 'them to become available',
} as const

/** Degraded is usual for a while in an update; not available is a warning sooner, and no excuse is made for it then. */
function verdictOn({ is, severity }: BadOperator): Pick<JudgedLayer, 'verdict' | 'expected' | 'waitsFor'> {
  if (severity === 'error') return { verdict: 'Degraded' }
  if (is === 'unavailable' && severity === 'warning')
    return { verdict: 'Stalled', waitsFor: 'it to be available again: after 20 minutes it counts as failed' }
  const expected =
    is === 'degraded'
      ? 'expected for a while during a platform update'
      : 'expected for a moment when its pod moves to another node'
  return {
    verdict: 'Updating',
    expected,
    waitsFor: is === 'degraded' ? 'the update to continue' : 'it to be available again',
  }
}

function inWords({ operator: { name, available, degraded } }: BadOperator): string {
  const states = [...(available ? [] : ['not available']), ...(degraded ? ['degraded'] : [])]
  return `${name} is ${states.join(' and ')}`
}

function noteOf({ operator, told }: BadOperator): string[] {
  const { name, unavailable, degraded } = operator
  const messages = new Set([told, unavailable, degraded].flatMap((one) => one?.message || one?.reason || []))
  return [...messages].map((message) => `${name}: ${message}`)
}

interface PoolsSnapshot {
  platform: PlatformSnapshot
  platformStatus: PlatformStatus | undefined
  machineConfigs: Known<MachineConfig>
  window: RecognisedWindow | undefined
  reports: readonly PoolReport[]
}

/** One per pool that has machines or something to tell, the master first: the platform's update needs it first. */
function poolLayers(pools: Known<MachineConfigPool>, snapshot: PoolsSnapshot): Layer[] {
  if (!pools.known) return [{ layer: 'pool', verdict: 'Unknown', says: pools.why }]
  return pools.items
    .map((pool) => ({ pool: assessPool(pool), following: followingOf(pool, snapshot) }))
    .filter(({ pool: { machines, state, paused } }) => machines > 0 || state === 'degraded' || paused)
    .toSorted((a, b) => Number(b.pool.isMaster) - Number(a.pool.isMaster))
    .map((judged) =>
      withNodes(
        poolLayer(judged, snapshot.window),
        snapshot.reports.find(({ name }) => name === judged.pool.name),
      ),
    )
}

/** What its nodes do, and which VMs keep them from being drained, with what to type first. */
function withNodes(layer: Layer, report: PoolReport | undefined): Layer {
  if (report === undefined || layer.verdict === 'Healthy') return layer
  const { drains = [] } = report
  const notes = [...(layer.notes ?? []), ...drainLines(drains), ...nodeLines(report)]
  const help = [...drainHelp(drains), ...(layer.help ?? [])]
  return { ...layer, ...(notes.length > 0 && { notes }), ...(help.length > 0 && { help }) }
}

interface JudgedPool {
  pool: PoolStatus
  following: PoolFollowing
}

function poolLayer({ pool, following }: JudgedPool, window: RecognisedWindow | undefined): Layer {
  const found =
    pool.isMaster && pool.paused
      ? pausedMaster(pool)
      : pool.machines > 0 && pool.state === 'updated' && following.is !== 'there'
        ? behind({ pool, following }, window)
        : judged[pool.state](pool, window)
  return { layer: 'pool', object: `machineconfigpool/${pool.name}`, ...found }
}

/**
 * Updated by its own counters, which are about the release before: a pool learns of the new one nearly last. Paused, it will not follow, and only a window makes
 * that as it should be.
 */
function behind({ pool, following }: JudgedPool, window: RecognisedWindow | undefined): JudgedLayer {
  const to = following.to === undefined ? '' : ` to ${following.to}`
  const at = following.from === undefined ? '' : `, at ${following.from}`
  const machines = `${counted(pool.machines, 'node')}${at}`
  if (!pool.paused)
    return {
      verdict: 'Updating',
      says: machines,
      waitsFor: `the control plane: the pool follows${to} after it`,
    }
  return {
    verdict: 'Waiting',
    says: `paused, outdated: ${machines}, not updated${to}`,
    ...endOfPause(pool, window),
  }
}

const endOfPause = (pool: PoolStatus, window: RecognisedWindow | undefined) =>
  window
    ? { expected: 'during an EUS upgrade', waitsFor: 'the end of the EUS upgrade' }
    : { waitsFor: 'somebody to unpause it', help: [unpausePool(pool.name)] }

type Judge = (pool: PoolStatus, window: RecognisedWindow | undefined) => JudgedLayer

const counts = ({ updated, machines }: PoolStatus): string => `${updated} of ${machines} updated`

const said = ({ message }: PoolStatus): string[] => (message === '' ? [] : [message])

const judged: Record<PoolStatus['state'], Judge> = {
  updated: (pool) => ({
    verdict: 'Healthy',
    says: `${counts(pool)}${pool.paused ? ', paused, up to date' : ''}`,
  }),
  updating: (pool) => ({
    verdict: 'Updating',
    says: counts(pool),
    waitsFor: 'its other nodes to be drained and rebooted',
    notes: said(pool),
  }),
  pending: (pool) => ({
    verdict: 'Updating',
    says: `${counts(pool)}, not begun`,
    waitsFor: 'the machine config controller to start',
  }),
  'paused-pending': (pool, window) => ({
    verdict: 'Waiting',
    says: `paused, outdated: ${counts(pool)}`,
    ...endOfPause(pool, window),
  }),
  degraded: (pool) => ({
    verdict: 'Degraded',
    says: `${counts(pool)}, ${pool.degraded} degraded`,
    notes: said(pool),
    help: [`oc describe machineconfigpool ${pool.name}`],
  }),
}

const pausedMaster = (pool: PoolStatus): JudgedLayer => ({
  verdict: 'Stalled',
  says: `paused, ${counts(pool)}: the platform cannot update`,
  waitsFor: 'you to unpause it',
  help: [unpausePool(pool.name)],
})
