import { compareMinors } from '../../releases/platform-version.ts'
import type { ChannelChange } from '../eus-plan.ts'

/** What a channel is chosen by. */
export interface ChannelQuestion {
  flavour: 'ocp' | 'okd'
  /** The one that is set. */
  now: string | undefined
  /** Those that the present release is in; empty where that is not said. */
  offered: readonly string[]
  /** The minor that it has to lead to. */
  to: string
  /** Over how many minors: only the channels of extended support hold those in between (ocp 3.7). */
  hops: number
  /** The next hop is offered with the channel that is set. */
  reaches: boolean
}

/** A channel to set; `kept`: the one that is set will do; `missing`: none leads there yet. */
export type ChannelChoice =
  | { is: 'kept' }
  | ({ is: 'change' } & ChannelChange)
  | { is: 'missing'; wanted: string; offered: readonly string[] }

const named = /^(?<prefix>[a-z]+(?:-scos)?)-(?<minor>\d+\.\d+)$/u

/** By what the cluster offers (`status.desired.channels`), not by arithmetic: a channel appears weeks after its releases (ocp 3.7). */
export function chooseChannel(question: ChannelQuestion): ChannelChoice {
  const { now, offered } = question
  if (isGood(question)) return { is: 'kept' }
  const wanted = wantedOf(question)
  const channel = wanted.find((name) => offered.includes(name))
  if (channel === undefined) return { is: 'missing', wanted: wanted[0] ?? '', offered: inOrder(offered) }
  if (channel === now) return { is: 'kept' }
  return { is: 'change', ...(now !== undefined && { from: now }), to: channel }
}

/** OKD has one channel for all minors. */
function isGood({ flavour, now, to, hops, reaches }: ChannelQuestion): boolean {
  if (flavour === 'okd' || hops === 0 || (hops === 1 && reaches)) return true
  const set = named.exec(now ?? '')?.groups
  return set?.['minor'] === to && (hops < 2 || set['prefix'] !== 'stable')
}

/** The best first. */
function wantedOf({ now, to, hops }: ChannelQuestion): readonly string[] {
  const prefix = named.exec(now ?? '')?.groups?.['prefix'] ?? 'stable'
  const prefixes = new Set([...(hops > 1 ? ['eus'] : []), prefix, 'stable'])
  return [...prefixes].map((one) => `${one}-${to}`)
}

function inOrder(channels: readonly string[]): readonly string[] {
  return channels.toSorted((a, b) => compareMinors(minorIn(a), minorIn(b)))
}

const minorIn = (channel: string): string => named.exec(channel)?.groups?.['minor'] ?? '0.0'
