import type { PlatformStanding } from '../../facts/openshift/platform-standing.ts'
import {
  compareMinors,
  comparePlatforms,
  platformMinorOf,
  platformVersionOf,
} from '../../releases/platform-version.ts'

/** Where a hop ends: a minor, and the release where several hops share it (a patch that has to come first). */
export interface Stop {
  minor: string
  /** Only where the minor alone does not tell it. */
  version?: string
}

/** Whether a release is at the stop or beyond it. An older minor is before it, whatever its patch. */
function isAtStop(release: string | undefined, stop: Stop): boolean {
  const version = platformVersionOf(release)
  if (version === undefined) return false
  const order = compareMinors(platformMinorOf(version), stop.minor)
  const wanted = platformVersionOf(stop.version)
  return order === 0 && wanted !== undefined ? comparePlatforms(version, wanted) >= 0 : order >= 0
}

/** The platform follows that stop now, or has reached it: the request was accepted. */
export const isAccepted = (standing: PlatformStanding, stop: Stop): boolean => isAtStop(standing.target, stop)

/** It was reached in full. */
export const isReached = (standing: PlatformStanding, stop: Stop): boolean => isAtStop(standing.version, stop)
