import { describe, expect, test } from 'vitest'
import { atVersion } from '../../src/lib/kube/object.ts'
import { HyperConvergeds } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import { seed, Store } from '../../src/simulator/api/store.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import {
  hyperConvergedDefinition,
  hyperConvergedKind,
  hyperConvergedObject,
  type HyperConvergedShape,
} from '../../src/simulator/hyperconverged/hyperconverged-crd.ts'
import { hyperConvergedPromises } from './hyperconverged-versions.ts'

const namespace = 'kubevirt-hyperconverged'

function clusterWith(shape: HyperConvergedShape) {
  const store = new Store(new SimClock())
  store.kinds.add(hyperConvergedKind(shape))
  seed(store, [hyperConvergedDefinition(shape), hyperConvergedObject(shape, { namespace, strategy: {} })])
  return storeCluster(store)
}

const shapes: readonly HyperConvergedShape[] = [
  { stored: 'v1beta1', served: ['v1beta1'], conversion: 'None' },
  { stored: 'v1beta1', served: ['v1', 'v1beta1'], conversion: 'None' },
  { stored: 'v1', served: ['v1', 'v1beta1'], conversion: 'None' },
]

describe.each(shapes)('the simulator, HyperConverged stored as $stored, served as $served', (shape) => {
  const other = shape.served.find((version) => version !== shape.stored)
  hyperConvergedPromises(other, async () => ({
    cluster: clusterWith(shape),
    namespace,
    stored: shape.stored,
  }))
})

test.each(['v1', 'v1beta1'] as const)(
  'stored as %s and converted, [] survives either way',
  async (stored) => {
    const { reader, writer } = clusterWith({ stored, served: ['v1', 'v1beta1'], conversion: 'Webhook' })
    const ref = { name: 'kubevirt-hyperconverged', namespace }
    const [top, below] = (['v1beta1', 'v1'] as const).map((version) => atVersion(HyperConvergeds, version))
    if (!top || !below) throw new Error('two versions')
    await writer.mergePatch(top, ref, { spec: { workloadUpdateStrategy: { workloadUpdateMethods: [] } } })
    const spec = async (kind: typeof top) => {
      const found = await reader.get(kind, ref)
      return found.is === 'object' ? found.object.spec : undefined
    }
    expect(await spec(top)).toMatchObject({ workloadUpdateStrategy: { workloadUpdateMethods: [] } })
    expect(await spec(below)).toMatchObject({
      virtualization: { workloadUpdateStrategy: { workloadUpdateMethods: [] } },
    })
    await writer.mergePatch(below, ref, { metadata: { labels: { a: 'b' } } })
    expect(await spec(top)).toMatchObject({ workloadUpdateStrategy: { workloadUpdateMethods: [] } })
  },
)
