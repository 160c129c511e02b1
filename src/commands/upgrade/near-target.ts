import type { Standing } from '../../lib/facts/standing.ts'
import { type Version, versionOf } from '../../lib/releases/version.ts'
import type { OlmPart } from '../../lib/upgrade/olm/olm-part.ts'

/**
 * By OLM the checks judge one minor of KubeVirt at most: it goes through those in between, each a hop of its own. Undefined where it is further, or not known
 * which KubeVirt it is: then they judge what is there.
 */
export function nearTarget(
  { kubevirt }: Pick<OlmPart, 'kubevirt'>,
  to: Version,
  { observed }: Pick<Standing, 'observed'>,
): Version | undefined {
  const from = versionOf(observed.version)
  const isNear = from !== undefined && from.major === to.major && to.minor - from.minor <= 1
  return kubevirt !== undefined && isNear ? to : undefined
}
