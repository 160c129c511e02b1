// Whole paths over three minors, cut off: more than 3 s of processor time.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type ConfigMap, ConfigMaps } from '../../src/lib/kube/kinds/core-kinds.ts'
import { VirtualMachineInstances, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { applyManifest } from '../../src/lib/manifests/apply-manifest.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { unreachable } from '../../src/lib/kube/errors.ts'
import { readerWith } from '../../src/lib/kube/cluster.ts'
import { restarted } from './machines.ts'
import { all, along, isToldToRestart, onePointFive, store, stuck } from './path.ts'
import { byTag, minute, play, second, type Stage } from './stage.ts'

/** A mirror on this machine that serves these files. */
async function mirrorOf(files: ReadonlyMap<string, string>): Promise<{ base: string; close(): void }> {
  const server = createServer(({ url = '' }, response) => response.end(files.get(url.slice(1))))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return { base: `http://127.0.0.1:${port}/releases`, close: () => server.close() }
}

const journal = { name: 'kvup-journal', namespace: 'kubevirt' }
const observed = (stage: Stage) => stage.kubevirt.status?.observedKubeVirtVersion
const elsewhere = { host: 'other' }

/** A line that only who may write ConfigMaps can have written. */
function forge(stage: Stage, entry: object): void {
  const { store: objects } = stage.simulated
  const { data = {} } = (objects.read(ConfigMaps, journal) ?? {}) as Partial<ConfigMap>
  const line = JSON.stringify({ at: new Date(stage.now).toISOString(), by: 'jane@here', step: '', ...entry })
  objects.patch(ConfigMaps, journal, {
    type: 'merge',
    body: { data: { entries: `${data['entries'] ?? ''}${line}\n` } },
  })
}

const name = 'upgrade to v1.8.4'

describe('a path that was cut off behind the roll of its last minor but one waits for VMs, whatever became of its journal', () => {
  const spoilt: Readonly<Record<string, (stage: Stage) => void>> = {
    'it was deleted': (stage) => stage.simulated.store.remove(ConfigMaps, journal),
    'somebody wrote that it has finished': (stage) =>
      forge(stage, { procedure: name, what: 'finished', text: name }),
  }
  test.each(Object.entries(spoilt))('%s', async (_, spoil) => {
    await play({ ...onePointFive, version: 'v1.6.6', vms: [stuck] }, async (stage) => {
      store(stage, ...all)
      expect(await along(stage, { via: 'v1.7.4', until: 'healthy-v1.7.4' })).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual([])
      spoil(stage)
      const ended = await along(stage, {}, elsewhere)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
      expect(observed(stage)).toBe('v1.7.4')
      expect(stage.methods).toEqual(['LiveMigrate'])
    })
  })
})

test('one step that was cut off is no path, whatever somebody wrote into the journal', async () => {
  await play({ ...onePointFive, version: 'v1.7.4', vms: [stuck] }, async (stage) => {
    store(stage, ...all)
    expect(await along(stage, { until: 'apply-operator-manifest' })).toMatchObject({ code: 0 })
    forge(stage, { procedure: name, what: 'started', text: 'upgrade path v1.6.6 → v1.7.4 → v1.8.4' })
    const ended = await along(stage, {}, elsewhere)
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).not.toContain('upgrade path')
  })
})

test('a VM that is restarted between two steps, as kvup says, is none that was lost, where --timeout ended the path', async () => {
  const vms = [{ name: 'slow', migration: '3600s' as const }, stuck]
  await play({ ...onePointFive, vms }, async (stage) => {
    store(stage, ...all)
    expect(await along(stage, { timeout: '6m' })).toMatchObject({ code: 4 })
    await restarted(stage, 'stuck')
    stage.simulated.store.remove(VirtualMachines, { namespace: 'demo', name: 'slow' })
    await stage.until(3 * minute)
    const ended = await along(stage, { until: 'virt-api-v1.7.4' }, elsewhere)
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).not.toContain('lost')
    expect(ended.text).not.toContain('kvup does not know what ran before the first change')
  })
})

