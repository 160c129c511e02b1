import { beforeEach, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { type KubeVirt, KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type Journal, memoryJournal } from '../../../src/lib/engine/journal.ts'
import type { StepContext } from '../../../src/lib/engine/step.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { seed, Store } from '../../../src/simulator/api/store.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { pauseWorkloadUpdates, restoreWorkloadUpdates } from '../../../src/lib/vms/pause-updates.ts'
import { onKubeVirt } from '../../../src/lib/vms/strategy/settings-owner.ts'
import { methodsOf, type Owner } from '../../../src/lib/vms/update-methods.ts'

const clock = new SimClock()
const ref = { name: 'kubevirt', namespace: 'kubevirt' }
const pauseTools = { who: 'me@here', procedure: 'upgrade to v1.8.4' }
let cluster: Cluster
let journal: Journal
let cx: StepContext
let owner: Owner

const kubevirt = (methods?: string[]): KubeVirt => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { ...ref },
  spec: methods ? { workloadUpdateStrategy: { workloadUpdateMethods: methods } } : {},
})

async function install(methods?: string[]) {
  const store = new Store(clock)
  seed(store, [kubevirt(methods)])
  cluster = storeCluster(store)
  journal = memoryJournal()
  cx = { ...cluster, clock, journal, signal: new AbortController().signal }
  owner = { kind: KubeVirts, ref, uid: (await read()).metadata.uid ?? '' }
}

async function read(): Promise<KubeVirt> {
  const found = await cluster.reader.get(KubeVirts, ref)
  if (found.is !== 'object') throw new Error('no KubeVirt')
  return found.object
}

const set = (methods: string[]) =>
  cluster.writer.mergePatch(KubeVirts, ref, {
    spec: { workloadUpdateStrategy: { workloadUpdateMethods: methods } },
  })

const hold = () => pauseWorkloadUpdates(onKubeVirt(owner), pauseTools)
const restoreUpdates = (options = {}) => restoreWorkloadUpdates(onKubeVirt(owner), options)

describe('hold', () => {
  beforeEach(() => install(['LiveMigrate', 'Evict']))

  test('keeps the value in the journal and empties the methods', async () => {
    expect((await hold().check(cx)).is).toBe('todo')
    await hold().apply?.(cx)
    expect(methodsOf(await read())).toEqual([])
    expect(await journal.overrides()).toMatchObject([
      { id: 'workload-updates', was: { present: true, value: ['LiveMigrate', 'Evict'] } },
    ])
    expect(await hold().check(cx)).toEqual({
      is: 'done',
      note: 'automatic VM updates paused (was LiveMigrate, Evict)',
    })
  })

  test('a second hold never overwrites the first value with []', async () => {
    await hold().apply?.(cx)
    await hold().apply?.(cx)
    expect(await journal.overrides()).toMatchObject([{ was: { value: ['LiveMigrate', 'Evict'] } }])
  })

  test('a value that somebody set while it was held is not emptied', async () => {
    await hold().apply?.(cx)
    await set(['LiveMigrate'])
    expect(await hold().check(cx)).toMatchObject({ is: 'blocked', reason: 'pause-changed' })
  })

  test('empty methods are left alone and open no loan', async () => {
    await install()
    expect(await hold().check(cx)).toEqual({ is: 'done', note: 'automatic VM updates were off already' })
    expect(await journal.overrides()).toEqual([])
  })

  test('a write that raced with somebody else’s is refused, not lost', async () => {
    const racing: StepContext = {
      ...cx,
      reader: {
        ...cx.reader,
        get: async (kind, at) => {
          const found = await cx.reader.get(kind, at)
          await cluster.writer.mergePatch(KubeVirts, ref, {
            metadata: { labels: { other: String(Math.random()) } },
          })
          return found
        },
      },
    }
    await expect(hold().apply?.(racing)).rejects.toMatchObject({ status: 409 })
    expect(methodsOf(await read())).toEqual(['LiveMigrate', 'Evict'])
  })

  test('an open loan of a KubeVirt that was deleted does not stand for the value of the new one', async () => {
    await hold().apply?.(cx)
    await cluster.writer.delete(KubeVirts, ref)
    await cluster.writer.create(KubeVirts, kubevirt(['Evict']))
    owner = { ...owner, uid: (await read()).metadata.uid ?? '' }
    await hold().apply?.(cx)
    expect(await journal.overrides()).toMatchObject([
      { object: { uid: owner.uid }, was: { value: ['Evict'] } },
    ])
  })

  test('a KubeVirt that took the place of ours is not touched', async () => {
    const stranger = { ...owner, uid: 'another' }
    await expect(pauseWorkloadUpdates(onKubeVirt(stranger), pauseTools).check(cx)).rejects.toMatchObject({
      reason: 'kubevirt-replaced',
    })
  })
})

describe('give back', () => {
  beforeEach(async () => {
    await install(['LiveMigrate', 'Evict'])
    await hold().apply?.(cx)
  })

  test('sets the kept value and closes the loan once it was read back', async () => {
    expect((await restoreUpdates().check(cx)).is).toBe('todo')
    await restoreUpdates().apply?.(cx)
    expect(methodsOf(await read())).toEqual(['LiveMigrate', 'Evict'])
    expect(await journal.overrides()).toEqual([])
    expect(await restoreUpdates().check(cx)).toEqual({ is: 'done' })
  })

  test('killed between the patch and the journal: only the loan is left to close', async () => {
    await set(['Evict', 'LiveMigrate'])
    expect(await restoreUpdates().check(cx)).toMatchObject({
      is: 'todo',
      change: expect.stringMatching(/^note workloadUpdateMethods of .* as restored: it is /u),
    })
    await restoreUpdates().apply?.(cx)
    expect(methodsOf(await read())).toEqual(['Evict', 'LiveMigrate'])
    expect(await journal.overrides()).toEqual([])
  })

  test('somebody else’s value is asked about, and overwritten only when told to', async () => {
    await set(['LiveMigrate'])
    expect(await restoreUpdates().check(cx)).toMatchObject({ is: 'blocked', reason: 'changed-meanwhile' })
    expect((await restoreUpdates({ overwrite: true }).check(cx)).is).toBe('todo')
    await restoreUpdates({ overwrite: true }).apply?.(cx)
    expect(methodsOf(await read())).toEqual(['LiveMigrate', 'Evict'])
  })

  test('a write that did not arrive keeps the loan open', async () => {
    const deaf: StepContext = {
      ...cx,
      writer: { ...cx.writer, mergePatch: async (_kind, _ref, change) => change as never },
    }
    await expect(restoreUpdates().apply?.(deaf)).rejects.toMatchObject({ reason: 'restore-undone' })
    expect(await journal.overrides()).toHaveLength(1)
  })

  test('nothing borrowed is nothing to do', async () => {
    await restoreUpdates().apply?.(cx)
    expect(await restoreUpdates().check(cx)).toEqual({ is: 'done' })
  })
})
