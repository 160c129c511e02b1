import { filled, type Known } from '../kube/known.ts'
import {
  type ClusterOperatorStanding,
  clusterOperatorStandings,
  type PlatformSnapshot,
  type PlatformStanding,
  platformStanding,
} from './platform-status.ts'
import type { Layer } from './layer-verdict.ts'
import type { ClusterOperator, MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import { earliest, since } from '../kube/timestamps.ts'
import { type PoolStanding, poolStanding } from './machine-config-pools.ts'
import type { RecognisedWindow } from './eus-window.ts'

/** The cluster version, and the operators of the platform where one is not as it should be. None where this is no such cluster. */
export function platformLayers(platform: PlatformSnapshot, at: Date): Layer[] {
  const { clusterVersion, clusterOperators } = platform
  if (!clusterVersion.known) return [{ layer: 'platform', verdict: 'Unknown', says: clusterVersion.why }]
  const [cv] = clusterVersion.items
  if (!cv) return []
  const standing = platformStanding(cv)
  const operators = clusterOperators.known
    ? operatorsLayer(clusterOperators.items, { updating: standing.state !== 'idle', at })
    : ({ layer: 'operators', verdict: 'Unknown', says: clusterOperators.why } as const)
  return [versionLayer(standing), ...(operators ? [operators] : [])]
}

type Judged = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'expected' | 'notes' | 'help'>

function versionLayer(standing: PlatformStanding): Layer {
  const base = { layer: 'platform', object: 'clusterversion/version' } as const
  const asked = armed(standing)
  if (asked) return { ...base, ...asked }
  const judged = standing.state === 'idle' ? atRest(standing) : onTheWay(standing)
  return { ...base, ...judged, ...filled({ since: standing.since }) }
}

/** `OpenShift 4.18.21`, `OKD 4.19.0-okd-scos.16`. */
function platformName(version = ''): string {
  return `${version.includes('okd') ? 'OKD' : 'OpenShift'} ${version}`.trim()
}

/** Asked for and refused, it stays armed, whatever else the cluster does (ocp 3.2). */
function armed(standing: PlatformStanding): Judged | undefined {
  const { armed: asked, accepted, current, version } = standing
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

function atRest({ failing, message, version, current, upgradeable }: PlatformStanding): Judged {
  const says = platformName(version)
  if (failing === 'True') return { verdict: 'Degraded', says: `${says} fails`, notes: [message] }
  if (!current) return { verdict: 'Updating', says, waitsFor: 'the cluster version operator to see its spec' }
  if (upgradeable.is !== 'no') return { verdict: 'Settled', says }
  return { verdict: 'Settled', says, notes: [`no next minor for now: ${upgradeable.message}`] }
}

function onTheWay(standing: PlatformStanding): Judged {
  const { version, target = '', state, failing, slow, message } = standing
  const says = version === undefined ? platformName(target) : `${platformName(version)} to ${target}`
  if (failing === 'True') return { verdict: 'Degraded', says: `${says} fails`, notes: [message] }
  if (state === 'partial') return { verdict: 'Stalled', says: `${says}, stopped half-way`, notes: [message] }
  return {
    verdict: 'Updating',
    says,
    waitsFor: waitedFor(message),
    notes: [message],
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

/** How long a part of the platform may be degraded while the platform updates (ocp 4.2: an error from then on). */
const updatePatience = 40 * 60_000

/** The operators that are degraded or not available; undefined where none is. */
function operatorsLayer(
  operators: readonly ClusterOperator[],
  { updating, at }: { updating: boolean; at: Date },
): Layer | undefined {
  const bad = clusterOperatorStandings(operators).filter((one) => one.degraded || !one.available)
  if (bad.length === 0) return undefined
  const from = earliest(bad.map(({ degraded }) => degraded?.since))
  const isExpected = updating && bad.every((one) => one.available) && (since(from, at) ?? 0) < updatePatience
  return {
    layer: 'operators',
    object: `clusteroperator/${bad[0]?.name}`,
    verdict: isExpected ? 'Updating' : 'Degraded',
    says: bad.map(inWords).join(', '),
    ...(isExpected && {
      expected: 'so it looks for a while when the platform updates',
      waitsFor: 'the update to go on',
    }),
    ...filled({ since: from }),
    notes: bad.flatMap(({ name, degraded }) => (degraded?.message ? [`${name}: ${degraded.message}`] : [])),
    help: [`oc describe clusteroperator ${bad[0]?.name}`],
  }
}

function inWords({ name, available, degraded }: ClusterOperatorStanding): string {
  const states = [...(available ? [] : ['not available']), ...(degraded ? ['degraded'] : [])]
  return `${name} is ${states.join(' and ')}`
}

/** One per pool that has machines or something to tell, the master first: the platform's update needs it first. */
export function poolLayers(pools: Known<MachineConfigPool>, window: RecognisedWindow | undefined): Layer[] {
  if (!pools.known) return [{ layer: 'pool', verdict: 'Unknown', says: pools.why }]
  return pools.items
    .map(poolStanding)
    .filter(({ machines, state, paused }) => machines > 0 || state === 'degraded' || paused)
    .toSorted((a, b) => Number(b.isMaster) - Number(a.isMaster))
    .map((pool) => layerOf(pool, window))
}

function layerOf(pool: PoolStanding, window: RecognisedWindow | undefined): Layer {
  const found = pool.isMaster && pool.paused ? pausedMaster(pool) : judged[pool.state](pool, window)
  return { layer: 'pool', object: `machineconfigpool/${pool.name}`, ...found }
}

type Judge = (pool: PoolStanding, window: RecognisedWindow | undefined) => Judged

const counts = ({ updated, machines }: PoolStanding): string => `${updated} of ${machines} updated`

const said = ({ message }: PoolStanding): string[] => (message === '' ? [] : [message])

const judged: Record<PoolStanding['state'], Judge> = {
  updated: (pool) => ({
    verdict: 'Settled',
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
    says: `paused, ${counts(pool)}`,
    ...(window
      ? { expected: 'in an EUS window', waitsFor: 'the end of the window' }
      : { waitsFor: 'somebody to unpause it', help: [unpause(pool)] }),
  }),
  degraded: (pool) => ({
    verdict: 'Degraded',
    says: `${counts(pool)}, ${pool.degraded} degraded`,
    notes: said(pool),
    help: [`oc describe machineconfigpool ${pool.name}`],
  }),
}

function pausedMaster(pool: PoolStanding): Judged {
  return {
    verdict: 'Stalled',
    says: `paused, ${counts(pool)}: the platform cannot be updated`,
    waitsFor: 'somebody to unpause it',
    help: [unpause(pool)],
  }
}

const unpause = ({ name }: PoolStanding): string =>
  `oc patch machineconfigpool ${name} --type merge -p '{"spec":{"paused":false}}'`
