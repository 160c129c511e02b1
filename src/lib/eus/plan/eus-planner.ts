import type { CatalogPackage } from '../../releases/catalog-path.ts'
import { itemsOf, type Known, notAsked } from '../../kube/known.ts'
import { knownReleases, type Releases } from '../../releases/releases.ts'
import type { UpdateGraph } from '../../releases/update-graph.ts'
import type { Range } from '../../upgrade/step-traits.ts'
import { inTurn, nothing } from '../../upgrade/upgrade-duration.ts'
import { seconds } from '../../kube/clock.ts'
import { type EusHop, type EusPlan, platformHop, poolRolls, poolsLeft, wholeTime } from './eus-plan.ts'
import {
  type ChannelChoice,
  chooseChannel,
  choosePlatform,
  type Chosen,
  type Route,
  routeOf,
} from './platform-path.ts'
import {
  type EusClusterSnapshot,
  type EusSnapshot,
  healthChecksOf,
  inOpenWindow,
  isMidWindow,
  isWindowOpen,
  type Judged,
  poolsToPause,
  snapshotOf,
} from './eus-snapshot.ts'
import {
  alertFindings,
  expectedAlertNotes,
  platformFindings,
  poolFindings,
} from './findings/platform-findings.ts'
import { beingDeletedFindings, lifecycleFindings, operatorFindings } from './findings/operator-findings.ts'
import {
  onceFindings,
  operatorChannelFindings,
  operatorPathFindings,
  pathFindings,
  unpauseBefore,
} from './findings/path-findings.ts'
import { workloadFindings } from './findings/workload-findings.ts'
import { hopsOf, minorsAhead } from './minor-updates.ts'
import { objectsOf, operatorMinorNow, operatorNow, operatorPath as wayOfOperator } from './operator-path.ts'
import { minorOfPlatform } from '../../releases/release-versions.ts'
import { platformMinor, platformMinorsAsOf } from '../../releases/platform-releases.ts'
import { forecastText } from '../../vms/forecast/vm-forecast.ts'

/** What a plan of a window is asked for. */
export interface EusPlanRequest {
  /** The minor of the platform to end at, `4.20`; absent: the next one with extended support. */
  to?: string | undefined
  /** `--graph-file`. */
  graph?: UpdateGraph | undefined
  /** Packages of `--catalog-file`. */
  catalog?: readonly CatalogPackage[] | undefined
  releases?: Pick<Releases, 'hyperconverged'>
}

/**
 * From a look to a plan: pure. Throws `usage` for a target that is none, `blocked` where this is no OKD or OpenShift; whatever else speaks
 * against it is a finding.
 */
export function makeEusPlan(snapshot: EusClusterSnapshot, request: EusPlanRequest = {}): EusPlan {
  const eusSnapshot = snapshotOf(snapshot)
  const { flavour, here, began, topology, release } = eusSnapshot
  const route = routeOf({ flavour, here, began, topology: topology.is, to: request.to })
  const judged = judge(eusSnapshot, route, request)
  const { channel, hops, operatorPath: pathOfOperator } = judged
  const operator = operatorNow(snapshot)
  const deadline = unpauseBefore(judged)
  const [methods] = itemsOf(snapshot.methods)
  return {
    flavour,
    topology: topology.is,
    from: release,
    to: route.to,
    mode: route.mode,
    began,
    ...(channel.is === 'change' && { channel: changeOf(channel) }),
    hops,
    ...awayOf(judged),
    ...(operator && { operator: { ...operator, ...(pathOfOperator && { path: pathOfOperator.path }) } }),
    ...objectsOf(snapshot),
    methods: methods ?? [],
    ...(methods === undefined && { methodsUnknown: true }),
    ...(deadline !== undefined && { unpauseBefore: deadline }),
    time: timeOf(judged),
    findings: findingsOf(judged),
    notes: notesOf(judged),
    ...remarksOf(judged),
    unknown: unknownOf(judged),
  }
}

