import type { Finding } from '../../../checks/finding.ts'
import type { KubeObject } from '../../../cluster/object.ts'
import { beingDeleted } from '../../../facts/being-deleted.ts'
import { itemsOf } from '../../../facts/known.ts'
import type { Judged } from '../judged.ts'

/** Nothing is borrowed of what somebody takes away, and no operator follows the platform for it. Named as `kvup upgrade` names it. */
export function beingDeletedFindings({ sight: { evidence } }: Judged): readonly Finding[] {
  return [
    ...itemsOf(evidence.kubevirts).flatMap((one) => going('kubevirt-deleting', one)),
    ...itemsOf(evidence.hyperconverged).flatMap((one) => going('hyperconverged-deleting', one)),
  ]
}

type Deleting = 'kubevirt-deleting' | 'hyperconverged-deleting'

function going(id: Deleting, object: KubeObject): readonly Finding[] {
  const resource = id.replace('-deleting', '')
  const summary = beingDeleted(`${resource}s`, object)
  if (summary === undefined) return []
  return [
    {
      id,
      level: 'blocker',
      summary,
      objects: [`${resource}/${object.metadata.name}`],
      remedy: ['kvup status'],
    },
  ]
}
