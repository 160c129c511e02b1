import { describe, expect, test } from 'vitest'
import {
  type Deployment,
  Deployments,
  type Pod,
  Pods,
} from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { ConfigMaps, Namespaces } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { createMap, freshStore, map, namespace, refused } from './fixture.ts'

const named = (name: string) => ({ name, namespace })

const twoOfOnePrefix = () => {
  const store = freshStore()
  const one = () =>
    store.create(ConfigMaps, { ...map(''), metadata: { name: '', generateName: 'x-', namespace } })
  return [one().metadata.name, one().metadata.name]
}

describe('what the server makes of an object', () => {
  test('names of a prefix differ, and are the same in every run', () => {
    const [first, second] = twoOfOnePrefix()
    expect(first).toMatch(/^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    expect(second).not.toBe(first)
    expect(twoOfOnePrefix()).toEqual([first, second])
  })

  test('resourceVersions rise over all kinds', () => {
    const store = freshStore()
    const one = Number(createMap(store, 'one').metadata.resourceVersion)
    expect(Number(createMap(store, 'two').metadata.resourceVersion)).toBe(one + 1)
  })

  test('a bad name is 422 in the real words', () =>
    expect(refused(() => createMap(freshStore(), 'Bad_Name'))).toMatchObject({
      status: 422,
      statusReason: 'Invalid',
      message: expect.stringContaining(
        'ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name"',
      ),
    }))

  test('a Deployment counts its annotations, not its labels', () => {
    const store = freshStore()
    const deployment: Deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: named('d'),
      spec: { selector: {} },
    }
    store.create(Deployments, deployment)
    const patch = (metadata: object) =>
      store.patch(Deployments, named('d'), { type: 'merge', body: { metadata } }).metadata.generation
    expect(patch({ labels: { a: 'b' } })).toBe(1)
    expect(patch({ annotations: { a: 'b' } })).toBe(2)
  })

  test('what it gives out cannot be changed', () => {
    const store = freshStore()
    createMap(store, 'frozen', { labels: { a: 'b' } })
    const found = store.read(ConfigMaps, named('frozen'))
    expect(() => Object.assign(found?.metadata.labels ?? {}, { a: 'c' })).toThrow(TypeError)
  })
})

describe('how objects go', () => {
  test('what is owned goes with its owner, and the owned of that as well', () => {
    const store = freshStore()
    const ownerOf = (name: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid: store.read(ConfigMaps, named(name))?.metadata.uid ?? '',
    })
    createMap(store, 'owner')
    createMap(store, 'child', { ownerReferences: [ownerOf('owner')] })
    createMap(store, 'grandchild', { ownerReferences: [ownerOf('child')] })
    createMap(store, 'shared', { ownerReferences: [ownerOf('owner'), ownerOf('grandchild')] })
    store.remove(ConfigMaps, named('owner'))
    expect(store.list(ConfigMaps).items).toEqual([])
  })

  test('another owner that lives keeps it', () => {
    const store = freshStore()
    const owners = ['one', 'two'].map((name) => createMap(store, name))
    const ownerReferences = owners.map(({ metadata: { name, uid = '' } }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid,
    }))
    createMap(store, 'child', { ownerReferences })
    store.remove(ConfigMaps, named('one'))
    expect(store.read(ConfigMaps, named('child'))?.metadata.ownerReferences).toEqual([ownerReferences[1]])
  })

  test('orphans stay, without the reference', () => {
    const store = freshStore()
    const { metadata } = createMap(store, 'owner')
    createMap(store, 'child', {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid ?? '' }],
    })
    store.remove(ConfigMaps, named('owner'), { orphan: true })
    expect(store.read(ConfigMaps, named('child'))?.metadata.ownerReferences).toEqual([])
  })

  test('a namespace takes what is in it, and waits for finalizers', () => {
    const store = freshStore()
    createMap(store, 'plain')
    createMap(store, 'paused', { finalizers: ['x/y'] })
    expect(store.remove(Namespaces, { name: namespace })).toMatchObject({ status: { phase: 'Terminating' } })
    expect(store.read(ConfigMaps, named('plain'))).toBeUndefined()
    store.patch(ConfigMaps, named('paused'), { type: 'merge', body: { metadata: { finalizers: [] } } })
    expect(store.read(Namespaces, { name: namespace })).toBeUndefined()
  })

  test('a pod on a node is Terminating for a while', async () => {
    const store = freshStore({ podTermination: 500 })
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: named('p'), spec: { nodeName: 'n' } }
    store.create(Pods, pod)
    store.remove(Pods, named('p'))
    expect(store.read(Pods, named('p'))?.metadata.deletionGracePeriodSeconds).toBe(30)
    await store.clock.sleep(600)
    expect(store.read(Pods, named('p'))).toBeUndefined()
  })
})