/** What stays behind, what would take nodes that are away for lost, and which VMs nothing can take meanwhile. */
function awayOf({ route, snapshot, hops }: Judged): Pick<EusPlan, 'pools' | 'healthChecks' | 'outages'> {
  const staysBehind = route.mode === 'control-plane-only'
  const outages = hops.length > 0 ? itemsOf(snapshot.snapshot.outages) : []
  return {
    pools: staysBehind ? poolsToPause(snapshot) : [],
    healthChecks: staysBehind || hops.length > 0 ? healthChecksOf(snapshot) : [],
    ...(outages.length > 0 && { outages }),
  }
}

const changeOf = ({ from, to }: Extract<ChannelChoice, { is: 'change' }>) => ({
  ...(from !== undefined && { from }),
  to,
})

function judge(snapshot: EusSnapshot, route: Route, request: EusPlanRequest): Judged {
  const { platformStatus, flavour } = snapshot
  const { minors, to, mode } = route
  const channel = chooseChannel({
    flavour,
    now: platformStatus.channel,
    offered: platformStatus.channels,
    to: mode === 'rolling' ? (minors[0] ?? to) : to,
    hops: mode === 'rolling' ? Math.min(1, minors.length) : minors.length,
    reaches: offers(snapshot, minors[0]),
  })
  const chosen = choose(snapshot, {
    minors,
    channel,
    graph: request.graph,
    staysBehind: mode === 'control-plane-only',
  })
  const releases = request.releases ?? knownReleases
  const { catalog } = request
  const ahead = minorsAhead({ snapshot, minors, releases })
  const pathOfOperator = wayOfOperator(snapshot.snapshot, { minors: ahead, catalog, releases })
  const operator = { path: pathOfOperator, certain: catalog !== undefined }
  const hops = hopsOf({
    snapshot,
    stops: withChannels(chosen.stops, route, snapshot),
    mode,
    releases,
    operator,
  })
  return {
    snapshot,
    route,
    channel,
    chosen,
    hops,
    releases,
    operatorPath: pathOfOperator,
    lasts: inTurn([...hops.map(rangeOf), rollsOf(snapshot, hops, mode)]),
  }
}

const offers = ({ platformStatus }: EusSnapshot, minor: string | undefined): boolean =>
  (platformStatus.available ?? []).some(({ version = '' }) => minorOfPlatform(version) === minor)

function choose(
  snapshot: EusSnapshot,
  {
    minors,
    channel,
    graph,
    staysBehind,
  }: {
    minors: readonly string[]
    channel: ChannelChoice
    graph: UpdateGraph | undefined
    staysBehind: boolean
  },
): Chosen {
  return choosePlatform({
    platformStatus: snapshot.platformStatus,
    minors,
    graph,
    channel: channel.is === 'change' ? channel.to : undefined,
    staysBehind,
  })
}

/** Where pools follow, each minor has its own channel of the same kind; OKD has one for all. */
function withChannels(
  stops: Chosen['stops'],
  { mode }: Route,
  { flavour, platformStatus }: EusSnapshot,
): Chosen['stops'] {
  const prefix = /^(?<prefix>[a-z]+)-\d/u.exec(platformStatus.channel ?? '')?.groups?.['prefix']
  if (mode !== 'rolling' || flavour === 'okd' || prefix === undefined) return stops
  const kept = prefix === 'eus' ? 'stable' : prefix
  return stops.map((one, i) =>
    i === 0 ? one : { minor: one.minor, stop: { ...one.stop, channel: `${kept}-${one.minor}` } },
  )
}

/** On a plain way the pools roll in each hop. */
function rollsOf(snapshot: EusSnapshot, hops: readonly EusHop[], mode: EusPlan['mode']): Range {
  const isThere = hops.every(({ platform }) => platform.done)
  const pools = poolsToPause(snapshot)
  const once = isThere ? poolsLeft(snapshot, pools) : poolRolls(pools)
  if (mode === 'control-plane-only' || isThere) return once
  const times = hops.filter(({ platform }) => !platform.done).length
  return { low: once.low * times, high: once.high * times }
}

