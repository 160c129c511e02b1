import type { CatalogPackage } from '../../catalogs/catalog.ts'
import { itemsOf } from '../../facts/known.ts'
import { knownReleases, type Releases } from '../../releases/releases.ts'
import type { UpdateGraph } from '../../releases/update-graph.ts'
import { inTurn, nothing, type Range } from '../../upgrade/range.ts'
import { seconds } from '../../system/units.ts'
import type { EusHop, EusPlan } from '../eus-plan.ts'
import { type ChannelChoice, chooseChannel } from './channel.ts'
import type { EusEvidence } from './evidence.ts'
import { alertFindings } from './findings/alerts.ts'
import { beingDeletedFindings } from './findings/being-deleted.ts'
import { lifecycleFindings } from './findings/lifecycle.ts'
import { onceFindings, unpauseBefore } from './findings/once.ts'
import { operatorChannelFindings } from './findings/operator-channel.ts'
import { operatorFindings } from './findings/operator.ts'
import { platformFindings } from './findings/platform.ts'
import { poolFindings } from './findings/pools.ts'
import { wayFindings } from './findings/way.ts'
import { workloadFindings } from './findings/workloads.ts'
import { hopsOf, minorsAhead } from './hops.ts'
import type { Judged } from './judged.ts'
import { inOpenWindow, isWindowOpen } from './open-window.ts'
import { notesOf, unknownOf } from './notes.ts'
import { objectsOf, operatorNow } from './operator-now.ts'
import { operatorWay as wayOfOperator } from './operator-way.ts'
import { operatorWayFindings } from './findings/operator-way.ts'
import { choosePlatform, type Chosen } from './platform-stop.ts'
import { healthChecksOf, poolsToPause } from './pools.ts'
import { type Route, routeOf } from './route.ts'
import { type EusSight, sightOf } from './sight.ts'
import { platformHop, poolRolls, poolsLeft, wholeTime } from './time.ts'
import { minorOfPlatform } from '../../releases/platform-version.ts'

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
export function makeEusPlan(evidence: EusEvidence, request: EusPlanRequest = {}): EusPlan {
  const sight = sightOf(evidence)
  const { flavour, here, began, topology, release } = sight
  const route = routeOf({ flavour, here, began, topology: topology.is, to: request.to })
  const judged = judge(sight, route, request)
  const { channel, hops, operatorWay } = judged
  const operator = operatorNow(evidence)
  const deadline = unpauseBefore(judged)
  const [methods] = itemsOf(evidence.methods)
  return {
    flavour,
    topology: topology.is,
    from: release,
    to: route.to,
    way: route.way,
    began,
    ...(channel.is === 'change' && { channel: changeOf(channel) }),
    hops,
    ...awayOf(judged),
    ...(operator && { operator: { ...operator, ...(operatorWay && { path: operatorWay.path }) } }),
    ...objectsOf(evidence),
    methods: methods ?? [],
    ...(methods === undefined && { methodsUnknown: true }),
    ...(deadline !== undefined && { unpauseBefore: deadline }),
    time: timeOf(judged),
    findings: findingsOf(judged),
    notes: notesOf(judged),
    unknown: unknownOf(judged),
  }
}

/** What stays behind, what would take nodes that are away for lost, and which VMs nothing can take meanwhile. */
function awayOf({ route, sight, hops }: Judged): Pick<EusPlan, 'pools' | 'healthChecks' | 'outages'> {
  const staysBehind = route.way === 'control-plane-only'
  const outages = hops.length > 0 ? itemsOf(sight.evidence.outages) : []
  return {
    pools: staysBehind ? poolsToPause(sight) : [],
    healthChecks: staysBehind || hops.length > 0 ? healthChecksOf(sight) : [],
    ...(outages.length > 0 && { outages }),
  }
}

const changeOf = ({ from, to }: Extract<ChannelChoice, { is: 'change' }>) => ({
  ...(from !== undefined && { from }),
  to,
})

