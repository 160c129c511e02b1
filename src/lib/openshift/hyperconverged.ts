import type { Reader } from '../kube/cluster.ts'
import { atVersion, condition } from '../kube/object.ts'
import { type HyperConverged, HyperConvergeds } from '../kube/kinds/operator-kinds.ts'
import { ApiError, isNotFound } from '../kube/errors.ts'
import { filled, type Known, known } from '../kube/known.ts'
import { type Gate, gateOf, unknownGate } from './upgrade-gates.ts'

/**
 * Every HyperConverged, for its status, which is the same in each version: a cluster has one, and more are for the caller to tell. None
 * where no version is served. Its spec is to be read by `storedHyperConverged` (hco 12). Throws ApiError.
 */
export function findHyperConverged(reader: Reader): Promise<Known<HyperConverged>> {
  return known(listServed(reader))
}

async function listServed(reader: Reader): Promise<readonly HyperConverged[]> {
  let failure: unknown
  for (const version of ['v1beta1', 'v1']) {
    try {
      return await reader.list(atVersion(HyperConvergeds, version))
    } catch (error) {
      if (!isNotFound(error) && !notConverted(error)) throw error
      if (!isNotFound(error)) failure = error
    }
  }
  if (failure !== undefined) throw failure
  return []
}

/** hco-webhook is away, as it is in every upgrade: the version that is stored is readable without it (hco 8). */
function notConverted(error: unknown): boolean {
  return error instanceof ApiError && error.status === 500 && error.message.includes('conversion webhook')
}

/** Where a HyperConverged stands (ocp 1.5). */
export interface HyperConvergedStanding {
  name: string
  namespace: string
  /** status.versions[operator]: the release whose operands are all there; on a fresh installation at once. */
  operatorVersion?: string
  /** Every condition is as it must be, of the present spec. */
  good: boolean
  /** What is not, a sentence each. Empty where `good`. */
  why: readonly string[]
  /** `yes` says no more than that nothing progresses or is degraded (ocp 9.5). */
  upgradeable: Gate
  /** What makes the configuration unsupported. */
  tainted?: string
  /** systemHealthStatus: lenient while it upgrades, and no proof of anything. */
  health?: string
  /** Every part of the status is about the spec as it is now. */
  current: boolean
}

const wanted: readonly (readonly [type: string, status: 'True' | 'False'])[] = [
  ['ReconcileComplete', 'True'],
  ['Available', 'True'],
  ['Progressing', 'False'],
  ['Degraded', 'False'],
  ['Upgradeable', 'True'],
]

/** Pure. Unknown and absent are not good: after a failed reconcile all conditions but one are Unknown. */
export function hyperConvergedStanding(hco: HyperConverged): HyperConvergedStanding {
  const { metadata, status = {} } = hco
  const stale = staleness(hco)
  const why = [...stale, ...wanted.flatMap(([type, status_]) => unmet(hco, type, status_))]
  const tainted = condition(hco, 'TaintedConfiguration')
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    good: why.length === 0,
    why,
    upgradeable: upgradeable(hco, stale),
    current: stale.length === 0,
    ...filled({
      operatorVersion: status.versions?.find(({ name }) => name === 'operator')?.version,
      tainted: tainted?.status === 'True' ? tainted.message || tainted.reason || tainted.type : undefined,
      health: status.systemHealthStatus,
    }),
  }
}

function unmet(hco: HyperConverged, type: string, must: 'True' | 'False'): string[] {
  const found = condition(hco, type)
  if (!found) return [`${type} is not set`]
  if (found.status === must) return []
  const { reason = 'no reason', message = '' } = found
  return [`${type}=${found.status} (${reason})${message === '' ? '' : `: ${message}`}`]
}

/** A release that sets no observedGeneration leaves it open: nothing can be said then. */
function staleness(hco: HyperConverged): string[] {
  const { generation = 0 } = hco.metadata
  const judged = wanted.map(([type]) => hco.status?.conditions?.find((one) => one.type === type))
  const seen = [hco.status?.observedGeneration, ...judged.map((one) => one?.observedGeneration)]
  const least = Math.min(...seen.filter((one) => one !== undefined))
  return least < generation
    ? [`its status is about generation ${least}, and its spec is of generation ${generation}`]
    : []
}

function upgradeable(hco: HyperConverged, [stale]: readonly string[]): Gate {
  const said = gateOf(condition(hco, 'Upgradeable'), unknownGate('NotSaid', 'it does not say Upgradeable'))
  return stale !== undefined && said.is === 'yes' ? unknownGate('Outdated', stale) : said
}
