import type { Reader } from '../../lib/kube/cluster.ts'
import type { KubeVirt } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { listKubeVirts } from '../../lib/kubevirt/snapshot.ts'
import { managerOf } from '../../lib/kubevirt/installation.ts'
import { versionOf } from '../../lib/releases/release-versions.ts'
import { reachable } from '../../lib/releases/reachable.ts'
import { type Asked, clusterOf, last, type Source } from './asked.ts'

/**
 * Where the cluster can go in one hop; where a HyperConverged owns KubeVirt, what the catalog of its operator has. Throws where that is not known: no
 * KubeVirt, or a saved cluster is judged.
 */
export const reachableVersions: Source = async (asked, offer) => {
  const { kubevirt, reader } = await theKubeVirt(asked)
  if (managerOf(kubevirt)?.kind === 'hyperconverged') return offerReleases(reader, offer)
  const observed = observedIn(kubevirt)
  for (const value of reachable(observed)) offer({ value, description: `one hop from ${observed}` })
}

async function offerReleases(reader: Reader, offer: Parameters<Source>[1]): Promise<void> {
  const [{ seeOperator }, { releasesAhead }, { knownReleases }] = await Promise.all([
    import('../../lib/upgrade/methods/olm-operator.ts'),
    import('../../lib/upgrade/methods/operator-target.ts'),
    import('../../lib/releases/releases.ts'),
  ])
  const operatorSnapshot = await seeOperator(reader)
  for (const value of releasesAhead({ operatorSnapshot, releases: knownReleases }))
    offer({ value, description: `HyperConverged, from ${operatorSnapshot.installed.text}` })
}

/** What follows `--for version=`. */
export const versionConditions: Source = async (asked, offer) => {
  const begun = 'version='
  if (!asked.typed.startsWith(begun)) throw new Error('no version is asked for')
  const observed = observedIn((await theKubeVirt(asked)).kubevirt)
  offer({ value: `${begun}${observed}`, description: 'as it is now' })
  for (const value of reachable(observed))
    offer({ value: `${begun}${value}`, description: `one hop from ${observed}` })
}

async function theKubeVirt(asked: Asked): Promise<{ kubevirt: KubeVirt; reader: Reader }> {
  if (last(asked, '--from') !== undefined) throw new Error('a saved cluster is not read for a completion')
  const { reader } = await clusterOf(asked)
  const found = await listKubeVirts(reader)
  const [kubevirt] = found.known ? found.items : []
  if (kubevirt === undefined) throw new Error('no KubeVirt was seen')
  return { kubevirt, reader }
}

function observedIn({ status }: KubeVirt): string {
  const observed = versionOf(status?.observedKubeVirtVersion)?.text
  if (observed === undefined) throw new Error('no version was observed')
  return observed
}
