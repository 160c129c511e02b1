import { filled } from '../filled.ts'
import { type RecognisedWindow, recogniseWindow } from './recognised-window.ts'
import { hyperConvergedLayer } from './hyperconverged-layer.ts'
import { kubeVirtLayer, type SeenKubeVirt, type SeenVms, vmsLayer } from './kubevirt-layers.ts'
import { type LayerVerdict, type Overall, overallOf, titled, type TitledLayer } from './layer.ts'
import type { LayersSnapshot } from './layers-snapshot.ts'
import { lifecycleLayers } from './lifecycle-layers.ts'
import { platformLayers } from './platform-layers.ts'
import { poolLayers } from './pool-layers.ts'

/** What KubeVirt depends on, and KubeVirt, in the order in which they depend on one another. */
export interface Layers {
  overall: Overall
  layers: readonly TitledLayer[]
  window?: RecognisedWindow
}

interface Seen {
  kubevirt: SeenKubeVirt
  vms?: SeenVms | undefined
  /** `kvup eus` has loans open. */
  loansAreOpen: boolean
}

/** Pure: the verdict on one look, at that time. */
export function layersOf(snapshot: LayersSnapshot, seen: Seen, at: Date): Layers {
  const { platform, lifecycle, hyperConverged } = snapshot
  const window = recogniseWindow(platform, seen.loansAreOpen)
  const cluster = platformLayers(platform, at)
  const installed = lifecycleLayers(lifecycle, at)
  const isUpdating = installed.some(({ layer, verdict }) => layer !== 'catalog' && !atRest.has(verdict))
  const found = [
    ...cluster,
    ...(cluster.length === 0 ? [] : poolLayers(platform.pools, window)),
    ...installed,
    hyperConvergedLayer(hyperConverged, isUpdating),
    kubeVirtLayer(seen.kubevirt),
    vmsLayer(seen.vms, window),
  ]
  const layers = found.filter((layer) => layer !== undefined).map(titled)
  return { overall: overallOf(layers), layers, ...filled({ window }) }
}

const atRest: ReadonlySet<LayerVerdict> = new Set(['Settled', 'Unknown'])
