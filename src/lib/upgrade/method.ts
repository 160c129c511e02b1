import type { Installation } from '../facts/installation.ts'
import type { Method } from '../releases/operator-rule.ts'
import { compareVersions, type Version, versionOf } from '../releases/version.ts'
import type { TagTreatment } from './plan.ts'

/**
 * `auto`: OLM where a HyperConverged owns KubeVirt; the tag only where the CR has one and the operator is new enough; the manifest everywhere else. imageRegistry alone
 * is not a tag: the operands follow the operator then (night U3).
 */
export function chooseMethod(
  asked: Method | 'auto',
  { imageTag, operator, manager }: Installation,
  to: Version,
): Method {
  if (asked !== 'auto') return asked
  if (manager.kind === 'hyperconverged') return 'olm'
  const runs = versionOf(operator?.version)
  const newEnough = runs !== undefined && compareVersions(runs, to) >= 0
  const unpinned = operator?.pinned.length === 0
  return imageTag !== undefined && newEnough && unpinned ? 'image-tag' : 'operator-manifest'
}

/** What to do with a tag that is set while the operator is replaced (night U2). */
export function tagTreatment(
  method: Method,
  { imageTag, imageRegistry, operator }: Installation,
  to: Version,
): TagTreatment {
  if (method !== 'operator-manifest' || imageTag === undefined) return { is: 'none' }
  const asOperator =
    imageTag === operator?.version && (imageRegistry === undefined || imageRegistry === operator?.registry)
  if (asOperator)
    return { is: 'lift', tag: imageTag, ...(imageRegistry !== undefined && { registry: imageRegistry }) }
  return imageTag === to.text ? { is: 'none' } : { is: 'pin', tag: imageTag }
}
