import { itemsOf } from '../../kube/known.ts'
import { type AdminGate, openGates } from '../../openshift/platform-status.ts'
import type { Releases } from '../../releases/releases.ts'
import { compareMinors, versionOfCsv } from '../../releases/release-versions.ts'
import { platformMinor } from '../../releases/platform-releases.ts'
import { inSeconds, inTurn } from '../../upgrade/upgrade-duration.ts'
import {
  type EusHop,
  operatorHop,
  type OperatorNow,
  type OperatorStop,
  platformHop,
  platformLeft,
  type PlatformStop,
  type RemovedApi,
} from './eus-plan.ts'
import {
  channelBehind,
  channelFor,
  channelOf,
  isOfOneMinor,
  operatorMinorNow,
  operatorNow,
  type OperatorPath,
  type PathStop,
  releaseLeft,
} from './operator-path.ts'
import type { EusClusterSnapshot, EusSnapshot } from './eus-snapshot.ts'

/** What the hops are made from. */
interface HopsQuestion {
  snapshot: EusSnapshot
  stops: readonly { minor: string; stop: PlatformStop }[]
  mode: 'control-plane-only' | 'rolling'
  releases: Pick<Releases, 'hyperconverged'>
  /** Of the operator, as far as it is known; `certain`: from the edges of a catalog file. */
  operator: { path: OperatorPath | undefined; certain: boolean }
}

/** All that is still to be done, in order; first the hop that the control plane has begun, where its operator is not there yet. */
export function hopsOf(question: HopsQuestion): readonly EusHop[] {
  const { snapshot, stops } = question
  const ahead = stops.map(({ minor, stop }, i) => ({ minor, stop, before: stops[i - 1]?.minor }))
  const all = isHereDone(question) ? ahead : [{ minor: snapshot.here, stop: stopHere(snapshot) }, ...ahead]
  let set = operatorNow(snapshot.snapshot)?.channel
  return all.map((one) => {
    const made = hop(question, { ...one, set })
    set = channelBehind(made.operators, set)
    return made
  })
}

/** Those that the operator has to get to, in their order. */
export function minorsAhead({
  snapshot,
  minors,
  releases,
}: Pick<HopsQuestion, 'snapshot' | 'releases'> & { minors: readonly string[] }): readonly string[] {
  return isHereDone({ snapshot, releases }) ? minors : [snapshot.here, ...minors]
}

type Here = Pick<HopsQuestion, 'snapshot' | 'releases'>

/** Inside of a window releases of the operator may lie ahead in the minor that it has reached (ocp 2.3). */
function isHereDone({ snapshot, releases }: Here): boolean {
  const isInside = snapshot.began !== snapshot.here
  return (
    isHereReached({ snapshot, releases }) &&
    !(isInside && releaseLeft(snapshot.snapshot, snapshot.here, releases) !== undefined)
  )
}

/** The platform is through with this minor, and the operator belongs to it. Where the operator's version is not known nothing is to be done. */
function isHereReached({ snapshot, releases }: Here): boolean {
  const operator = operatorMinorNow(snapshot.snapshot, releases)
  return snapshot.platformStatus.state === 'idle' && (operator === undefined || operator === snapshot.here)
}

function stopHere({ platformStatus, release }: EusSnapshot): PlatformStop {
  const done = platformStatus.state === 'idle'
  return { version: release, chosenBecause: done ? 'the platform is there' : 'it is running', done }
}

interface Ahead {
  minor: string
  stop: PlatformStop
  before?: string | undefined
  /** The operator's channel when it begins. */
  set: string | undefined
}

