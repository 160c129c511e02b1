import { type Leaf, leavesOf } from '../kube/field-changes.ts'
import type { HyperConverged, Subscription } from '../kube/kinds/operator-kinds.ts'
import type { ClusterVersion, MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import type { Metadata } from '../kube/object.ts'
import { filled, type Known } from '../kube/known.ts'
import { type SealedFact, sealedFact, type Unsealed } from '../engine/sealed-plan.ts'
import type { Relied } from '../upgrade/sealed-facts.ts'

/** What a plan of an EUS window was made from, as far as it is relied on. */
interface SealedEusSnapshot {
  clusterVersion: Known<ClusterVersion>
  pools: Known<MachineConfigPool>
  subscriptions: Known<Subscription>
  hyperconverged: Known<HyperConverged>
  clusterUid: Known<string>
}

/**
 * The release that the platform runs and is asked for, which pools there are and whether they are paused, the Subscription, and the
 * settings of HyperConverged that are borrowed: it rewrites other parts of its spec in each upgrade (night E13). Nodes may come and go. Pure.
 */
export function reliedOnByEus(sealedEusSnapshot: SealedEusSnapshot): Relied {
  const all: (SealedFact | Unsealed)[] = [
    fact('platform', sealedEusSnapshot.clusterVersion, ([cv]) => cv && platform(cv)),
    fact('pools', sealedEusSnapshot.pools, (pools) =>
      sealedFact('pools', 'machineconfigpools', poolLeaves(pools)),
    ),
    fact('subscription', sealedEusSnapshot.subscriptions, ([one]) => one && subscription(one)),
    fact('hyperconverged', sealedEusSnapshot.hyperconverged, ([one]) => one && overriddenOf(one)),
  ]
  return {
    cluster: sealedEusSnapshot.clusterUid.known ? sealedEusSnapshot.clusterUid.items[0] : undefined,
    facts: all.filter(isFact),
    unsealed: all.filter((one): one is Unsealed => !isFact(one)),
  }
}

const isFact = (one: SealedFact | Unsealed): one is SealedFact => 'leaves' in one

function fact<T>(
  id: string,
  part: Known<T>,
  make: (items: readonly T[]) => SealedFact | undefined,
): SealedFact | Unsealed {
  if (!part.known) return { id, why: part.why }
  return make(part.items) ?? { id, why: 'it is not there' }
}

function platform({ metadata, spec = {}, status = {} }: ClusterVersion): SealedFact {
  const { channel, upstream, desiredUpdate } = spec
  const asked = filled({ channel, upstream, desiredUpdate })
  const observed = {
    metadata,
    spec: asked,
    status: { desired: filled({ version: status.desired?.version }) },
  }
  return objectFact('platform', 'clusterversions', observed)
}

/** The rest of its status is OLM's diary: times, generations, the health of catalogs. */
function subscription({ metadata, spec, status = {} }: Subscription): SealedFact {
  const observed = { metadata, spec, status: filled({ installedCSV: status.installedCSV }) }
  return objectFact('subscription', 'subscriptions', observed)
}

function poolLeaves(pools: readonly MachineConfigPool[]): Record<string, Leaf> {
  return Object.fromEntries(
    pools.flatMap(({ metadata, spec = {} }): [string, Leaf][] => [
      [`${metadata.name}.uid`, metadata.uid ?? ''],
      [`${metadata.name}.paused`, spec.paused === true],
    ]),
  )
}

interface Part {
  metadata: Metadata
  spec?: unknown
  status?: unknown
}

function objectFact(id: string, kind: string, { metadata, spec, status }: Part): SealedFact {
  const { uid, name, namespace } = metadata
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`
  const leaves = leavesOf(filled({ metadata: filled({ uid }), spec, status }))
  return sealedFact(id, `${kind}/${name}${where}`, leaves)
}

/** v1 keeps below `virtualization` what v1beta1 has at the top. */
function overriddenOf({ metadata, spec = {} }: HyperConverged): SealedFact {
  const under = spec['virtualization']
  const at = (typeof under === 'object' && under !== null ? under : spec) as Record<string, unknown>
  const { workloadUpdateStrategy, evictionStrategy } = at
  return objectFact('hyperconverged', 'hyperconvergeds', {
    metadata,
    spec: filled({ workloadUpdateStrategy, evictionStrategy }),
  })
}