function judge(sight: EusSight, route: Route, request: EusPlanRequest): Judged {
  const { standing, flavour } = sight
  const { minors, to, way } = route
  const channel = chooseChannel({
    flavour,
    now: standing.channel,
    offered: standing.channels,
    to: way === 'plain' ? (minors[0] ?? to) : to,
    hops: way === 'plain' ? Math.min(1, minors.length) : minors.length,
    reaches: offers(sight, minors[0]),
  })
  const chosen = choose(sight, {
    minors,
    channel,
    graph: request.graph,
    staysBehind: way === 'control-plane-only',
  })
  const releases = request.releases ?? knownReleases
  const { catalog } = request
  const ahead = minorsAhead({ sight, minors, releases })
  const operatorWay = wayOfOperator(sight.evidence, { minors: ahead, catalog, releases })
  const operator = { way: operatorWay, certain: catalog !== undefined }
  const hops = hopsOf({ sight, stops: withChannels(chosen.stops, route, sight), way, releases, operator })
  return { sight, route, channel, chosen, hops, releases, operatorWay, lasts: lastsOf(sight, hops, way) }
}

const offers = ({ standing }: EusSight, minor: string | undefined): boolean =>
  (standing.available ?? []).some(({ version = '' }) => minorOfPlatform(version) === minor)

function choose(
  sight: EusSight,
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
    standing: sight.standing,
    minors,
    graph,
    channel: channel.is === 'change' ? channel.to : undefined,
    staysBehind,
  })
}

/** Where pools follow, each minor has its own channel of the same kind; OKD has one for all. */
function withChannels(
  stops: Chosen['stops'],
  { way }: Route,
  { flavour, standing }: EusSight,
): Chosen['stops'] {
  const prefix = /^(?<prefix>[a-z]+)-\d/u.exec(standing.channel ?? '')?.groups?.['prefix']
  if (way !== 'plain' || flavour === 'okd' || prefix === undefined) return stops
  const kept = prefix === 'eus' ? 'stable' : prefix
  return stops.map((one, i) =>
    i === 0 ? one : { minor: one.minor, stop: { ...one.stop, channel: `${kept}-${one.minor}` } },
  )
}

function lastsOf(sight: EusSight, hops: readonly EusHop[], way: EusPlan['way']): Range {
  return inTurn([...hops.map(rangeOf), rollsOf(sight, hops, way)])
}

/** On a plain way the pools roll in each hop. */
function rollsOf(sight: EusSight, hops: readonly EusHop[], way: EusPlan['way']): Range {
  const isThere = hops.every(({ platform }) => platform.done)
  const pools = poolsToPause(sight)
  const once = isThere ? poolsLeft(sight, pools) : poolRolls(pools)
  if (way === 'control-plane-only' || isThere) return once
  const times = hops.filter(({ platform }) => !platform.done).length
  return { low: once.low * times, high: once.high * times }
}

const rangeOf = ({ time: { lowSeconds, highSeconds } }: EusHop): Range => ({
  low: lowSeconds * seconds,
  high: highSeconds * seconds,
})

function timeOf({ sight, hops, route }: Judged): EusPlan['time'] {
  const isRolling = sight.pools.some(({ isMaster, state }) => !isMaster && state !== 'updated')
  const left = hops.length > 0 || route.way === 'control-plane-only' || isRolling
  const rolls = left ? rollsOf(sight, hops, route.way) : nothing
  return wholeTime(hops.map(rangeOf), rolls, platformHop(sight).basis)
}

function findingsOf(judged: Judged): EusPlan['findings'] {
  const found = [
    ...platformFindings(judged),
    ...wayFindings(judged),
    ...poolFindings(judged),
    ...beingDeletedFindings(judged),
    ...operatorFindings(judged),
    ...operatorWayFindings(judged),
    ...operatorChannelFindings(judged),
    ...lifecycleFindings(judged),
    ...onceFindings(judged),
    ...workloadFindings(judged),
    ...alertFindings(judged),
  ]
  return isWindowOpen(judged.sight) ? inOpenWindow(found) : found
}
