import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { status } from '../../src/commands/status/status.ts'
import { type ConfigMap, ConfigMaps, Leases, Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import {
  KubeVirts,
  type VirtualMachine,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { unpack } from '../../src/lib/vms/census/saved-census.ts'
import { byManifest, byTag, minute, briefly as play, second, type Stage } from './stage.ts'

/** It says that nothing ran. */
function plant({ simulated: { store }, home, kubevirt, now }: Stage): void {
  const packed = gzipSync('["unread","nothing"]\n')
  const sha256 = createHash('sha256').update(packed).digest('hex')
  const at = new Date(now).toISOString()
  const uid = kubevirt.metadata.uid
  const run = {
    procedure: 'upgrade to v1.8.4',
    kubevirt: uid,
    at,
    by: 'jane@here',
    late: false,
    parts: 1,
    sha256,
  }
  const census: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kvup-census-1', namespace: home },
    data: { sha256, run: JSON.stringify(run) },
    binaryData: { census: packed.toString('base64') },
  }
  store.create(ConfigMaps, census)
}

const oneNodeAway = (stage: Stage) => stage.simulated.faults.set({ notReady: ['worker-1'] })

/** Three VMs in a namespace of their own, for which no node has room. */
function typos({ simulated: { store, faults } }: Stage): void {
  faults.set({ unschedulable: '^virt-launcher-typo-' })
  store.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-b' } })
  const { apiVersion, kind, spec } = store.read(VirtualMachines, {
    namespace: 'demo',
    name: 'web-1',
  }) as VirtualMachine
  for (const name of ['typo-1', 'typo-2', 'typo-3'])
    store.create(VirtualMachines, {
      apiVersion,
      kind,
      metadata: { name, namespace: 'tenant-b' },
      spec,
    } as VirtualMachine)
}

describe('a census that nobody of this run has taken', () => {
  test('planted before the run, it hides no VM that the run has lost', () =>
    play({ ...byTag, vms: [{ name: 'web-1' }, { name: 'lost' }] }, async (stage) => {
      plant(stage)
      const lost = { name: 'lost', namespace: 'demo' }
      stage.later(
        15 * second,
        () => void stage.simulated.store.remove(VirtualMachineInstances, lost, { now: true }),
      )
      const ended = await stage.upgrade('v1.8.4')
      expect(ended.code).toBe(9)
      expect(ended.error?.message).toContain('demo/lost')
    }))

  test('one that grows without end when it is unpacked is none', () => {
    expect(unpack(gzipSync(Buffer.alloc(64 * 1024 * 1024, '\n')))).toBeUndefined()
  })
})

describe('an upgrade that has not begun is judged by all checks', () => {
  test('also where updates are held by hand', () =>
    play({ ...byTag, vms: 1 }, async (stage) => {
      expect(await stage.hold()).toMatchObject({ code: 0 })
      await stage.until(60 * minute)
      oneNodeAway(stage)
      await stage.until(2 * minute)
      const mark = stage.mark
      expect(await stage.upgrade('v1.8.4', { timeout: '5m' })).toMatchObject({ code: 3 })
      expect(stage.writes(mark)).toEqual([])
    }))
})

describe('what one tenant does', () => {
  test('is a line of status and changes no verdict, though most VMs are theirs', () =>
    play({ ...byManifest, vms: 2 }, async (stage) => {
      typos(stage)
      await stage.until(6 * minute)
      const observed = await stage.perform((cx) => status(cx, { exitCode: true }))
      expect(observed.code).toBe(0)
      expect(observed.text).toContain('tenant-b/typo-1')
    }))
})

test('a Lease that names a term of a day keeps nobody waiting for two', () =>
  play({ ...byManifest, vms: 1 }, async (stage) => {
    await stage.until(minute)
    stage.simulated.faults.set({ stopped: true })
    stage.simulated.store.patch(
      Leases,
      { namespace: stage.home, name: 'virt-operator' },
      {
        type: 'merge',
        body: { spec: { leaseDurationSeconds: 86_400, renewTime: '2025-01-01T00:00:00.000000Z' } },
      },
      { manager: 'somebody' },
    )
    const observed = await stage.perform((cx) => status(cx, { exitCode: true }))
    expect(observed.took).toBeLessThanOrEqual(3 * minute)
    expect(observed.code).toBe(3)
  }))

test('a KubeVirt that was made anew from a copy while its updates were held: an upgrade says that they are off', () =>
  play(byTag, async (stage) => {
    expect(await stage.hold()).toMatchObject({ code: 0 })
    await stage.until(minute)
    const { store } = stage.simulated
    const { metadata, ...copy } = structuredClone(stage.kubevirt)
    const uid = '11111111-2222-4333-8444-555555555555'
    store.put(KubeVirts, { ...copy, metadata: { ...metadata, uid } })
    await stage.until(minute)
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).toContain('(methods-empty-without-override)')
  }))
