import { compareOperatorVersions, type OperatorVersion } from '../../releases/operator-version.ts'
import type { OfferedChannel } from './operator-seen.ts'

/** A hop as far as it can be told beforehand. */
export interface GuessedHop {
  csv: string
  version: string
  /** Undefined: the one that is set leads there. */
  channel?: string
}

export interface Way {
  from: OperatorVersion
  /** Set now. */
  channel: string | undefined
  to: OperatorVersion
  /** What the CSV of a version is called where no channel names it. */
  csvNamed: (version: string) => string
}

/**
 * The hops from what the cluster shows of the catalog: it names no edges (ocp 2.6), so a channel that is set and has the target is stayed in, and
 * else it goes minor by minor, to the newest release of each minor's channel (ocp 1.1). What OLM really takes is seen on the way. Pure.
 */
export function guessHops(offered: readonly OfferedChannel[], way: Way): readonly GuessedHop[] {
  const hops: GuessedHop[] = []
  let { from, channel } = way
  for (
    let next = step(offered, { ...way, from, channel });
    next !== undefined;
    next = step(offered, { ...way, from, channel })
  ) {
    const isOther = next.channel !== undefined && next.channel !== channel
    hops.push({ csv: next.csv, version: next.version.text, ...(isOther && { channel: next.channel }) })
    from = next.version
    channel = next.channel ?? channel
  }
  return hops
}

interface Next {
  csv: string
  version: OperatorVersion
  channel?: string
}

function step(offered: readonly OfferedChannel[], { from, channel, to, csvNamed }: Way): Next | undefined {
  if (compareOperatorVersions(from, to) >= 0) return undefined
  const target = entryOf(offered, channel, to) ?? { csv: csvNamed(to.text), version: to }
  if (from.major !== to.major || to.minor - from.minor <= 1 || has(offered, channel, to)) return target
  return newestOf(offered, { ...from, minor: from.minor + 1 }) ?? target
}

const has = (offered: readonly OfferedChannel[], channel: string | undefined, to: OperatorVersion): boolean =>
  offered.some(
    ({ name, entries }) => name === channel && entries.some(({ version }) => version.text === to.text),
  )

/** In the channel that is set where it has it, else in that whose newest release is the least: a later one leads further than was asked for. */
function entryOf(
  offered: readonly OfferedChannel[],
  channel: string | undefined,
  to: OperatorVersion,
): Next | undefined {
  const having = offered.filter(({ entries }) => entries.some(({ version }) => version.text === to.text))
  const [first] = having.toSorted(
    (a, b) =>
      Number(b.name === channel) - Number(a.name === channel) ||
      compareOperatorVersions(headOf(a), headOf(b)),
  )
  const entry = first?.entries.find(({ version }) => version.text === to.text)
  return first && entry && { ...entry, channel: first.name }
}

function headOf({ entries }: OfferedChannel): OperatorVersion {
  const [first, ...others] = entries.map(({ version }) => version)
  const none = { text: '0.0.0', major: 0, minor: 0, patch: 0 }
  return others.reduce((a, b) => (compareOperatorVersions(a, b) < 0 ? b : a), first ?? none)
}

/** A channel whose newest release is of that minor. */
function newestOf(offered: readonly OfferedChannel[], { major, minor }: OperatorVersion): Next | undefined {
  const channel = offered.find((one) => headOf(one).major === major && headOf(one).minor === minor)
  const entry = channel?.entries.find(({ version }) => version.text === headOf(channel).text)
  return channel && entry && { ...entry, channel: channel.name }
}
