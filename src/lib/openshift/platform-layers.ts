import { itemsOf, filled, type Known } from '../kube/known.ts'
import type { ClusterOperator, MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import { since } from '../kube/timestamps.ts'
import { minutes } from '../kube/clock.ts'
import { counted } from '../kube/text.ts'
import type { RecognisedWindow } from './eus-window.ts'
import type { JudgedLayer, Layer } from './olm-layers.ts'
import { assessPool, type PoolStatus } from './machine-config-pools.ts'
import { followingOf, type PoolFollowing } from './pool-nodes.ts'
import {
  assessClusterOperators,
  assessPlatform,
  type ClusterOperatorStatus,
  type PlatformSnapshot,
  type PlatformStatus,
  type Trouble,
} from './platform-status.ts'

interface LayerContext {
  window: RecognisedWindow | undefined
  at: Date
}

/**
 * The cluster version, the operators of the platform where one is not as it should be, and each pool. None where this is no such cluster. Of a dump that
 * lacks one of the three it is told as not known, and the others are judged all the same.
 */
export function platformLayers(platform: PlatformSnapshot, { window, at }: LayerContext): Layer[] {
  const { clusterVersion, clusterOperators, pools } = platform
  if (clusterVersion.known && clusterVersion.items.length === 0) return []
  const [cv] = itemsOf(clusterVersion)
  const platformStatus = cv && assessPlatform(cv)
  const operators = clusterOperators.known
    ? operatorsLayer(clusterOperators.items, { platformStatus, at })
    : ({ layer: 'operators', verdict: 'Unknown', says: clusterOperators.why } as const)
  return [
    platformStatus
      ? versionLayer(platformStatus)
      : { layer: 'platform', verdict: 'Unknown', says: clusterVersion.known ? '' : clusterVersion.why },
    ...(operators ? [operators] : []),
    ...poolLayers(pools, { platform, platformStatus, window }),
  ]
}

function versionLayer(platformStatus: PlatformStatus): Layer {
  const base = { layer: 'platform', object: 'clusterversion/version' } as const
  const asked = armed(platformStatus)
  if (asked) return { ...base, ...asked, ...filled({ since: platformStatus.refusedSince }) }
  const judged =
    platformStatus.state === 'idle' ? platformAtRest(platformStatus) : updatingPlatform(platformStatus)
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
export function updateName({ version, target = '', from, sameVersion }: PlatformStatus): string {
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
  const what = `${platformName(version)}; ${asked.version ?? asked.image ?? ''} is asked for`
  if (!current || accepted.is !== 'no')
    return { verdict: 'Updating', says: what, waitsFor: 'the cluster version operator to take it up' }
  return {
    verdict: 'Waiting',
    says: `${what} and was refused (${accepted.reason})`,
    waitsFor: 'whoever asked for it: it starts by itself as soon as nothing speaks against it',
    notes: [accepted.message],
    help: ['oc adm upgrade --clear     takes the request back'],
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

function updatingPlatform(platformStatus: PlatformStatus): JudgedLayer {
  const { version, state, failing, slow, message, from } = platformStatus
  const says = updateName(platformStatus)
  const incomplete = from?.incomplete
    ? [
        `the update to ${from.version} was never completed; ${version ?? 'no release'} was the last that was reached in full`,
      ]
    : []
  if (failing === 'True') {
    const { notes = [], ...words } = failingWords(says, message)
    return { verdict: 'Degraded', ...words, notes: [...notes, ...incomplete] }
  }
  if (state === 'partial')
    return { verdict: 'Stalled', says: `${says}, stopped half-way`, notes: [message, ...incomplete] }
  return {
    verdict: 'Updating',
    says,
    waitsFor: waitedFor(message),
    notes: [message, ...incomplete],
    ...(slow !== undefined && { expected: 'slower than usual, which is no failure' }),
  }
}

/** `Working towards 4.19.14: 712 of 897 done (79% complete), waiting on network` */
function waitedFor(message: string): string {
  return (
    /waiting (?:up to \d+ minutes )?on (?<what>.+?)(?: over .*)?$/u.exec(message)?.groups?.['what'] ??
    'its operators'
  )
}

/** How bad a part of the platform is that is not available or degraded. */
export type OperatorSeverity = 'info' | 'warning' | 'error'

/** How long a part of the platform may be degraded while it updates, and not available at any time: then a warning, then an error (ocp 4.2). */
const patience = {
  degraded: { warning: 5 * minutes, error: 40 * minutes },
  unavailable: { warning: 5 * minutes, error: 20 * minutes },
}

/** An operator that is not as it should be, its worst condition first. Of one that does not say since when nothing is overlooked. */
export interface BadOperator {
  operator: ClusterOperatorStatus
  /** What is told of it. */
  told: Trouble
  is: 'unavailable' | 'degraded'
  severity: OperatorSeverity
}

const weight: Record<OperatorSeverity, number> = { error: 0, warning: 1, info: 2 }

/** Those that are not available or degraded, the worst first. A platform at rest has no excuse for one that is degraded. */
export function badOperators(
  operators: readonly ClusterOperator[],
  { updating, at }: { updating: boolean; at: Date },
): readonly BadOperator[] {
  return assessClusterOperators(operators)
    .flatMap((operator) => {
      const {
        available,
        degraded,
        unavailable = { message: 'it does not say whether it is available' },
      } = operator
      const found: BadOperator[] = [
        ...(available
          ? []
          : [
              {
                operator,
                told: unavailable,
                is: 'unavailable',
                severity: grade('unavailable', unavailable, at),
              } as const,
            ]),
        ...(degraded
          ? [
              {
                operator,
                told: degraded,
                is: 'degraded',
                severity: updating ? grade('degraded', degraded, at) : 'error',
              } as const,
            ]
          : []),
      ]
      return found.toSorted((a, b) => weight[a.severity] - weight[b.severity]).slice(0, 1)
    })
    .toSorted((a, b) => weight[a.severity] - weight[b.severity])
}

function grade(is: BadOperator['is'], { since: from }: Trouble, at: Date): OperatorSeverity {
  const age = since(from, at)
  if (age === undefined || age >= patience[is].error) return 'error'
  return age >= patience[is].warning ? 'warning' : 'info'
}

/** Undefined where all are as they should be, and it is known what they belong to. */
function operatorsLayer(
  operators: readonly ClusterOperator[],
  { platformStatus, at }: { platformStatus: PlatformStatus | undefined; at: Date },
): Layer | undefined {
  const updating = platformStatus !== undefined && platformStatus.state !== 'idle'
  const bad = badOperators(operators, { updating, at })
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
  return {
    layer: 'operators',
    object: `clusteroperator/${name}`,
    ...verdictOn(worst),
    says: bad.map(inWords).join(', '),
    ...filled({ since: worst.told.since }),
    notes: bad.flatMap(noteOf),
    help: [`oc describe clusteroperator ${name}`],
  }
}

/** Degraded is usual for a while in an update; not available is a warning sooner, and no excuse is made for it then. */
function verdictOn({ is, severity }: BadOperator): Pick<JudgedLayer, 'verdict' | 'expected' | 'waitsFor'> {
  if (severity === 'error') return { verdict: 'Degraded' }
  if (is === 'unavailable' && severity === 'warning')
    return { verdict: 'Stalled', waitsFor: 'it to be available again: longer than 20 minutes is a failure' }
  const expected =
    is === 'degraded'
      ? 'so it looks for a while when the platform updates'
      : 'so it looks for a moment when its pod moves to another node'
  return {
    verdict: 'Updating',
    expected,
    waitsFor: is === 'degraded' ? 'the update to go on' : 'it to come back',
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
  window: RecognisedWindow | undefined
}

/** One per pool that has machines or something to tell, the master first: the platform's update needs it first. */
function poolLayers(pools: Known<MachineConfigPool>, snapshot: PoolsSnapshot): Layer[] {
  if (!pools.known) return [{ layer: 'pool', verdict: 'Unknown', says: pools.why }]
  return pools.items
    .map((pool) => ({ pool: assessPool(pool), following: followingOf(pool, snapshot) }))
    .filter(({ pool: { machines, state, paused } }) => machines > 0 || state === 'degraded' || paused)
    .toSorted((a, b) => Number(b.pool.isMaster) - Number(a.pool.isMaster))
    .map((judged) => poolLayer(judged, snapshot.window))
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
    says: `paused, outdated: ${machines}, will not follow${to}`,
    ...endOfPause(pool, window),
  }
}

const endOfPause = (pool: PoolStatus, window: RecognisedWindow | undefined) =>
  window
    ? { expected: 'in an EUS window', waitsFor: 'the end of the window' }
    : { waitsFor: 'somebody to unpause it', help: [unpause(pool)] }

type Judge = (pool: PoolStatus, window: RecognisedWindow | undefined) => JudgedLayer

const counts = ({ updated, machines }: PoolStatus): string => `${updated} of ${machines} updated`

const said = ({ message }: PoolStatus): string[] => (message === '' ? [] : [message])

const judged: Record<PoolStatus['state'], Judge> = {
  updated: (pool) => ({
    verdict: 'Healthy',
    says: `${counts(pool)}${pool.paused ? ', paused with nothing to do' : ''}`,
  }),
  updating: (pool) => ({
    verdict: 'Updating',
    says: counts(pool),
    waitsFor: 'its other machines to be drained and rebooted',
    notes: said(pool),
  }),
  pending: (pool) => ({
    verdict: 'Updating',
    says: `${counts(pool)}, not begun`,
    waitsFor: 'the machine config controller to begin',
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

function pausedMaster(pool: PoolStatus): JudgedLayer {
  return {
    verdict: 'Stalled',
    says: `paused, ${counts(pool)}: the platform cannot be updated`,
    waitsFor: 'somebody to unpause it',
    help: [unpause(pool)],
  }
}

const unpause = ({ name }: PoolStatus): string =>
  `oc patch machineconfigpool ${name} --type merge -p '{"spec":{"paused":false}}'`
