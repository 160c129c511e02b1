import { type FieldChange, fieldChanges, type Leaf, leavesOf, sameLeaf } from '../cluster/leaves.ts'
import type { Kind } from '../cluster/kind.ts'
import { Deployments } from '../cluster/kinds/apps.ts'
import { HyperConvergeds } from '../cluster/kinds/hyperconverged.ts'
import { KubeVirts } from '../cluster/kinds/kubevirt.ts'
import { Subscriptions } from '../cluster/kinds/operator-lifecycle.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { Entry } from '../procedure/journal.ts'
import type { RehearsedStep } from '../procedure/rehearse.ts'
import type { RehearsedChange } from '../procedure/rehearsed-change.ts'
import type { OwnWork } from '../seal/drift.ts'
import type { Becomes, SealedFact } from '../seal/seal.ts'
import { idIn, idWithout } from './hop-row.ts'
import type { UpgradePlan } from './plan.ts'

/** The facts that are the spec of one object, and its kind. */
const kindOf: Readonly<Record<string, Kind>> = {
  kubevirt: KubeVirts,
  operator: Deployments,
  hyperconverged: HyperConvergeds,
  subscription: Subscriptions,
}

/** A fact with what the rehearsed steps make of its object: what `ownWork` knows them by later. */
export function withResults(fact: SealedFact, steps: readonly RehearsedStep[]): SealedFact {
  const becomes = steps.flatMap(({ id, changes = [] }) =>
    changes
      .filter(({ object }) => isOf(fact, object))
      .map(({ fields, by }): Becomes => ({ step: id, by, fields })),
  )
  return becomes.length === 0 ? fact : { ...fact, becomes }
}

/** The virt-operator Deployment of a later step of an upgrade path. */
export interface LaterOperator {
  /** The release: `v1.7.4`. */
  hop: string
  deployment: KubeObject & { spec?: unknown }
}

/** The sealed operator with what later steps of an upgrade path make of it: what no dry run can tell before their turn, their manifests do. */
export function withLaterResults(fact: SealedFact, later: readonly LaterOperator[]): SealedFact {
  if (fact.id !== 'operator' || later.length === 0) return fact
  const { 'metadata.uid': uid } = fact.leaves
  const becomes = later.map(({ hop, deployment: { spec } }): Becomes => {
    const after = leavesOf({ metadata: { uid }, spec })
    return {
      step: idIn('apply-operator-manifest', hop),
      by: 'client',
      fields: fieldChanges(fact.leaves, after),
    }
  })
  return { ...fact, becomes: [...(fact.becomes ?? []), ...becomes] }
}

/** A manifest may hold other Deployments than that of the operator. */
function isOf({ id, what }: SealedFact, { kind, name, namespace = '' }: RehearsedChange['object']): boolean {
  const is = kindOf[id]
  return is?.kind === kind && what === `${is.plural}/${name} in namespace ${namespace}`
}

/** The steps that a run of this plan has begun to apply: from then on their result may be met. */
export function begunSteps(entries: readonly Entry[], planUid: string): ReadonlySet<string> {
  const ours = entries.filter(({ plan, what }) => plan === planUid && what === 'intends')
  return new Set(ours.map(({ step }) => step))
}

type Asked = Pick<UpgradePlan, 'to' | 'request' | 'olm' | 'path'>

/**
 * What the steps of an upgrade leave behind in the facts that its plan is sealed by. A step that has not begun leaves nothing:
 * the same change by somebody else is drift.
 */
export function ownWork(plan: Asked, begun: ReadonlySet<string>): OwnWork {
  const hops = plan.path?.hops ?? []
  const bases = new Set([...begun].map((step) => idWithout(step, hops)))
  const unrehearsed = resultsOf(plan).filter(({ step }) => begun.has(step))
  // Each step of an upgrade path borrows the same and takes the same out, and puts it back.
  const isBegun = (step: string) =>
    begun.has(step) || (repeated.has(idWithout(step, hops)) && bases.has(idWithout(step, hops)))
  return (fact, change) => {
    if (plan.olm && isOfOlm(fact, change, begun)) return true
    if (fact.id === 'crds') return bringsCrds.some((step) => bases.has(step)) && isAddition(change)
    if (fact.becomes?.some((becomes) => isBegun(becomes.step) && isResult(fact, becomes, change))) return true
    return (
      fact.id === 'kubevirt' && unrehearsed.some(({ path, to }) => path === change.path && to === change.to)
    )
  }
}

/** What OLM and HyperConverged do once an InstallPlan is approved, and what HyperConverged passes on before (hco 5). */
function isOfOlm({ id }: SealedFact, { path }: FieldChange, begun: ReadonlySet<string>): boolean {
  if ([...begun].some((step) => step.startsWith('approve-'))) return movedByOlm.has(id)
  const isMethods = path.startsWith('spec.workloadUpdateStrategy')
  return id === 'kubevirt' && isMethods && begun.has('hold-workload-updates')
}

const movedByOlm: ReadonlySet<string> = new Set(['kubevirt', 'operator', 'crds', 'hyperconverged', 'csv'])

/** From these on virt-operator brings the CRDs of the new version. */
const bringsCrds = ['apply-operator-manifest', 'set-image-tag']

/** Steps that build on an earlier one: no dry run can tell what they leave. */
function resultsOf({ to, request, path }: Asked): readonly Result[] {
  return path === undefined
    ? tagResults(to.text, request.imageRegistry, (step) => step)
    : path.hops.flatMap((hop) => tagResults(hop, request.imageRegistry, (step) => idIn(step, hop)))
}

interface Result {
  step: string
  path: string
  to: Leaf | undefined
}

const repeated: ReadonlySet<string> = new Set(['hold-workload-updates', 'lift-image-tag'])

function tagResults(
  version: string,
  registry: string | undefined,
  named: (step: string) => string,
): readonly Result[] {
  return ['set-image-tag', 'put-image-tag-in'].map(named).flatMap((step) => {
    const tag = { step, path: 'spec.imageTag', to: version }
    return registry === undefined ? [tag] : [tag, { step, path: 'spec.imageRegistry', to: registry }]
  })
}

/** The server adds defaults to a Deployment that is applied, none to a KubeVirt whose one field is patched: what is more there, somebody added. */
function isResult({ id }: SealedFact, { fields, by }: Becomes, { path, from, to }: FieldChange): boolean {
  const field = fields.find((one) => one.path === path)
  if (field) return sameLeaf(field.to, to)
  return id === 'operator' && by === 'client' && from === undefined
}

/** A CRD that is new, or one more stored version. */
function isAddition({ from, to }: FieldChange): boolean {
  if (from === undefined) return true
  return Array.isArray(from) && Array.isArray(to) && from.every((version) => to.includes(version))
}
