import type { EusHop } from '../eus-plan.ts'
import { knownMinors } from '../../releases/operator-and-platform.ts'
import type { Releases } from '../../releases/releases.ts'

const named = /^(?<before>(?:.*[^\d.])?)\d+\.\d+(?<patch>\.\d+)?$/u

/** `stable-v1.17`, `1.17.3`: one of many, in which no later minor of the operator appears (ocp 1.1). Not `stable`, in which each does. */
export function isOfOneMinor(channel: string | undefined): boolean {
  return named.test(channel ?? '')
}

/**
 * What the channel of a minor of the platform is called, next to that of another: `stable-v1.18` for 4.22, where `stable-v1.17` is set. Undefined where no row knows which operator belongs to
 * it, or where channels bear whole releases.
 */
export function channelFor(
  minor: string,
  set: string | undefined,
  releases: Pick<Releases, 'hyperconverged'>,
): string | undefined {
  const { before, patch } = named.exec(set ?? '')?.groups ?? {}
  const operator = knownMinors(releases).findLast(({ platform }) => platform === minor)?.operator
  return before === undefined || patch !== undefined || operator === undefined
    ? undefined
    : `${before}${operator}`
}

/** The channel that is set behind a hop: the last that it changes to, or the one that was set before it. */
export const channelBehind = (
  operators: EusHop['operators'],
  before: string | undefined,
): string | undefined => changedTo(operators) ?? before

/** Undefined where the hop leaves the channel as it is. */
const changedTo = (operators: EusHop['operators']): string | undefined =>
  operators.findLast(({ channel }) => channel !== undefined)?.channel
