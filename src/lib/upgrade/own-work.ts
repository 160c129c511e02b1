import { type FieldChange, type Leaf, sameLeaf } from '../cluster/leaves.ts'
import type { Entry } from '../procedure/journal.ts'
import type { OwnWork } from '../seal/drift.ts'
import type { Becomes } from '../seal/seal.ts'
import type { UpgradePlan } from './plan.ts'

/** The steps that a run of this plan has begun to apply: from then on their result may be met. */
export function begunSteps(entries: readonly Entry[], planUid: string): ReadonlySet<string> {
  const ours = entries.filter(({ plan, what }) => plan === planUid && what === 'intends')
  return new Set(ours.map(({ step }) => step))
}

type Asked = Pick<UpgradePlan, 'to' | 'request'>

/**
 * What the steps of an upgrade leave behind in the facts that its plan is sealed by. A step that has not begun leaves nothing:
 * the same change by somebody else is drift.
 */
export function ownWork(plan: Asked, begun: ReadonlySet<string>): OwnWork {
  const unrehearsed = resultsOf(plan).filter(({ step }) => begun.has(step))
  return (fact, change) => {
    if (fact.id === 'crds') return bringsCrds.some((step) => begun.has(step)) && isAddition(change)
    if (fact.becomes?.some((becomes) => begun.has(becomes.step) && isResult(becomes, change))) return true
    return (
      fact.id === 'kubevirt' && unrehearsed.some(({ path, to }) => path === change.path && to === change.to)
    )
  }
}

/** From these on virt-operator brings the CRDs of the new version. */
const bringsCrds = ['apply-operator-manifest', 'set-image-tag']

/** Steps that build on an earlier one: no dry run can tell what they leave. */
function resultsOf({ to, request }: Asked): readonly { step: string; path: string; to: Leaf | undefined }[] {
  const registry = request.imageRegistry
  return ['set-image-tag', 'put-image-tag-in'].flatMap((step) => {
    const tag = { step, path: 'spec.imageTag', to: to.text }
    return registry === undefined ? [tag] : [tag, { step, path: 'spec.imageRegistry', to: registry }]
  })
}

function isResult({ fields, by }: Becomes, { path, from, to }: FieldChange): boolean {
  const field = fields.find((one) => one.path === path)
  if (field) return sameLeaf(field.to, to)
  return by === 'client' && from === undefined
}

/** A CRD that is new, or one more stored version. */
function isAddition({ from, to }: FieldChange): boolean {
  if (from === undefined) return true
  return Array.isArray(from) && Array.isArray(to) && from.every((version) => to.includes(version))
}
