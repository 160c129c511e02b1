import type { UpdateHistory } from '../../kube/kinds/openshift-kinds.ts'
import { itemsOf } from '../../kube/known.ts'
import { poolOf } from '../../openshift/machine-config-pools.ts'
import { platformsOfKubernetes } from '../../releases/platform-releases.ts'
import { hours, minutes, seconds } from '../../kube/clock.ts'
import { inTurn, type Range, rangeWords, rounded } from '../../upgrade/upgrade-duration.ts'
import type { EusPlan, PoolToPause } from './eus-plan.ts'
import type { EusSnapshot } from './eus-assessment.ts'

/** An update of a platform that nothing is known of (ocp 4.2: an hour is the usual guess). */
const guess: Range = { low: 45 * minutes, high: 2 * hours }
/** Most are through in 15 minutes (seed 003). */
export const operatorHop: Range = { low: 5 * minutes, high: 30 * minutes }
/** Drain, reboot and coming back, without VMs that take longer to leave. */
const nodeRoll: Range = { low: 6 * minutes, high: 20 * minutes }
/** A shorter one was none between releases that differ much. */
const least = 10 * minutes

/** How long one hop of the platform takes, from what its updates took; and what it is made from. */
export function platformHop({ snapshot }: EusSnapshot): Range & { basis: 'own-updates' | 'guess' } {
  const [cv] = itemsOf(snapshot.platform.clusterVersion)
  const { history = [] } = cv?.status ?? {}
  // The oldest entry is the installation.
  const spans = history.slice(0, -1).flatMap(spanOf)
  if (spans.length === 0) return { ...guess, basis: 'guess' }
  return { low: Math.min(...spans) * 0.75, high: Math.max(...spans) * 1.5, basis: 'own-updates' }
}

/** Of a hop that is under way: what its operator says is done is taken off. */
export function platformLeft(snapshot: EusSnapshot): Range {
  const { low, high } = platformHop(snapshot)
  const left = 1 - (snapshot.platformStatus.percent ?? 0) / 100
  return { low: low * left, high: high * left }
}

function spanOf({ state, startedTime, completionTime }: UpdateHistory): number[] {
  if (state !== 'Completed' || !startedTime || !completionTime) return []
  const span = Date.parse(completionTime) - Date.parse(startedTime)
  return span >= least ? [span] : []
}

/** Once the platform is where it goes, machines whose kubelets have followed are done. */
export function poolsLeft(snapshot: EusSnapshot, pools: readonly PoolToPause[]): Range {
  const { nodes, pools: all } = snapshot.snapshot.platform
  const there = itemsOf(nodes).filter(({ status }) =>
    platformsOfKubernetes(status?.nodeInfo?.kubeletVersion).includes(snapshot.here),
  )
  const watched = (name: string) =>
    there.filter((node) => poolOf(node, itemsOf(all))?.metadata.name === name).length
  return poolRolls(
    pools.map((pool) => ({ ...pool, machines: Math.max(0, pool.machines - watched(pool.name)) })),
  )
}

type Rolling = Pick<PoolToPause, 'machines' | 'maxUnavailable'>

/** One pool after the other, so many machines of each at a time. */
export function poolRolls(pools: readonly Rolling[]): Range {
  return inTurn(pools.map(poolRoll))
}

function poolRoll({ machines, maxUnavailable }: Rolling): Range {
  const atATime = Math.max(1, atOnce(maxUnavailable, machines))
  const rounds = Math.ceil(machines / atATime)
  return { low: nodeRoll.low * rounds, high: nodeRoll.high * rounds }
}

/** A share is rounded down, as the machine config controller does it. */
function atOnce(maxUnavailable: number | string, machines: number): number {
  const text = String(maxUnavailable)
  return text.endsWith('%') ? Math.floor((machines * Number.parseFloat(text)) / 100) : Number(text) || 1
}

/** Of the whole window, with what it is made from. */
export function wholeTime(
  hops: readonly Range[],
  pools: Range,
  basis: 'own-updates' | 'guess',
): EusPlan['time'] {
  const whole = inTurn([...hops, pools])
  const made =
    basis === 'own-updates'
      ? "from what this platform's own updates took"
      : 'a guess: the platform has not been updated yet'
  return {
    ...inSeconds(whole),
    basis,
    says: `${rangeWords(whole)} of work, ${made}; waiting for people, VMs that move and drains that are refused come on top`,
  }
}

/** Its ends rounded, in seconds. */
export function inSeconds(range: Range): { lowSeconds: number; highSeconds: number } {
  const { low, high } = rounded(range)
  return { lowSeconds: low / seconds, highSeconds: high / seconds }
}
