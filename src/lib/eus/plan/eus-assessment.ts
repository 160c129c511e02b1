import type { Releases } from '../../releases/releases.ts'
import type { EusHop, EusPlan, HealthCheckRef, PoolToPause } from './eus-plan.ts'
import type { ChannelChoice, Chosen, Route } from './platform-path.ts'
import type { OperatorPath } from './operator-path.ts'
import type {
  MachineConfigPool,
  MachineHealthCheck,
  NodeHealthCheck,
} from '../../kube/kinds/openshift-kinds.ts'
import { itemsOf } from '../../kube/known.ts'
import { type RecognisedWindow, type Topology, topologyOf } from '../../openshift/eus-window.ts'
import { assessPlatform, type PlatformStatus } from '../../openshift/platform-status.ts'
import { assessPool, type PoolStatus } from '../../openshift/machine-config-pools.ts'
import { minorOfPlatform, platformVersionOf } from '../../releases/release-versions.ts'
import { blocked, forbidden, usageError } from '../../kube/errors.ts'
import { type EusClusterSnapshot, windowIn } from './eus-snapshot.ts'
import type { Finding } from '../../checks/check-definition.ts'
import { roleRemedy } from '../../output/kvup-words.ts'

/** What findings are judged by: the look, and the way that was chosen. */
export interface Judged {
  snapshot: EusSnapshot
  route: Route
  channel: ChannelChoice
  chosen: Chosen
  hops: readonly EusHop[]
  releases: Pick<Releases, 'hyperconverged'>
  /** Of the operator; undefined without one. */
  operatorPath: OperatorPath | undefined
  /** From when to when the window lasts if it begins now, at the least: ms. */
  lasts: { low: number; high: number }
}

/** The control plane is ahead of paused pools: a window was begun, by kvup or by hand. */
export function isMidWindow({ snapshot }: Pick<Judged, 'snapshot'>): boolean {
  return snapshot.began !== snapshot.here
}

/** What the evidence says of the platform, judged once. */
export interface EusSnapshot {
  snapshot: EusClusterSnapshot
  platformStatus: PlatformStatus
  pools: readonly JudgedPool[]
  topology: Topology
  flavour: EusPlan['flavour']
  /** The control plane's release: the one that is being updated to, where it is. */
  release: string
  /** Its minor. */
  here: string
  /** The minor where the open window began: of the oldest kubelet in its pools; `here` where none is behind. */
  began: string
  /** The window that is open, whoever began it. */
  window: RecognisedWindow | undefined
}

export type JudgedPool = PoolStatus & { pool: MachineConfigPool }

const judgedPool = (pool: MachineConfigPool): JudgedPool => ({ ...assessPool(pool), pool })

/** Throws `blocked` where this is no OKD or OpenShift, or one that is still being installed; `forbidden` where that cannot be told. */
export function snapshotOf(snapshot: EusClusterSnapshot): EusSnapshot {
  const { clusterVersion } = snapshot.platform
  if (!clusterVersion.known) throw unread(clusterVersion.why)
  const [cv] = clusterVersion.items
  if (cv === undefined)
    throw blocked('no-cluster-version', 'this is no OKD or OpenShift: there is no ClusterVersion', {
      remedy: 'kvup plan --to VERSION      plans an update of KubeVirt alone',
    })
  const platformStatus = assessPlatform(cv)
  const release =
    platformStatus.state === 'idle'
      ? platformStatus.version
      : (platformStatus.target ?? platformStatus.version)
  if (release === undefined || minorOfPlatform(release) === '')
    throw blocked('platform-version-unknown', `the ClusterVersion does not say which release it runs`, {
      remedy: 'oc get clusterversion version -o yaml',
    })
  const pools = itemsOf(snapshot.platform.pools).map(judgedPool)
  const here = minorOfPlatform(release)
  const window = windowIn(snapshot)
  return {
    snapshot,
    platformStatus,
    pools,
    topology: topologyOf(snapshot.platform),
    flavour: flavourOf(release, platformStatus.channel),
    release,
    here,
    began: window?.from ?? here,
    window,
  }
}