function hop(question: HopsQuestion, ahead: Ahead): EusHop {
  const { snapshot, releases } = question
  const { minor, stop, set } = ahead
  const operators = operatorStops(snapshot.snapshot, { minor, set, releases, ...question.operator })
  const before = ahead.before ?? snapshot.here
  const leaves = before === snapshot.here && minor !== before
  const gates = leaves ? gatesOn(snapshot, before) : []
  const mustBeZero = minor !== before && outdatedMustBeZero(question, leaves)
  return {
    minor,
    platform: stop,
    operators,
    gate: gateOf(minor, { hasGates: gates.length > 0, mustBeZero, offered: channelGate(operators, ahead) }),
    adminGates: gates,
    removedApis: removedBy(itemsOf(snapshot.snapshot.removedApis), before, minor),
    outdatedMustBeZero: mustBeZero,
    time: inSeconds(
      inTurn([
        ...(stop.done
          ? []
          : [stop.version === snapshot.release ? platformLeft(snapshot) : platformHop(snapshot)]),
        ...operators.filter(({ done }) => !done).map(() => operatorHop),
      ]),
    ),
  }
}

/** Those of the minor that the control plane runs stand before the next one (ocp 3.3). */
function gatesOn({ snapshot: { platform } }: EusSnapshot, minor: string): readonly AdminGate[] {
  return openGates(itemsOf(platform.adminGates)[0], itemsOf(platform.adminAcks)[0], minor)
}

/**
 * From 4.16 on a window does not begin while VMs run an older virt-launcher (ocp 6.3). Inside of it they are to; where pools follow, each
 * hop begins anew.
 */
function outdatedMustBeZero({ snapshot, mode }: HopsQuestion, leaves: boolean): boolean {
  if (compareMinors(snapshot.began, '4.16') < 0 || snapshot.began !== snapshot.here) return false
  return mode === 'rolling' || leaves
}

function removedBy(apis: readonly RemovedApi[], before: string, minor: string): readonly RemovedApi[] {
  const [from, to] = [platformMinor(before)?.kubernetes, platformMinor(minor)?.kubernetes]
  if (from === undefined || to === undefined) return []
  return apis.filter(
    ({ removedIn }) => compareMinors(removedIn, from) > 0 && compareMinors(removedIn, to) <= 0,
  )
}

interface Gated {
  hasGates: boolean
  mustBeZero: boolean
  /** What the catalog has to have. */
  offered: string
}

function channelGate(operators: EusHop['operators'], { minor, set }: Pick<Ahead, 'minor' | 'set'>): string {
  const channels = operators.flatMap(({ channel }) => channel ?? [])
  if (channels.length > 0)
    return `the catalog offers ${channels.length === 1 ? 'channel' : 'channels'} ${channels.join(' and ')}`
  const isLeft = isOfOneMinor(set) && operators.some(({ done, version }) => !done && version === undefined)
  return isLeft ? `the catalog offers a channel of ${minor}` : `the catalog is of ${minor} and READY`
}

/** What has to hold before the platform goes on from this minor (night E1). */
function gateOf(minor: string, { hasGates, mustBeZero, offered }: Gated): EusHop['gate'] {
  return {
    platform: [
      'ClusterVersion and the version of the kubelets do not forbid the next minor',
      'HyperConverged says Upgradeable=True, and its OperatorCondition does not forbid it',
      ...(hasGates ? ['the admin gates are acknowledged'] : []),
      ...(mustBeZero ? ['no VM runs an older virt-launcher'] : []),
    ],
    operator: [
      `the platform has finished ${minor} and its master pool is updated`,
      'every condition of HyperConverged is healthy',
      offered,
    ],
  }
}

interface StopsQuestion {
  /** Of the platform. */
  minor: string
  releases: Pick<Releases, 'hyperconverged'>
  /** The channel that is set when the hop begins: of hops before it, where they change it. */
  set: string | undefined
  /** What is known of all minors ahead; undefined without an operator. */
  path: OperatorPath | undefined
  /** It is from the edges of a catalog file. */
  certain: boolean
}

/**
 * Where the operator has to be in a hop: at the platform's minor (night E8), on the way that is known (night E4). Where none is, it is what OLM resolves then
 * (ocp 2.6). On OpenShift the catalog changes with the platform and the channel stays; upstream has a channel for each minor.
 */