test('where VMs cannot be compared at an end between two steps, what was lost is told by the next run', async () => {
  await play({ ...onePointFive, vms: [stuck, { name: 'web-1' }] }, async (stage) => {
    store(stage, ...all)
    let isAway = false
    const { reader } = stage.cluster
    const pages: typeof reader.pages = (kind, options) => {
      if (isAway && kind.kind === 'PersistentVolumeClaim')
        throw unreachable('unreachable', 'the server is away')
      return reader.pages(kind, options)
    }
    const onEvent = (event: RunEvent) => {
      if (isAway || !isToldToRestart(event)) return
      isAway = true
      const gone = { namespace: 'demo', name: 'web-1' }
      stage.simulated.store.remove(VirtualMachineInstances, gone, { now: true })
    }
    const cluster = { ...stage.cluster, reader: readerWith(reader, { pages }) }
    const ended = await along(stage, {}, { cluster, onEvent })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
    expect(ended.text).not.toContain('web-1 (restarted)')
    isAway = false
    await restarted(stage, 'stuck')
    await stage.until(3 * minute)
    const resumed = await along(stage, { until: 'virt-api-v1.7.4' }, elsewhere)
    expect(resumed).toMatchObject({ code: 9 })
    expect(resumed.text).toContain('demo/web-1')
  })
})

test('the manifest of a later step behind a URL is the one that was read at the beginning, or none', async () => {
  await play({ ...onePointFive, workers: 1, vms: 0 }, async (stage) => {
    store(stage, ...all)
    const files = new Map(stage.files)
    const mirror = await mirrorOf(files)
    const file = 'releases/v1.7.4/kubevirt-operator.yaml'
    const onEvent = (event: RunEvent) => {
      if (event.kind === 'step-started' && event.step.id === 'virt-handler-v1.6.6')
        files.set(file, `${files.get(file)}\n# another one\n`)
    }
    const ended = await along(stage, { manifestBase: mirror.base }, { onEvent })
    mirror.close()
    expect(ended).toMatchObject({ code: 3, error: { reason: 'manifest-changed' } })
    expect(observed(stage)).toBe('v1.6.6')
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('a journal that was made immutable: made anew as it is said, the saved value is given back', async () => {
  await play(byTag, async (stage) => {
    const seal = () =>
      stage.simulated.store.patch(ConfigMaps, journal, { type: 'merge', body: { immutable: true } })
    stage.later(20 * second, seal)
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 3, error: { reason: 'journal-immutable' } })
    expect(ended.error?.remedy[0]).toMatch(/^kubectl -n kubevirt get configmap kvup-journal -o yaml > /u)
    expect(ended.error?.remedy[1]).toMatch(/^delete the ConfigMap, take the line "immutable: true" out/u)
    expect(stage.methods).toEqual([])
    const { immutable, ...sealed } = stage.simulated.store.read(ConfigMaps, journal) as ConfigMap
    expect(immutable).toBe(true)
    stage.simulated.store.remove(ConfigMaps, journal)
    stage.simulated.store.put(ConfigMaps, sealed)
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('somebody puts the operator of before back between two steps: the run ends, and says so', async () => {
  const vms = [{ name: 'slow', migration: '40s' as const }]
  await play({ ...onePointFive, vms }, async (stage) => {
    store(stage, ...all)
    let put: Promise<unknown> | undefined
    const { reader, writer } = stage.cluster
    const onEvent = (event: RunEvent) => {
      if (event.kind === 'step-waiting' && event.step.id === 'vms-follow-v1.6.6')
        put ??= applyManifest(stage.simulated.operatorManifest('v1.5.2'), { reader, writer })
    }
    const ended = await along(stage, {}, { onEvent })
    await put
    expect(ended).toMatchObject({ code: 3, error: { reason: 'changed-by-hand' } })
    expect(ended.error?.message).toContain('virt-operator goes back to v1.5.2')
    expect(ended.took).toBeLessThan(10 * minute)
  })
})

async function resumedWithout(stage: Stage, until: string) {
  store(stage, 'v1.8.4')
  expect(await along(stage, { until })).toMatchObject({ code: 0 })
  expect(stage.methods).toEqual([])
  stage.files.clear()
  return along(stage, {}, elsewhere)
}

describe('whose manifest is gone when it is resumed', () => {
  const shape = { ...onePointFive, version: 'v1.7.4', vms: 1 }

  test('an upgrade that runs its release everywhere is ended without it', () =>
    play(shape, async (stage) => {
      const ended = await resumedWithout(stage, 'healthy')
      expect(ended).toMatchObject({ code: 0 })
      expect(ended.text).toContain('KubeVirt runs v1.8.4 already, and kvup did not read its manifest')
      expect(stage.methods).toEqual(['LiveMigrate'])
    }))

  test('one that has still to apply it is refused', () =>
    play(shape, async (stage) => {
      const ended = await resumedWithout(stage, 'pause-workload-updates')
      expect(ended).toMatchObject({ code: 2, error: { reason: 'manifest-missing' } })
    }))
})
