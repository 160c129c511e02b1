import { expect, test } from 'vitest'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { seed, Store } from '../../../../src/simulator/api/store.ts'
import { Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'

const ref = { name: 'web', namespace: 'default' }
const to = (node: string) => ({
  name: 'binding',
  method: 'POST' as const,
  body: { apiVersion: 'v1', kind: 'Binding', metadata: ref, target: { kind: 'Node', name: node } },
})

test('a pod gets its node by a binding, once', async () => {
  const store = new Store(new SimClock())
  seed(store, [{ apiVersion: 'v1', kind: 'Pod', metadata: ref }])
  const { reader, writer } = storeCluster(store)
  await writer.subresource(Pods, ref, to('node-1'))
  const found = await reader.get(Pods, ref)
  expect(found.is === 'object' && found.object.spec?.nodeName).toBe('node-1')
  await expect(writer.subresource(Pods, ref, to('node-2'))).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('already assigned to node "node-1"'),
  })
})
