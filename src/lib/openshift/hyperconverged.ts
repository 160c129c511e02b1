import type { Reader } from '../kube/cluster.ts'
import { atVersion, condition, groupOf, type Kind, resourceOf } from '../kube/object.ts'
import { type HyperConverged, HyperConvergeds } from '../kube/kinds/operator-kinds.ts'
import { ApiError, blocked, forbidden, isNotFound } from '../kube/errors.ts'
import { filled, type Known, known } from '../kube/known.ts'
import { type Gate, gateOf, unknownGate } from './platform-status.ts'
import { type CustomResourceDefinition, CustomResourceDefinitions } from '../kube/kinds/extension-kinds.ts'

/**
 * Every HyperConverged, for its status, which is the same in each version: a cluster has one, and more are for the caller to tell. None
 * where no version is served. Its spec is to be read by `storedHyperConverged` (hco 12). Throws ApiError.
 */
export const getHyperConverged = (reader: Reader): Promise<Known<HyperConverged>> => known(listServed(reader))

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
export interface HyperConvergedStatus {
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
export function assessHyperConverged(hco: HyperConverged): HyperConvergedStatus {
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
  const observed = [hco.status?.observedGeneration, ...judged.map((one) => one?.observedGeneration)]
  const least = Math.min(...observed.filter((one) => one !== undefined))
  return least < generation
    ? [`its status is of generation ${least}, but its spec is of generation ${generation}`]
    : []
}

function upgradeable(hco: HyperConverged, [stale]: readonly string[]): Gate {
  const said = gateOf(
    condition(hco, 'Upgradeable'),
    unknownGate('NotSaid', 'it has no condition Upgradeable'),
  )
  return stale !== undefined && said.is === 'yes' ? unknownGate('Outdated', stale) : said
}

/** Versions whose fields kvup knows (hco 2). */
const knownVersions = ['v1beta1', 'v1'] as const
type KnownVersion = (typeof knownVersions)[number]

const crd = resourceOf(HyperConvergeds)
const show = `kubectl get crd ${crd} -o jsonpath='{.spec.conversion.strategy} {.status.storedVersions}'`

/**
 * HyperConverged under the version that is stored. Any write through another one, be it a label, loses a stored `[]` wherever the
 * versions are not converted (hco 12). Throws `blocked` where no version is safe, `forbidden` where it cannot be told.
 */
export async function storedHyperConverged(
  reader: Reader,
): Promise<{ kind: Kind<HyperConverged>; version: KnownVersion }> {
  const served = await reader.versions(groupOf(HyperConvergeds))
  const name = served.length === 1 ? served[0] : await storedVersion(reader)
  const version = knownVersions.find((one) => one === name)
  if (version === undefined || !served.includes(version)) throw unknownVersion(name, served)
  return { kind: atVersion(HyperConvergeds, version), version }
}

async function storedVersion(reader: Reader): Promise<string | undefined> {
  const { spec = {}, status = {} } = (await readDefinition(reader)) ?? {}
  const stored = spec.versions?.find(({ storage }) => storage === true)?.name
  if (spec.conversion?.strategy === 'Webhook') return stored
  const { storedVersions: inEtcd = [] } = status
  if (inEtcd.every((version) => version === stored)) return stored
  throw blocked(
    'hyperconverged-not-converted',
    `${crd} is stored as ${inEtcd.join(' and ')} and nothing converts between them now: a write could lose settings`,
    {
      object: `customresourcedefinitions/${crd}`,
      remedy: `wait until hco-webhook has restored its conversion: ${show}`,
    },
  )
}

async function readDefinition(reader: Reader): Promise<CustomResourceDefinition | undefined> {
  try {
    const found = await reader.get(CustomResourceDefinitions, { name: crd })
    return found.is === 'object' ? found.object : undefined
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    throw forbidden(
      'hyperconverged-version-unread',
      `kvup cannot see which version of HyperConverged is stored, and a write in another version could lose settings: ${error.message}`,
      { object: `customresourcedefinitions/${crd}`, remedy: 'kvup rbac kvup-settings | kubectl apply -f -' },
    )
  }
}

function unknownVersion(name: string | undefined, served: readonly string[]): Error {
  return blocked(
    'hyperconverged-version-unknown',
    `HyperConverged is stored as ${name ?? 'no version'} and served as ${served.join(', ') || 'nothing'}; kvup knows ${knownVersions.join(' and ')}`,
    { object: `customresourcedefinitions/${crd}`, remedy: show },
  )
}