function operatorStops(snapshot: EusClusterSnapshot, question: StopsQuestion): readonly OperatorStop[] {
  const now = operatorNow(snapshot)
  const { minor, releases, path, set } = question
  if (now?.version !== undefined && operatorMinorNow(snapshot, releases) === minor)
    return [thereNow(now, now.version), ...stillLeft(snapshot, question, now.version)]
  const stops = path?.stops.filter((stop) => stop.minor === minor) ?? []
  return stops.length === 0 ? [headNow(snapshot, { minor, set, releases })] : stopsOnPath(stops, question)
}

/** Whether a way leads there is not known: the head of the channel that belongs to the minor, where there is one yet. */
function headNow(snapshot: EusClusterSnapshot, asked: Parameters<typeof channelOf>[1]): OperatorStop {
  const { minor, set } = asked
  const { currentCSV: csv, name: channel } = channelOf(snapshot, asked) ?? {}
  const version = versionOfCsv(csv)?.text
  if (csv !== undefined && version !== undefined) return asStop({ minor, csv, version, channel }, set, shown)
  return { chosenBecause: `chosen later: ${resolvedThen(asked)}`, done: false }
}

/** In a channel of one minor OLM finds nothing of the next. */
function resolvedThen({ minor, set, releases }: Parameters<typeof channelOf>[1]): string {
  if (!isOfOneMinor(set))
    return `what OLM resolves in channel ${set ?? 'stable'} once the catalog is of ${minor}`
  const name = channelFor(minor, set, releases)
  const which = name === undefined ? `the channel that belongs to ${minor}` : `channel ${name}`
  return `the head of ${which}, once the catalog offers it`
}

const thereNow = ({ csv }: OperatorNow, version: string): OperatorStop => ({
  version,
  ...(versionOfCsv(csv)?.text === version && { csv }),
  chosenBecause: 'it is there',
  done: true,
})

/** A later release of the same minor, which OLM has found or is about to install: the next hop waits for it. */
function stillLeft(
  snapshot: EusClusterSnapshot,
  { minor, releases, path, certain }: StopsQuestion,
  runs: string,
): readonly OperatorStop[] {
  const csv = releaseLeft(snapshot, minor, releases)
  const version = versionOfCsv(csv)?.text
  if (csv === undefined || version === undefined || version === runs) return []
  // By its edges it may lead nowhere (ocp 9.15).
  if (certain && path?.path.includes(csv) !== true) return []
  return [{ version, csv, chosenBecause: `OLM offers it after ${runs}`, done: false }]
}

function stopsOnPath(
  stops: readonly PathStop[],
  { set, certain }: Pick<StopsQuestion, 'set' | 'certain'>,
): readonly OperatorStop[] {
  return stops.map((stop, at) => {
    const before = at === 0 ? set : (stops[at - 1]?.channel ?? set)
    return asStop(stop, before, certain ? certainly(at === stops.length - 1) : shown)
  })
}

type Why = (stop: Pick<PathStop, 'minor' | 'channel'>) => string

const shown: Why = ({ minor, channel = '' }) => `the head of channel ${channel}, which belongs to ${minor}`

const certainly =
  (isLast: boolean): Why =>
  ({ minor }) =>
    isLast
      ? `the newest of ${minor} on the upgrade path of the catalog`
      : 'comes before it on the upgrade path of the catalog'

function asStop(
  stop: Omit<PathStop, 'channel'> & { channel?: string | undefined },
  set: string | undefined,
  why: Why,
): OperatorStop {
  const { csv, version, channel, minor } = stop
  const isOther = channel !== undefined && channel !== set
  const chosenBecause = why({ minor, ...(channel !== undefined && { channel }) })
  return { version, csv, ...(isOther && { channel }), chosenBecause, done: false }
}
