import type { Reader, Reviewer, ServerVersion } from '../cluster/cluster.ts'
import { NotSavedError } from '../cluster/saved/not-saved.ts'
import type { Clock } from '../system/clock.ts'
import { ApiError } from '../system/errors.ts'
import { answeredRights, type AskedRight } from './asked-rights.ts'
import type { Evidence, EvidencePart } from './evidence.ts'
import { findKubeVirts } from './find-kubevirts.ts'
import { notAsked } from './known.ts'
import { homelessParts, partsOfHome } from './parts-of-home.ts'
import { partsOfCluster } from './parts-of-cluster.ts'
import { causeParts, homeOf, type Part, standingParts, takeSnapshot } from './snapshot.ts'

export interface Wanted {
  /** Questions to RBAC; without them the part `rights` is not known. */
  rights?: readonly AskedRight[] | undefined
  /** Default: everything. KubeVirts, operators and deployments are always read. */
  only?: readonly EvidencePart[] | undefined
}

/** What `takeSnapshot` reads; VMIs are folded once for all parts instead. */
const snapshotParts: readonly Part[] = [...standingParts, ...causeParts, 'migrations']

const foldedParts = {
  workloads: notAsked,
  crds: notAsked,
  apiServices: notAsked,
  webhooks: notAsked,
  endpoints: notAsked,
  instances: notAsked,
  machines: notAsked,
  quotas: notAsked,
  dataJobs: notAsked,
  others: notAsked,
  operatorRoles: notAsked,
  rights: notAsked,
  clusterUid: notAsked,
} as const

const everything: readonly EvidencePart[] = [
  ...snapshotParts,
  'serverVersion',
  ...(Object.keys(foldedParts) as (keyof typeof foldedParts)[]),
]

/**
 * Reads what the checks judge by, in parallel and narrowed by the server; of VMs and VMIs only sums and some names are kept. What may
 * not be read (403), is not served (404) or was not saved is an unknown part; any other ApiError is thrown.
 */
export async function gatherEvidence(
  { reader, reviewer }: { reader: Reader; reviewer?: Pick<Reviewer, 'can'> | undefined },
  clock: Pick<Clock, 'now'>,
  { rights, only = everything }: Wanted = {},
): Promise<Evidence> {
  const wants = new Set(only)
  const wide = Promise.all([
    partsOfCluster(reader, wants),
    wants.has('serverVersion') ? serverVersion(reader) : {},
    wants.has('rights') ? answeredRights(reviewer, rights) : notAsked,
  ])
  // Awaited last; an early failure of it must not go unhandled until then.
  wide.catch(() => undefined)
  const kubevirts = await findKubeVirts(reader)
  const home = homeOf(kubevirts)
  const looked = snapshotParts.filter((part) => wants.has(part))
  const snapshot = takeSnapshot(reader, looked, clock, home)
  const why = kubevirts.known ? 'there is no KubeVirt' : kubevirts.why
  const [around, seen, [everywhere, version, answered]] = await Promise.all([
    home === undefined ? homelessParts(wants, why) : partsOfHome(reader, wants, { home, snapshot }),
    snapshot,
    wide,
  ])
  return { ...seen, ...foldedParts, ...everywhere, ...version, ...around, rights: answered }
}

/** Nothing where it cannot be known. */
async function serverVersion(reader: Reader): Promise<{ serverVersion?: ServerVersion }> {
  try {
    return { serverVersion: await reader.version() }
  } catch (error) {
    const unread = error instanceof ApiError && (error.status === 403 || error.status === 404)
    if (unread || error instanceof NotSavedError) return {}
    throw error
  }
}
