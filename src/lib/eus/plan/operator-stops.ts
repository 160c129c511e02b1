import type { OperatorNow, OperatorStop } from '../eus-plan.ts'
import type { Releases } from '../../releases/releases.ts'
import { versionOfCsv } from '../../releases/operator-version.ts'
import type { WayStop } from './catalog-way.ts'
import type { EusEvidence } from './evidence.ts'
import { channelFor, isOfOneMinor } from './minor-channel.ts'
import { operatorMinorNow, operatorNow } from './operator-now.ts'
import { releaseLeft } from './operator-through.ts'
import { channelOf, type OperatorWay } from './operator-way.ts'

interface StopsQuestion {
  /** Of the platform. */
  minor: string
  releases: Pick<Releases, 'hyperconverged'>
  /** The channel that is set when the hop begins: of hops before it, where they change it. */
  set: string | undefined
  /** What is known of all minors ahead; undefined without an operator. */
  way: OperatorWay | undefined
  /** It is from the edges of a catalog file. */
  certain: boolean
}

/**
 * Where the operator has to be in a hop: at the platform's minor (night E8), on the way that is known (night E4). Where none is, it is what OLM resolves then
 * (ocp 2.6). On OpenShift the catalog changes with the platform and the channel stays; upstream has a channel for each minor.
 */
export function operatorStops(evidence: EusEvidence, question: StopsQuestion): readonly OperatorStop[] {
  const now = operatorNow(evidence)
  const { minor, releases, way, set } = question
  if (now?.version !== undefined && operatorMinorNow(evidence, releases) === minor)
    return [thereNow(now, now.version), ...stillLeft(evidence, question, now.version)]
  const stops = way?.stops.filter((stop) => stop.minor === minor) ?? []
  return stops.length === 0 ? [headNow(evidence, { minor, set, releases })] : inTurn(stops, question)
}

/** Whether a way leads there is not known: the head of the channel that belongs to the minor, where there is one yet. */
function headNow(evidence: EusEvidence, asked: Parameters<typeof channelOf>[1]): OperatorStop {
  const { minor, set } = asked
  const { currentCSV: csv, name: channel } = channelOf(evidence, asked) ?? {}
  const version = versionOfCsv(csv)?.text
  if (csv !== undefined && version !== undefined) return asStop({ minor, csv, version, channel }, set, shown)
  return { chosenBecause: `decided when it is there: ${resolvedThen(asked)}`, done: false }
}

/** In a channel of one minor OLM finds nothing of the next. */
function resolvedThen({ minor, set, releases }: Parameters<typeof channelOf>[1]): string {
  if (!isOfOneMinor(set))
    return `what OLM resolves in channel ${set ?? 'stable'} once the catalog is that of ${minor}`
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
  evidence: EusEvidence,
  { minor, releases, way, certain }: StopsQuestion,
  runs: string,
): readonly OperatorStop[] {
  const csv = releaseLeft(evidence, minor, releases)
  const version = versionOfCsv(csv)?.text
  if (csv === undefined || version === undefined || version === runs) return []
  // By its edges it may lead nowhere (ocp 9.15).
  if (certain && way?.path.includes(csv) !== true) return []
  return [{ version, csv, chosenBecause: `OLM offers it after ${runs}`, done: false }]
}

function inTurn(
  stops: readonly WayStop[],
  { set, certain }: Pick<StopsQuestion, 'set' | 'certain'>,
): readonly OperatorStop[] {
  return stops.map((stop, at) => {
    const before = at === 0 ? set : (stops[at - 1]?.channel ?? set)
    return asStop(stop, before, certain ? certainly(at === stops.length - 1) : shown)
  })
}

type Why = (stop: Pick<WayStop, 'minor' | 'channel'>) => string

const shown: Why = ({ minor, channel = '' }) => `the head of channel ${channel}, which belongs to ${minor}`

const certainly =
  (isLast: boolean): Why =>
  ({ minor }) =>
    isLast ? `the newest of ${minor} on the way of the catalog` : 'comes before it on the way of the catalog'

function asStop(
  stop: Omit<WayStop, 'channel'> & { channel?: string | undefined },
  set: string | undefined,
  why: Why,
): OperatorStop {
  const { csv, version, channel, minor } = stop
  const isOther = channel !== undefined && channel !== set
  const chosenBecause = why({ minor, ...(channel !== undefined && { channel }) })
  return { version, csv, ...(isOther && { channel }), chosenBecause, done: false }
}