function unread(why: string): Error {
  const message = `cannot tell which platform this is: ${why}`
  // Of a saved cluster no right would bring it.
  return / does not hold /u.test(why)
    ? usageError('not-saved', message, {
        remedy: 'oc get clusterversions,clusteroperators,machineconfigpools,nodes -o yaml >platform.yaml',
      })
    : forbidden('clusterversion-not-readable', message, { remedy: roleRemedy('kvup-view') })
}

function flavourOf(release: string, channel = ''): EusPlan['flavour'] {
  const version = platformVersionOf(release)
  const rest = version?.build ?? version?.prerelease ?? ''
  return rest.includes('okd') || /scos|^stable-4$/u.test(channel) ? 'okd' : 'ocp'
}

/** Whether kvup itself has borrowed it, by the id of the loan: `pool-paused/worker`. */
export function isOverridden({ snapshot }: Pick<EusSnapshot, 'snapshot'>, id: string): boolean {
  return itemsOf(snapshot.loans).some((loan) => loan.id === id)
}

/** Every pool but master that has machines, custom ones too: a node in one is not the worker pool's (ocp 3.5). */
export function poolsToPause(snapshot: EusSnapshot): readonly PoolToPause[] {
  return snapshot.pools
    .filter(({ isMaster, machines }) => !isMaster && machines > 0)
    .map((pool) => toPause(pool, isOverridden(snapshot, `pool-paused/${pool.name}`)))
}

function toPause(
  { name, machines, paused, pool: { metadata, spec } }: JudgedPool,
  borrowed: boolean,
): PoolToPause {
  return {
    name,
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
    machines,
    maxUnavailable: spec?.maxUnavailable ?? 1,
    paused: paused && !borrowed,
    ...(borrowed && { borrowed }),
  }
}

/** What replaces a node that is away for longer than an update takes (night E7). */
export function healthChecksOf({ snapshot: { platform } }: EusSnapshot): readonly HealthCheckRef[] {
  return [
    ...itemsOf(platform.machineHealthChecks).map(machineHealthCheck),
    ...itemsOf(platform.nodeHealthChecks).map(nodeHealthCheck),
  ]
}

const pausedAnnotation = 'cluster.x-k8s.io/paused'

function machineHealthCheck({ metadata }: MachineHealthCheck): HealthCheckRef {
  const { namespace, name, annotations = {} } = metadata
  return {
    kind: 'MachineHealthCheck',
    ...(namespace !== undefined && { namespace }),
    name,
    paused: Object.hasOwn(annotations, pausedAnnotation),
  }
}

const nodeHealthCheck = ({ metadata, spec }: NodeHealthCheck): HealthCheckRef => ({
  kind: 'NodeHealthCheck',
  name: metadata.name,
  paused: (spec?.pauseRequests ?? []).length > 0,
})

/** What stays in the way of a window that is open: nothing that its run does makes it go. */
export const standsInTheWay: ReadonlySet<string> = new Set([
  'not-ours-to-update',
  'window-too-long',
  'no-hyperconverged',
  'several-hyperconvergeds',
  'several-subscriptions',
  'olm-v1',
  'no-subscription',
  'pool-paused-already',
])

/** kvup has borrowed something for a window, and not given it back. */
export const isWindowOpen = ({ window }: Pick<EusSnapshot, 'window'>): boolean => window?.by === 'loans'

/**
 * The findings judge a cluster that stands still, and in an open window everything moves: its steps judge anew and wait for what passes. So the
 * others are told, and stop nobody.
 */
export function inOpenWindow(findings: readonly Finding[]): readonly Finding[] {
  return findings.map((finding) => {
    const stops = finding.level === 'blocker' || finding.level === 'not-checked'
    return stops && !standsInTheWay.has(finding.id)
      ? Object.assign({}, finding, { level: 'warning' })
      : finding
  })
}

/** What helps where something could not be read: a right, or, of a saved cluster, which no right would complete, a better one. */
export function unreadRemedy(why: string): string {
  return / does not hold /u.test(why)
    ? 'kvup snapshot --to-file cluster.ndjson.gz      saves all that is judged'
    : roleRemedy('kvup-view')
}
