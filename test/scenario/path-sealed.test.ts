// Whole paths over three minors, each sealed: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import { Deployments } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { Nodes } from '../../src/lib/kube/kinds/core-kinds.ts'
import { applyManifest } from '../../src/lib/manifests/apply-manifest.ts'
import { all, along, inFolder, onePointFive, store } from './path.ts'
import { minute, play, type Stage, type Terminal } from './stage.ts'

const few = { ...onePointFive, workers: 1, vms: 0 }
const sealed = { plan: 'plan.yaml', manifest: undefined as never } as const

async function seal(stage: Stage, options = {}): Promise<void> {
  store(stage, ...all)
  const line = 'kvup plan --to v1.8.4 --manifest-base releases --to-file plan.yaml'
  const plan = { manifest: undefined as never, ...inFolder, ...options }
  expect(await stage.plan('v1.8.4', plan, { commandLine: line })).toMatchObject({ code: 0 })
}

const carryOut = (stage: Stage, options = {}, terminal: Terminal = {}) =>
  stage.upgrade(undefined, { ...sealed, ...options }, terminal)

/** As far as the end of its first step. */
const firstStep = { until: 'healthy-again-v1.6.6' }

describe('a sealed plan of several minors', () => {
  test('takes effect to its end, stopped and resumed in the middle of each step', () =>
    play(few, async (stage) => {
      await seal(stage)
      for (const until of [
        'virt-handler-v1.6.6',
        'pause-workload-updates-v1.7.4',
        'apply-operator-manifest-v1.8.4',
      ])
        expect(await carryOut(stage, { until }, { host: until })).toMatchObject({ code: 0 })
      expect(await carryOut(stage)).toMatchObject({ code: 0 })
      expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
      const { mark } = stage
      expect(await carryOut(stage)).toMatchObject({ code: 0 })
      expect(stage.writes(mark)).toEqual([])
    }))

  test('with a tag in the CR, which each step takes out and puts in again', () =>
    play({ ...few, method: 'image-tag' }, async (stage) => {
      await seal(stage)
      for (const until of ['put-image-tag-in-v1.6.6', 'apply-operator-manifest-v1.7.4'])
        expect(await carryOut(stage, { until }, { host: until })).toMatchObject({ code: 0 })
      expect(await carryOut(stage)).toMatchObject({ code: 0 })
      expect(stage.kubevirt.spec?.imageTag).toBe('v1.8.4')
    }))

  test('changed by hand between two steps it is refused, with each change', () =>
    play(few, async (stage) => {
      await seal(stage)
      expect(await carryOut(stage, firstStep)).toMatchObject({ code: 0 })
      const refused = async (says: string) => {
        await stage.until(3 * minute)
        const { mark } = stage
        const ended = await carryOut(stage)
        expect(ended).toMatchObject({ code: 5, error: { reason: 'drifted' } })
        expect(ended.text).toContain(says)
        expect(stage.writes(mark)).toEqual([])
      }
      stage.edit({ configuration: { evictionStrategy: 'LiveMigrate' } })
      await refused('evictionStrategy')
      const ref = { namespace: 'kubevirt', name: 'virt-operator' }
      const body = { spec: { template: { metadata: { labels: { by: 'hand' } } } } }
      stage.simulated.store.patch(Deployments, ref, { type: 'merge', body }, { manager: 'somebody' })
      await refused('hand')
      const { reader, writer } = stage.cluster
      await applyManifest(stage.simulated.operatorManifest('v1.7.0'), { reader, writer })
      await refused('v1.7.0')
    }))

  test('nodes are sealed for the first step: another one before it is drift, and behind it a warning', () =>
    play(few, async (stage) => {
      await seal(stage)
      const node = stage.simulated.store
        .list(Nodes)
        .items.find(({ metadata }) => metadata.name === 'worker-1')
      if (node === undefined) throw new Error('no node')
      const { resourceVersion: _, uid: __, ...metadata } = node.metadata
      const more = { ...node, metadata: { ...metadata, name: 'worker-9' } }
      await stage.cluster.writer.create(Nodes, more)
      await stage.until(minute)
      expect(await carryOut(stage, firstStep)).toMatchObject({ code: 5, error: { reason: 'drifted' } })
      await stage.cluster.writer.delete(Nodes, { name: 'worker-9' })
      await stage.until(minute)
      expect(await carryOut(stage, firstStep)).toMatchObject({ code: 0 })
      await stage.cluster.writer.create(Nodes, more)
      await stage.until(2 * minute)
      const ended = await carryOut(stage)
      expect(ended.lines.join('\n')).toContain('node worker-9 is new')
      expect(ended).toMatchObject({ code: 0 })
    }))

  test('another manifest than the sealed one of a later step is drift, and a flag that makes another path is refused', () =>
    play(few, async (stage) => {
      await seal(stage)
      expect(await carryOut(stage, { via: 'v1.6.0,v1.7.0' })).toMatchObject({ code: 2 })
      expect(await carryOut(stage, { between: 'none' })).toMatchObject({ code: 2 })
      const file = 'releases/v1.7.4/kubevirt-operator.yaml'
      stage.files.set(file, `${stage.files.get(file) ?? ''}\n# edited`)
      expect(await carryOut(stage)).toMatchObject({ code: 5, error: { reason: 'drifted' } })
    }))
})

test('a manifest that is gone in the middle of a step: the step is finished, and then it is told; with it the same line goes on, by --via from anywhere', () =>
  play(few, async (stage) => {
    store(stage, ...all)
    const via = 'v1.6.6,v1.7.4'
    expect(await along(stage, { via, until: 'virt-handler-v1.6.6' })).toMatchObject({ code: 0 })
    stage.files.delete('releases/v1.7.4/kubevirt-operator.yaml')
    const ended = await along(stage)
    expect(ended).toMatchObject({ code: 3, error: { reason: 'manifest-missing' } })
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.6.6')
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
    store(stage, ...all)
    // --via may name what is behind.
    expect(await along(stage, { via, until: 'healthy-again-v1.7.4' })).toMatchObject({ code: 0 })
    expect(await along(stage, { via }, { host: 'other' })).toMatchObject({ code: 0 })
  }))