const rangeOf = ({ time: { lowSeconds, highSeconds } }: EusHop): Range => ({
  low: lowSeconds * seconds,
  high: highSeconds * seconds,
})

function timeOf({ snapshot, hops, route }: Judged): EusPlan['time'] {
  const isRolling = snapshot.pools.some(({ isMaster, state }) => !isMaster && state !== 'updated')
  const left = hops.length > 0 || route.mode === 'control-plane-only' || isRolling
  const rolls = left ? rollsOf(snapshot, hops, route.mode) : nothing
  return wholeTime(hops.map(rangeOf), rolls, platformHop(snapshot).basis)
}

function findingsOf(judged: Judged): EusPlan['findings'] {
  const found = [
    ...platformFindings(judged),
    ...pathFindings(judged),
    ...poolFindings(judged),
    ...beingDeletedFindings(judged),
    ...operatorFindings(judged),
    ...operatorPathFindings(judged),
    ...operatorChannelFindings(judged),
    ...lifecycleFindings(judged),
    ...onceFindings(judged),
    ...workloadFindings(judged),
    ...alertFindings(judged),
  ]
  return isWindowOpen(judged.snapshot) ? inOpenWindow(found) : found
}

/** What it means for the cluster: sentences for people, in the order in which it comes. */
function notesOf(judged: Judged): readonly string[] {
  const { chosen, route, snapshot, hops } = judged
  return [
    ...chosen.notes,
    ...(isMidWindow(judged)
      ? [
          `an EUS upgrade is running: the control plane is at ${snapshot.release}, paused pools at ${snapshot.began}`,
        ]
      : []),
    ...(route.mode === 'control-plane-only' ? windowNotes(judged) : []),
    ...(hops.some(({ operators }) => operators.some(({ done }) => !done))
      ? ['an update of the operator usually takes 15 minutes, and interrupts no VM and no network']
      : []),
    ...(hops.length > 0 ? [forecastNote(judged)] : []),
    ...expectedAlertNotes(judged),
    ...minorNotes(judged),
    ...rollbackNotes(judged),
    ...plannedNotes(judged),
  ]
}

function windowNotes({ snapshot }: Judged): readonly string[] {
  const pools = poolsToPause(snapshot)
  const checks = healthChecksOf(snapshot)
  return [
    'while automatic VM updates are paused, CPU, memory and volume changes wait. The alert OutdatedVirtualMachineInstanceWorkloads fires after 24 h, as expected',
    ...(pools.length > 0
      ? [
          'nodes of paused pools get no registry mirrors, pull secrets or kubelet settings: apply what the upgrade needs before it starts',
        ]
      : []),
    ...(checks.some(({ paused }) => !paused)
      ? ['machine and node health checks are paused too: failed nodes are not replaced meanwhile']
      : []),
    'at the end, automatic VM updates resume and VMs migrate; only then kvup unpauses the pools, one at a time',
  ]
}

/** What `notes` say of this cluster alone. */
function remarksOf(judged: Judged): Pick<EusPlan, 'remarks' | 'forecast'> {
  return {
    remarks: [
      ...judged.chosen.notes,
      ...expectedAlertNotes(judged),
      ...minorNotes(judged),
      ...plannedNotes(judged),
    ],
    ...(judged.hops.length > 0 && { forecast: forecastNote(judged) }),
  }
}

/** There is no way back from a minor; that etcd was saved cannot be seen from here (night E2). */
function rollbackNotes(judged: Judged): readonly string[] {
  if (judged.hops.length === 0) return []
  return [
    ...(isMidWindow(judged)
      ? []
      : [
          `There is no way back to ${judged.snapshot.began}. First back up etcd (/usr/local/bin/cluster-backup.sh on a control plane node) and VM data; kvup saves settings alone`,
        ]),
    'kvup eus abort undoes all of it until the platform has accepted a step. After that it restores the temporary changes alone',
  ]
}

