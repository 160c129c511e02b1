import { type Reader, orUnserved } from '../kube/cluster.ts'
import {
  type NetworkAttachmentDefinition,
  NetworkAttachmentDefinitions,
} from '../kube/kinds/extension-kinds.ts'
import { NodeMaintenances, OldNodeMaintenances } from '../kube/kinds/openshift-kinds.ts'
import { itemsOf, type Known, known, listServed } from '../kube/known.ts'
import type { FiringAlert } from './firing-alerts.ts'
import { getHyperConverged } from './hyperconverged.ts'
import { shownPackages, takeLifecycle } from './olm-status.ts'
import type { OperatorParts } from './operator-rules.ts'
import { isOldBridge, type PlatformParts } from './platform-rules.ts'
import { takePlatform } from './platform-status.ts'

/** What lies above and below KubeVirt, as the checks judge it. A layer that this cluster does not have has no parts. */
export interface LayerParts extends PlatformParts, OperatorParts {}

export type LayerPart = keyof LayerParts

interface Asked {
  /** Of the answer to `askPlatform`. */
  onPlatform: boolean
  /** HyperConverged or OLM owns KubeVirt. */
  managed: boolean
  /** How alerts are asked for, where there is a platform that has some. */
  alerts: () => Promise<Known<FiringAlert>>
}

/**
 * Reads the layers that are there. On a cluster that is no platform, and whose KubeVirt nobody manages, it asks nothing. A part that may not be read or was not saved is unknown; any other ApiError is
 * thrown.
 */
export async function readLayerParts(reader: Reader, asked: Asked): Promise<Partial<LayerParts>> {
  const { onPlatform, managed } = asked
  if (!onPlatform && !managed) return {}
  const [platform, operator] = await Promise.all([
    onPlatform ? platformParts(reader, asked) : {},
    operatorParts(reader, managed),
  ])
  return { ...platform, ...operator }
}

const shown = ['csvs', 'operatorGroups', 'operatorConditions', 'catalogSources'] as const

/** None where the group is served and there is no ClusterVersion: this is no such cluster then. */
async function platformParts(reader: Reader, { alerts }: Asked): Promise<Partial<PlatformParts>> {
  const [{ clusterVersion, clusterOperators, pools }, oldMaintenances, maintenances, networks] =
    await Promise.all([
      takePlatform(reader, { parts: ['clusterVersion', 'clusterOperators', 'pools'] }),
      known(listServed(reader, OldNodeMaintenances)),
      known(listServed(reader, NodeMaintenances)),
      oldBridgeNetworks(reader),
    ])
  if (clusterVersion.known && clusterVersion.items.length === 0) return {}
  return {
    clusterVersion,
    clusterOperators,
    pools,
    oldMaintenances,
    maintenances,
    bridgeNetworks: networks,
    alerts: await alerts(),
  }
}

/** Page by page: most networks are of another type, and not kept. */
export async function oldBridgeNetworks(reader: Reader): Promise<Known<NetworkAttachmentDefinition>> {
  const found: NetworkAttachmentDefinition[] = []
  return known(
    (async () => {
      for await (const { items } of orUnserved(reader.pages(NetworkAttachmentDefinitions)))
        found.push(...items.filter(isOldBridge))
      return found
    })(),
  )
}

/** Of OLM none where no Subscription of it is there, and of HyperConverged none where nobody says that there is one. */
async function operatorParts(reader: Reader, managed: boolean): Promise<Partial<OperatorParts>> {
  const [lifecycle, hyperconverged] = await Promise.all([
    takeLifecycle(reader, { parts: shown }),
    getHyperConverged(reader),
  ])
  const hasOperator = isThere(hyperconverged, managed)
  if (!hasOperator) return {}
  const { subscriptions, csvs, operatorGroups, operatorConditions, catalogSources } = lifecycle
  if (!isThere(subscriptions, managed)) return { hyperconverged }
  const packageManifests = await shownPackages(reader, itemsOf(subscriptions))
  return {
    hyperconverged,
    subscriptions,
    csvs,
    operatorGroups,
    operatorConditions,
    catalogSources,
    packageManifests,
  }
}

/** What may not be read is there where KubeVirt has an owner. */
const isThere = (part: Known<unknown>, managed: boolean): boolean =>
  part.known ? part.items.length > 0 : managed
