import type { Reader } from '../../cluster/cluster.ts'
import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import { findHyperConverged } from '../hyperconverged/find-hyperconverged.ts'
import { itemsOf, type Known, whyUnknown } from '../known.ts'
import { isMasterPool } from '../openshift/pool-standing.ts'
import { type PlatformSnapshot, takePlatform } from '../openshift/take-platform.ts'
import { shownPackages } from '../operator-lifecycle/shown-packages.ts'
import { type LifecycleSnapshot, takeLifecycle } from '../operator-lifecycle/take-lifecycle.ts'

/** What KubeVirt depends on, as it was seen. */
export interface LayersSnapshot {
  platform: PlatformSnapshot
  lifecycle: LifecycleSnapshot
  hyperConverged: Known<HyperConverged>
}

/** Groups whose presence says that KubeVirt is not alone. */
const platformGroup = 'config.openshift.io'
const operatorGroup = 'hco.kubevirt.io'

/** Whether the cluster is OKD or OpenShift: one small request. Who may not ask takes it for none. */
export async function isPlatform(reader: Reader): Promise<boolean> {
  return isServed(reader, platformGroup)
}

/** Whether a HyperConverged can be there. */
export async function hasHyperConverged(reader: Reader): Promise<boolean> {
  return isServed(reader, operatorGroup)
}

async function isServed(reader: Reader, group: string): Promise<boolean> {
  try {
    return (await reader.versions(group)).length > 0
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return false
  }
}

const shown = ['installPlans', 'csvs', 'catalogSources', 'operatorGroups', 'operatorConditions'] as const

/** Two round trips, three where OLM has a Subscription of it; nodes are read only where a pool is paused, for whose kubelets tell what the pause is for. Throws ApiError. */
export async function takeLayers(reader: Reader): Promise<LayersSnapshot> {
  const [platform, lifecycle, hyperConverged] = await Promise.all([
    takePlatform(reader, { parts: ['clusterVersion', 'clusterOperators', 'pools'] }),
    takeLifecycle(reader, { parts: shown }),
    findHyperConverged(reader),
  ])
  const paused = itemsOf(platform.pools).some((pool) => pool.spec?.paused === true && !isMasterPool(pool))
  const [{ nodes }, packageManifests] = await Promise.all([
    paused ? takePlatform(reader, { parts: ['nodes'] }) : platform,
    shownPackages(reader, itemsOf(lifecycle.subscriptions)),
  ])
  return { platform: { ...platform, nodes }, lifecycle: { ...lifecycle, packageManifests }, hyperConverged }
}
