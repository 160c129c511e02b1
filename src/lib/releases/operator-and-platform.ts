import { platformOfOperator } from './bundled.ts'
import { operatorMinor, type OperatorVersion, operatorVersionOf } from './operator-version.ts'
import { compareMinors } from './platform-version.ts'
import type { Releases } from './releases.ts'

/** `beyond`: the platform has to go first (night E8); `why` in words that follow the release's name. `unknown`: no row tells. */
export type AgainstPlatform = { is: 'fits' } | { is: 'beyond'; why: string } | { is: 'unknown' }

type Rows = Pick<Releases, 'hyperconverged'>

/**
 * Whether a release of the operator is of a later minor than the platform at hand. Both lines rise together (ocp 1.2): a minor that no table knows is beyond where an older one belongs to this
 * platform already, and fits where a newer one belongs to it or to one before. Pure.
 */
export function againstPlatform(
  operator: OperatorVersion,
  platform: string,
  releases: Rows,
): AgainstPlatform {
  const own = platformOfOperator(operator, releases)
  if (own !== undefined)
    return compareMinors(own, platform) > 0
      ? { is: 'beyond', why: `belongs to platform ${own}` }
      : { is: 'fits' }
  const known = knownMinors(releases)
  const minor = operatorMinor(operator)
  const before = known.find(
    (row) => compareMinors(row.operator, minor) < 0 && compareMinors(row.platform, platform) >= 0,
  )
  if (before !== undefined)
    return {
      is: 'beyond',
      why: `is newer than ${before.operator}, which belongs to platform ${before.platform}`,
    }
  const isPassed = known.some(
    (row) => compareMinors(row.operator, minor) > 0 && compareMinors(row.platform, platform) <= 0,
  )
  return { is: isPassed ? 'fits' : 'unknown' }
}

/** The oldest first. */
export function knownMinors({ hyperconverged }: Rows): readonly { operator: string; platform: string }[] {
  const rows = hyperconverged.flatMap(({ version: text, platform }) => {
    const version = operatorVersionOf(text)
    return version && platform ? [{ operator: operatorMinor(version), platform }] : []
  })
  return rows.toSorted((a, b) => compareMinors(a.operator, b.operator))
}
