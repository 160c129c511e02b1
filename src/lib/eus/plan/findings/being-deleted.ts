import type { Finding } from '../../../checks/finding.ts'
import type { KubeObject } from '../../../cluster/object.ts'
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

function going(id: Deleting, { metadata }: KubeObject): readonly Finding[] {
  const { name, namespace = '', deletionTimestamp: since } = metadata
  if (since === undefined) return []
  const resource = id.replace('-deleting', '')
  return [
    {
      id,
      level: 'blocker',
      summary: `${resource}s/${name} in namespace ${namespace} is being deleted, since ${since}`,
      objects: [`${resource}/${name}`],
      remedy: ['kvup status'],
    },
  ]
}