/** What becomes of the VMs when the pools are drained (night E12). */
function forecastNote({ snapshot: { snapshot } }: Judged): string {
  const [methods] = itemsOf(snapshot.methods)
  const [forecast] = itemsOf(snapshot.forecast)
  if (methods === undefined || forecast === undefined)
    return 'kvup does not know what happens to the VMs at the end'
  const moves = forecastText(forecast).replace(/^migrates/u, 'live-migrates')
  return `At the end KubeVirt ${moves} (counted now)`
}

/** Where the launchers themselves have to follow (ocp 6.3). */
function minorNotes({ hops }: Judged): readonly string[] {
  return hops.some(({ minor }) => minor === '4.16')
    ? ['4.16 changes the base of virt-launcher: all VMs must run it before the platform goes past 4.16']
    : []
}

/** What was only announced when the table was made may come otherwise; the graph and the cluster decide. */
function plannedNotes({ hops }: Judged): readonly string[] {
  const planned = hops.map(({ minor }) => minor).filter((minor) => platformMinor(minor)?.planned)
  return planned.length === 0
    ? []
    : [
        `the data of ${[...new Set(planned)].join(', ')} are of ${platformMinorsAsOf}; kvup checks the cluster again at each step`,
      ]
}

const parts = {
  clusterOperators: 'the conditions of the platform operators',
  nodes: 'which kubelets the nodes run',
  adminGates: 'which admin gates there are',
  adminAcks: 'which admin gates are acknowledged',
  infrastructure: 'who manages the control plane',
} as const

const healthCheckParts = {
  machineHealthChecks: 'which MachineHealthChecks have to be paused',
  nodeHealthChecks: 'which NodeHealthChecks have to be paused',
} as const

const lifecycleParts = {
  subscriptions: 'which Subscription moves the operator',
  csvs: 'which operator is installed',
  operatorGroups: 'how many OperatorGroups there are',
  operatorConditions: 'whether OLM blocks the operator',
  catalogSources: 'whether the catalog answers',
  packageManifests: 'which channels the catalog has',
} as const

/** What could not be read, and what is not asked for. */
function unknownOf(judged: Judged): readonly string[] {
  const { chosen, hops, route, snapshot } = judged
  const { snapshot: observed } = snapshot
  const { platform, lifecycle, methods, forecast, undrainable, outages, overrides } = observed
  const later = hops.filter(({ platform: { version } }) => version === undefined).map(({ minor }) => minor)
  return [
    ...chosen.unknown,
    ...(later.length > 0 ? [`which releases of ${later.join(', ')} there are when it is their turn`] : []),
    ...operatorUnknown(judged),
    ...unread(platform, route.mode === 'rolling' ? parts : { ...parts, ...healthCheckParts }),
    ...unread(lifecycle, lifecycleParts),
    ...unread(
      { methods, forecast, undrainable, outages, overrides },
      {
        methods: 'which workload update methods to restore',
        forecast: 'what happens to the VMs at the end',
        undrainable: 'which VMs deny their eviction',
        outages: 'which VMs are down while the node reboots',
        overrides: 'which temporary changes kvup has made already',
      },
    ),
    ...unread({ alerts: observed.alerts }, { alerts: 'which alerts are firing' }),
  ]
}

/** An operator of a version that nobody knows: whether it fits the platform cannot be judged then (night E8). */
function operatorUnknown({ snapshot: { snapshot }, releases }: Judged): readonly string[] {
  const version = operatorNow(snapshot)?.version
  if (version === undefined || operatorMinorNow(snapshot, releases) !== undefined) return []
  return [`which minor of the platform the operator ${version} belongs to: the release data have no entry`]
}

function unread<P extends string>(
  of: Readonly<Record<NoInfer<P>, Known<unknown>>>,
  words: Readonly<Record<P, string>>,
): string[] {
  return (Object.keys(words) as P[]).flatMap((part) => {
    const found = of[part]
    return found.known || found === notAsked ? [] : [`${words[part]}: ${found.why}`]
  })
}
