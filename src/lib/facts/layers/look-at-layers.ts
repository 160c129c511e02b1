import type { Reader } from '../../cluster/cluster.ts'
import { type Layers, layersOf } from './layers.ts'
import type { SeenKubeVirt, SeenVms } from './kubevirt-layers.ts'
import { hasHyperConverged, isPlatform, takeLayers } from './layers-snapshot.ts'

/** Whether the cluster is OKD or OpenShift, asked beside what else is read: never rejects before it is awaited. */
export function askPlatform(reader: Reader): Promise<boolean> {
  const asked = isPlatform(reader)
  asked.catch(() => undefined)
  return asked
}

interface Look {
  /** The time of the look. */
  at: Date
  kubevirt: SeenKubeVirt
  vms?: SeenVms | undefined
  /** Of the answer to `askPlatform`. */
  onPlatform: boolean
  /** Somebody manages KubeVirt who has layers of his own. */
  managed: boolean
  /** Whether `kvup eus` has loans open in that cluster; asked only where it matters. */
  loansAreOpen?: (() => Promise<boolean>) | undefined
}

/** What KubeVirt depends on there; undefined on a plain cluster, at no further request. Throws what the Reader throws. */
export async function lookAtLayers(reader: Reader, look: Look): Promise<Layers | undefined> {
  if (!look.onPlatform && !look.managed && !(await mayBeBelow(reader, look))) return undefined
  const [snapshot, loansAreOpen] = await Promise.all([takeLayers(reader), look.loansAreOpen?.() ?? false])
  const { at, kubevirt, vms } = look
  const found = layersOf(snapshot, { kubevirt, vms, loansAreOpen }, at)
  const above = found.layers.filter(({ layer }) => !own.has(layer))
  // What may not be read is said beside a KubeVirt; alone it would hide that there is none.
  const isTold = kubevirt.is === 'one' || above.some(({ verdict }) => verdict !== 'Unknown')
  return above.length > 0 && isTold ? found : undefined
}

const own: ReadonlySet<string> = new Set(['kubevirt', 'vms'])

/** Where there is no KubeVirt yet, its HyperConverged may be there. */
async function mayBeBelow(reader: Reader, { kubevirt }: Look): Promise<boolean> {
  return kubevirt.is !== 'one' && hasHyperConverged(reader)
}
