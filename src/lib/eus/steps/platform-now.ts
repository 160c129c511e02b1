import type { Reader } from '../../cluster/cluster.ts'
import { type ClusterVersion, ClusterVersions } from '../../cluster/kinds/openshift.ts'
import { type PlatformStanding, platformStanding } from '../../facts/openshift/platform-standing.ts'
import type { Followed } from '../../procedure/step.ts'
import {
  compareMinors,
  comparePlatforms,
  platformMinorOf,
  platformVersionOf,
} from '../../releases/platform-version.ts'
import { blocked } from '../../system/errors.ts'

/** The one object that says which release the platform runs and is asked for. */
export const theClusterVersion = { name: 'version' } as const
export const platformFollows: readonly Followed[] = [{ kind: ClusterVersions, where: theClusterVersion }]
export const showsPlatform = 'oc get clusterversion version -o yaml --show-managed-fields'

/** Throws `blocked` where this is neither OKD nor OpenShift. */
export async function readPlatform(
  reader: Reader,
): Promise<{ cv: ClusterVersion; standing: PlatformStanding }> {
  const found = await reader.find(ClusterVersions, theClusterVersion)
  if (found.is !== 'object')
    throw blocked('no-platform', 'there is no ClusterVersion: this is neither OKD nor OpenShift', {
      object: 'clusterversions/version',
      remedy: 'kvup upgrade --to VERSION     updates KubeVirt on any other cluster',
    })
  return { cv: found.object, standing: platformStanding(found.object) }
}

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
