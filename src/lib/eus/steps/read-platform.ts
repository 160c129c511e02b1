import type { Reader } from '../../cluster/cluster.ts'
import { type ClusterVersion, ClusterVersions } from '../../cluster/kinds/openshift.ts'
import { type PlatformStanding, platformStanding } from '../../facts/openshift/platform-standing.ts'
import type { Followed } from '../../procedure/step.ts'
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
