import { expect, test } from 'vitest'
import { ConfigMaps } from '../../src/lib/kube/kinds/core-kinds.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import { ensureNamespace, Store } from '../../src/simulator/api/store.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { immortal, Killed, mortal } from './mortal-cluster.ts'

const ref = { name: 'x', namespace: 'a' }
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref }

function living() {
  const store = new Store(new SimClock())
  ensureNamespace(store, 'a')
  return { store, cluster: storeCluster(store) }
}

test('after its call the server has acted, and nothing more is done', async () => {
  const { store, cluster } = living()
  const { reader, writer, dead } = mortal(cluster, { afterCall: 2 })
  expect((await reader.get(ConfigMaps, ref)).is).toBe('absent')
  await expect(writer.create(ConfigMaps, object)).rejects.toThrow(Killed)
  await expect(writer.delete(ConfigMaps, ref)).rejects.toThrow(Killed)
  expect(dead()).toBe(true)
  expect(store.read(ConfigMaps, ref)).toBeDefined()
})

test('before its call the server has not', async () => {
  const { store, cluster } = living()
  const { writer } = mortal(cluster, { beforeCall: 1 })
  await expect(writer.create(ConfigMaps, object)).rejects.toThrow(Killed)
  expect(store.read(ConfigMaps, ref)).toBeUndefined()
})

test('what it follows ends with it', async () => {
  const { reader, writer, reviewer } = mortal(living().cluster, { afterCall: 3 })
  const following = (async () => {
    for await (const change of reader.watch(ConfigMaps, {}, new AbortController().signal)) void change
  })().catch((error: unknown) => error)
  await reviewer.can({ verb: 'get', group: '', resource: 'configmaps' })
  await expect(writer.create(ConfigMaps, object)).rejects.toThrow(Killed)
  expect(await following).toBeInstanceOf(Killed)
})

test('an immortal one counts over reader, writer and reviewer', async () => {
  const { reader, writer, reviewer, calls } = immortal(living().cluster)
  await writer.create(ConfigMaps, object)
  await reader.list(ConfigMaps)
  await reviewer.dryRun.delete(ConfigMaps, ref)
  expect(calls()).toBe(3)
})
