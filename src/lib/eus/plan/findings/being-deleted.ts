import type { Finding } from '../../../checks/finding.ts'
import type { KubeObject } from '../../../cluster/object.ts'
import { itemsOf } from '../../../facts/known.ts'
import type { Judged } from '../judged.ts'

/** Nothing is borrowed of what somebody takes away, and no operator follows the platform for it. Named as `kvup upgrade` names it. */
export function beingDeletedFindings({ sight: { evidence } }: Judged): readonly Finding[] {
  return [
    ...itemsOf(evidence.kubevirts).flatMap((one) => going('kubevirt', one)),
    ...itemsOf(evidence.hyperconverged).flatMap((one) => going('hyperconverged', one)),
  ]
}

function going(resource: 'kubevirt' | 'hyperconverged', { metadata }: KubeObject): readonly Finding[] {
  const { name, namespace = '', deletionTimestamp: since } = metadata
  if (since === undefined) return []
  return [
    {
      id: `${resource}-deleting`,
      level: 'blocker',
      summary: `${resource}s/${name} in namespace ${namespace} is being deleted, since ${since}`,
      objects: [`${resource}/${name}`],
      remedy: ['kvup status'],
    },
  ]
}
