import type { Ref } from '../cluster/cluster.ts'
import type { CustomResourceDefinition } from '../cluster/kinds/extension.ts'
import { type Leaf, leavesOf } from '../cluster/leaves.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { Evidence, EvidencePart } from '../facts/evidence.ts'
import type { Known } from '../facts/known.ts'
import type { Now } from './drift.ts'
import { type SealedFact, sealedFact, type Unsealed } from './seal.ts'

/** What a plan relies on, and which cluster it is of; undefined where that may not be read. */
export interface Relied extends Now {
  cluster: string | undefined
}

/** What has to be read of a cluster for `reliedOn`. */
export const sealedParts: readonly EvidencePart[] = ['crds', 'nodes', 'serverVersion', 'clusterUid']

/**
 * What contract "Sealed plan" names: specs of the KubeVirt and of its operator, storedVersions, the version of Kubernetes, the set of
 * nodes. Status, heartbeats and resourceVersions are not among it. Pure: a seal is laid over the very look that the plan was judged by.
 */
export function reliedOn(evidence: Evidence, owner: Ref): Relied {
  const { kubevirts, operators, crds, nodes, clusterUid } = evidence
  return {
    cluster: clusterUid.known ? clusterUid.items[0] : undefined,
    ...split([
      fact('kubevirt', kubevirts, (all) => specOf('kubevirt', 'kubevirts', all.find(isNamed(owner)))),
      fact('operator', operators, (all) => specOf('operator', 'deployments', all.find(isIn(owner)))),
      fact('crds', crds, (all) => byName('crds', 'storedVersions', all, storedVersions)),
      kubernetes(evidence),
      fact('nodes', nodes, (all) => byName('nodes', 'the nodes', all, () => true)),
    ]),
  }
}

function specOf(
  id: string,
  kind: string,
  object: (KubeObject & { spec?: unknown }) | undefined,
): SealedFact | undefined {
  if (object === undefined) return undefined
  const { name, namespace, uid } = object.metadata
  return sealedFact(
    id,
    `${kind}/${name} in namespace ${namespace ?? ''}`,
    leavesOf({ metadata: { uid }, spec: object.spec }),
  )
}

function byName<T extends KubeObject>(
  id: string,
  what: string,
  all: readonly T[],
  leaf: (object: T) => Leaf,
): SealedFact {
  return sealedFact(id, what, Object.fromEntries(all.map((object) => [object.metadata.name, leaf(object)])))
}

const storedVersions = ({ status }: CustomResourceDefinition): Leaf => status?.storedVersions ?? []

type Read = SealedFact | Unsealed

function fact<T>(id: string, part: Known<T>, make: (items: readonly T[]) => SealedFact | undefined): Read {
  if (!part.known) return { id, why: part.why }
  return make(part.items) ?? { id, why: 'it is not there' }
}

function kubernetes({ serverVersion }: Evidence): Read {
  if (serverVersion === undefined) return { id: 'kubernetes', why: '/version may not be read' }
  return sealedFact('kubernetes', 'Kubernetes', { version: serverVersion.gitVersion })
}

const isNamed =
  ({ name, namespace }: Ref) =>
  ({ metadata }: KubeObject) =>
    metadata.name === name && metadata.namespace === namespace

const isIn =
  ({ namespace }: Ref) =>
  ({ metadata }: KubeObject) =>
    metadata.namespace === namespace

function split(all: readonly Read[]): Now {
  const isFact = (one: Read): one is SealedFact => 'leaves' in one
  return { facts: all.filter(isFact), unsealed: all.filter((one): one is Unsealed => !isFact(one)) }
}
