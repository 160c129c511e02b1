import { ClusterOperators, ClusterVersions } from '../../cluster/kinds/openshift.ts'
import type { ControllerContext } from '../machinery/controller.ts'

/**
 * The minor, `4.19`, whose catalogs are to be served: that of the marketplace operator, which comes to it in the middle of a platform
 * update (ocp 2.3 #10), or else of the newest update that is completed. Undefined where there is no cluster version.
 */
export async function platformMinor({
  reader,
}: Pick<ControllerContext, 'reader'>): Promise<string | undefined> {
  const version = await reader.find(ClusterVersions, { name: 'version' })
  if (version.is !== 'object') return undefined
  const marketplace = await reader.find(ClusterOperators, { name: 'marketplace' })
  const versions = marketplace.is === 'object' ? marketplace.object.status?.versions : undefined
  const own = versions?.find(({ name }) => name === 'operator')?.version
  const completed = version.object.status?.history?.find(({ state }) => state === 'Completed')?.version
  return minorOf(own ?? completed)
}

/** `4.19` of `4.19.0-okd-scos.16`. */
export function minorOf(version: string | undefined): string | undefined {
  return /^\d+\.\d+/u.exec(version ?? '')?.[0]
}
