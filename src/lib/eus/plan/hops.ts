import { itemsOf } from '../../facts/known.ts'
import { type AdminGate, openGates } from '../../facts/openshift/admin-gates.ts'
import type { Releases } from '../../releases/releases.ts'
import { compareMinors } from '../../releases/platform-version.ts'
import { platformMinor } from '../../releases/platform-minors.ts'
import { inTurn } from '../../upgrade/range.ts'
import type { EusHop, PlatformStop, RemovedApi } from '../eus-plan.ts'
import { channelBehind, isOfOneMinor } from './minor-channel.ts'
import { operatorMinorNow, operatorNow } from './operator-now.ts'
import { operatorStops } from './operator-stops.ts'
import { releaseLeft } from './operator-through.ts'
import type { OperatorWay } from './operator-way.ts'
import type { EusSight } from './sight.ts'
import { inSeconds, operatorHop, platformHop, platformLeft } from './time.ts'

/** What the hops are made from. */
export interface HopsQuestion {
  sight: EusSight
  stops: readonly { minor: string; stop: PlatformStop }[]
  way: 'control-plane-only' | 'plain'
  releases: Pick<Releases, 'hyperconverged'>
  /** Of the operator, as far as it is known; `certain`: from the edges of a catalog file. */
  operator: { way: OperatorWay | undefined; certain: boolean }
}

/** All that is still to be done, in order; first the hop that the control plane has begun, where its operator is not there yet. */
export function hopsOf(question: HopsQuestion): readonly EusHop[] {
  const { sight, stops } = question
  const ahead = stops.map(({ minor, stop }, i) => ({ minor, stop, before: stops[i - 1]?.minor }))
  const all = isHereDone(question) ? ahead : [{ minor: sight.here, stop: stopHere(sight) }, ...ahead]
  let set = operatorNow(sight.evidence)?.channel
  return all.map((one) => {
    const made = hop(question, { ...one, set })
    set = channelBehind(made.operators, set)
    return made
  })
}

/** Those that the operator has to get to, in their order. */
export function minorsAhead({
  sight,
  minors,
  releases,
}: Pick<HopsQuestion, 'sight' | 'releases'> & { minors: readonly string[] }): readonly string[] {
  return isHereDone({ sight, releases }) ? minors : [sight.here, ...minors]
}

type Here = Pick<HopsQuestion, 'sight' | 'releases'>

/** Inside of a window releases of the operator may lie ahead in the minor that it has reached (ocp 2.3). */
function isHereDone({ sight, releases }: Here): boolean {
  const isInside = sight.began !== sight.here
  return (
    isHereReached({ sight, releases }) &&
    !(isInside && releaseLeft(sight.evidence, sight.here, releases) !== undefined)
  )
}

/** The platform is through with this minor, and the operator belongs to it. Where the operator's version is not known nothing is to be done. */
function isHereReached({ sight, releases }: Here): boolean {
  const operator = operatorMinorNow(sight.evidence, releases)
  return sight.standing.state === 'idle' && (operator === undefined || operator === sight.here)
}

function stopHere({ standing, release }: EusSight): PlatformStop {
  const done = standing.state === 'idle'
  return { version: release, chosenBecause: done ? 'the platform is there' : 'it is under way', done }
}

interface Ahead {
  minor: string
  stop: PlatformStop
  before?: string | undefined
  /** The operator's channel when it begins. */
  set: string | undefined
}

function hop(question: HopsQuestion, ahead: Ahead): EusHop {
  const { sight, releases } = question
  const { minor, stop, set } = ahead
  const operators = operatorStops(sight.evidence, { minor, set, releases, ...question.operator })
  const before = ahead.before ?? sight.here
  const leaves = before === sight.here && minor !== before
  const gates = leaves ? gatesOn(sight, before) : []
  const mustBeZero = minor !== before && outdatedMustBeZero(question, leaves)
  return {
    minor,
    platform: stop,
    operators,
    gate: gateOf(minor, { hasGates: gates.length > 0, mustBeZero, offered: channelGate(operators, ahead) }),
    adminGates: gates,
    removedApis: removedBy(itemsOf(sight.evidence.removedApis), before, minor),
    outdatedMustBeZero: mustBeZero,
    time: inSeconds(
      inTurn([
        ...(stop.done ? [] : [stop.version === sight.release ? platformLeft(sight) : platformHop(sight)]),
        ...operators.filter(({ done }) => !done).map(() => operatorHop),
      ]),
    ),
  }
}

/** Those of the minor that the control plane runs stand before the next one (ocp 3.3). */
function gatesOn({ evidence: { platform } }: EusSight, minor: string): readonly AdminGate[] {
  return openGates(itemsOf(platform.adminGates)[0], itemsOf(platform.adminAcks)[0], minor)
}

/**
 * From 4.16 on a window does not begin while VMs run an older virt-launcher (ocp 6.3). Inside of it they are to; where pools follow, each
 * hop begins anew.
 */
function outdatedMustBeZero({ sight, way }: HopsQuestion, leaves: boolean): boolean {
  if (compareMinors(sight.began, '4.16') < 0 || sight.began !== sight.here) return false
  return way === 'plain' || leaves
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
  return isLeft ? `the catalog offers a channel of ${minor}` : `the catalog is that of ${minor} and READY`
}

/** Night E1. */
function gateOf(minor: string, { hasGates, mustBeZero, offered }: Gated): EusHop['gate'] {
  return {
    platform: [
      'ClusterVersion and the version of the kubelets do not forbid the next minor',
      'HyperConverged says Upgradeable=True, and its OperatorCondition does not forbid it',
      ...(hasGates ? ['the admin gates are acknowledged'] : []),
      ...(mustBeZero ? ['no VM runs an older virt-launcher'] : []),
    ],
    operator: [
      `the platform is through with ${minor} and its master pool is updated`,
      'every condition of HyperConverged is as it must be',
      offered,
    ],
  }
}
