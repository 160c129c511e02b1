import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import { condition } from '../../cluster/object.ts'
import { filled } from '../filled.ts'
import { type Gate, gateOf, unknownGate } from '../gate.ts'

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
