import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Namespaces, Nodes, type ResourceQuota, ResourceQuotas } from '../../src/lib/kube/kinds/core-kinds.ts'
import type { UpgradeReport } from '../../src/lib/upgrade/upgrade-report.ts'
import { Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import {
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ObservedStages } from '../../src/lib/rehearsal/observed-stages.ts'
import { ObservedVms } from '../../src/lib/rehearsal/observed-vms.ts'
import type { Rehearsal } from '../../src/lib/rehearsal/rehearsal.ts'
import { takesAlike } from '../../src/lib/kube/duration.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster, type Simulation } from '../../src/simulator/simulated-cluster.ts'
import { defaultVms, mixedVms } from '../../src/simulator/vm-shape.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { runText } from '../lib/run-text.ts'
import { Stage } from './stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'rehearse-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Shape = Omit<Simulation, 'clock'>

const byTag: Shape = {
  version: 'v1.7.4',
  operator: 'v1.8.4',
  method: 'image-tag',
  vms: 6,
  methods: ['LiveMigrate'],
  workers: 3,
}
const byManifest: Shape = { version: 'v1.8.4', vms: mixedVms, methods: ['LiveMigrate', 'Evict'] }

/** Saves a cluster of that shape to a file, by `kvup snapshot`. */
async function saved(name: string, shape: Shape, before?: (sim: SimulatedCluster) => Promise<void>) {
  const clock = new SimClock()
  const sim = await simulate({ ...shape, clock })
  try {
    await clock.sleep(60_000)
    await before?.(sim)
    const file = join(folder, `${name}.ndjson`)
    const { code } = await runText(['snapshot', '--to-file', file], { cluster: sim.cluster(), clock })
    expect(code).toBe(0)
    return file
  } finally {
    await sim.stop()
  }
}

/** Nobody asks a cluster for what is read from a file. */
const offline = { cluster: {} as Cluster, clock: systemClock }

async function rehearsed(file: string, to: string, ...flags: readonly string[]) {
  const argv = ['rehearse', '--to', to, '--from', file, ...flags, '-o', 'json']
  const { code, out, err } = await runText(argv, offline)
  return { code, err, document: JSON.parse(out) as Rehearsal }
}

async function screen(file: string, to: string, ...flags: readonly string[]) {
  return runText(['rehearse', '--to', to, '--from', file, ...flags], { ...offline, columns: 80 })
}

/** The upgrade itself, on the cluster that was saved. */
async function upgraded(shape: Shape, to: string, accept: string[]) {
  const clock = new SimClock()
  const stage = new Stage(clock, await simulate({ ...shape, clock }))
  try {
    await clock.sleep(60_000)
    const stages = new ObservedStages()
    const vms = new ObservedVms(stage.simulated.store)
    const { code } = await stage.upgrade(to, { accept }, { onEvent: (event) => stages.hear(event) })
    await clock.sleep(10 * 60_000)
    return { code, stages: stages.stages(), vms: vms.vms(`quay.io/kubevirt/virt-launcher:${to}`, 0) }
  } finally {
    await stage.stop()
  }
}

const tried = (all: Rehearsal['vms']) => all.map((vm) => [vm.name, vm.tries])

describe('the rehearsal goes as the upgrade does', () => {
  test.each([
    { name: 'by image tag', shape: byTag, to: 'v1.8.4', accept: [], unforeseen: [] },
    {
      name: 'by the manifest of the operator',
      shape: byManifest,
      to: 'v1.9.0',
      accept: ['evictions'],
      // Why QEMU ends its migrations nobody sees beforehand.
      unforeseen: ['failing'],
    },
  ])(
    '$name: the stages, how long they take, and what is tried with VMs',
    async ({ name, shape, to, accept, unforeseen }) => {
      const file = await saved(name.replaceAll(' ', '-'), shape)
      const real = await upgraded(shape, to, accept)
      const { code, document } = await rehearsed(file, to, ...accept.flatMap((risk) => ['--accept', risk]))
      expect({ code, outcome: document.outcome }).toEqual({ code: 0, outcome: 'through' })
      expect(real.code).toBe(0)
      expect(document.stages.map((stage) => stage.name)).toEqual(real.stages.map((stage) => stage.name))
      for (const [i, { takes = 0, name: stage }] of document.stages.entries()) {
        const really = real.stages[i]?.takes ?? 0
        const fits = takesAlike(takes * 1000, really * 1000)
        expect({ stage, takes, really, fits }).toMatchObject({ fits: true })
      }
      expect(tried(document.vms)).toEqual(tried(real.vms))
      const others = document.vms.filter(({ becomes }, i) => becomes !== real.vms[i]?.becomes)
      expect(others.map((vm) => vm.name)).toEqual(unforeseen)
    },
  )
})

describe('an upgrade is compared with its rehearsal', () => {
  const file = 'rehearsal.json'
  const files: Record<string, string> = {}
  const onWrite = (name: string, text: string) => void (files[name] = text)
  async function onCluster(
    act: (
      run: (...argv: string[]) => ReturnType<typeof runText>,
      sim: SimulatedCluster,
      clock: SimClock,
    ) => Promise<void>,
    shape: Shape = byTag,
  ) {
    const clock = new SimClock()
    const sim = await simulate({ ...shape, clock })
    try {
      await clock.sleep(60_000)
      await act((...argv) => runText(argv, { cluster: sim.cluster(), clock, files, onWrite }), sim, clock)
    } finally {
      await sim.stop()
    }
  }

  test('stages in the same order, each as long as rehearsed; the VMs come after it', async () => {
    await onCluster(async (run) => {
      expect((await run('rehearse', '--to', 'v1.8.4', '--to-file', file)).code).toBe(0)
      const { code, out } = await run('upgrade', '--to', 'v1.8.4', '--rehearsal', file, '--yes', '-o', 'json')
      expect(code).toBe(0)
      const { rehearsal } = JSON.parse(out) as UpgradeReport
      expect(rehearsal?.stages.length).toBeGreaterThan(5)
      expect(rehearsal?.stages.filter(({ agrees }) => agrees !== true)).toEqual([])
      expect(rehearsal?.sameOrder).toBe(true)
      expect(rehearsal?.vms).toMatchObject({ total: 6, items: [] })
      expect((rehearsal?.vms?.agreed ?? 0) + (rehearsal?.vms?.open ?? 0)).toBe(6)
    })
  })

  test('what went another way is told: a slow registry, and a VM that somebody restarted', async () => {
    await onCluster(async (run, sim, clock) => {
      await run('rehearse', '--to', 'v1.8.4', '--to-file', file)
      sim.faults.set({ pullsTake: 240_000 })
      const restarted: string[] = []
      // KubeVirt has come to some; one that it has not come to is restarted.
      const restart = async () => {
        restarted.push('')
        await clock.sleep(2000)
        const { reader, writer } = sim.cluster()
        const migrations = await reader.list(VirtualMachineInstanceMigrations)
        const moved = new Set(migrations.map(({ spec }) => spec?.vmiName))
        const all = await reader.list(VirtualMachineInstances)
        const vmi = all.find(({ metadata }) => !moved.has(metadata.name))
        restarted[0] = vmi?.metadata.name ?? ''
        await writer.delete(VirtualMachineInstances, vmi?.metadata ?? { name: '' })
      }
      sim.store.watch(VirtualMachineInstanceMigrations, ({ type }) => {
        if (type === 'ADDED' && restarted.length === 0) void restart()
      })
      const upgrade = ['upgrade', '--to', 'v1.8.4', '--rehearsal', file, '--wait-workloads', '--yes']
      const { code, out } = await run(...upgrade)
      // What was restarted was lost for a moment.
      expect(code).toBe(9)
      expect(out).toMatch(/rehearsal: \d+ of \d+ stages took as long as rehearsed/u)
      expect(out).toMatch(/virt-handler \d+ m .*, not /u)
      expect(out).toContain('5 of 6 VMs went as rehearsed')
      expect(out).toContain(`demo/${restarted[0]}: restarted, not migrated`)
    })
  })

  test('what QEMU refuses is not in the twin, and is told as what went another way; a refused eviction is as rehearsed', async () => {
    const vms = [...defaultVms(2), { name: 'failing', migration: 'fail' } as const, notMigratable]
    await onCluster(
      async (run) => {
        const accepted = ['--to', 'v1.8.4', '--accept', 'evictions']
        await run('rehearse', ...accepted, '--to-file', file)
        const { vms: rehearsedVms } = JSON.parse(files[file] ?? '') as Rehearsal
        expect(tried(rehearsedVms)).toEqual([
          ['failing', 'migrate'],
          ['stuck', 'evict-refused'],
          ['web-1', 'migrate'],
          ['web-2', 'migrate'],
        ])
        // So long that the first migration has failed then.
        const upgrade = ['upgrade', ...accepted, '--stable-for', '60s', '--no-pause-updates', '--yes']
        const { out } = await run(...upgrade, '--rehearsal', file, '-o', 'json')
        const { rehearsal } = JSON.parse(out) as UpgradeReport
        expect(rehearsal?.vms).toEqual({
          total: 4,
          agreed: 3,
          open: 0,
          items: [{ namespace: 'demo', name: 'failing', rehearsed: 'migrate', tried: 'migration-failed' }],
        })
      },
      { ...byTag, vms, methods: ['LiveMigrate', 'Evict'] },
    )
  })
  const notMigratable = { name: 'stuck', notMigratable: 'HostDeviceNotLiveMigratable' }

  async function vmsLeftAlone(...flags: string[]) {
    let rehearsal: UpgradeReport['rehearsal']
    await onCluster(async (run, sim) => {
      await run('rehearse', '--to', 'v1.8.4', '--to-file', file)
      const [vmi] = await sim.cluster().reader.list(VirtualMachineInstances)
      const conditions = [{ type: 'LiveMigratable', status: 'False' as const }]
      await sim.cluster().writer.mergePatch(VirtualMachineInstances, vmi?.metadata ?? { name: '' }, {
        status: { conditions },
      })
      const upgrade = ['upgrade', '--to', 'v1.8.4', '--rehearsal', file, '--yes', '-o', 'json', ...flags]
      rehearsal = (JSON.parse((await run(...upgrade)).out) as UpgradeReport).rehearsal
    })
    return rehearsal?.vms
  }

  test('a VM that KubeVirt has left alone is still to come, unless the upgrade waited for VMs', async () => {
    expect((await vmsLeftAlone())?.items).toEqual([])
    expect(await vmsLeftAlone('--wait-workloads')).toEqual({
      total: 6,
      agreed: 5,
      open: 0,
      items: [{ namespace: 'demo', name: 'web-1', rehearsed: 'migrate', tried: 'nothing' }],
    })
  })

  test('a rehearsal of another cluster is refused; where nobody knows of which one it is, that is said', async () => {
    await onCluster(async (run, sim) => {
      await run('rehearse', '--to', 'v1.8.4', '--to-file', file)
      const { clusterUid = '' } = JSON.parse(files[file] ?? '') as Rehearsal
      const { metadata } = sim.store.read(Namespaces, { name: 'kube-system' }) ?? {}
      expect(clusterUid).toBe(metadata?.uid)
      const other = 'other.json'
      onWrite(other, (files[file] ?? '').replace(clusterUid, 'uid-of-another'))
      const before = sim.store.audit.filter(isWrite).length
      const upgrade = ['upgrade', '--to', 'v1.8.4', '--yes', '--rehearsal', other]
      const { code, err } = await run(...upgrade)
      expect({ code, says: err.split('\n')[0] }).toEqual({
        code: 2,
        says: expect.stringContaining('other.json was made for another cluster'),
      })
      expect(sim.store.audit.filter(isWrite).length).toBe(before)
      onWrite(other, (files[file] ?? '').replace(`"clusterUid": "${clusterUid}",`, ''))
      const unknown = await run(...upgrade)
      expect(unknown).toMatchObject({
        code: 0,
        err: expect.stringContaining('other.json does not say of which cluster it is'),
      })
    })
  })

  test('a rehearsal that was blocked is compared with nothing', async () => {
    await onCluster(async (run) => {
      await run('rehearse', '--to', 'v1.8.4', '--to-file', file)
      const upgrade = ['upgrade', '--to', 'v1.8.4', '--yes', '--rehearsal', file]
      const rest = JSON.parse(files[file] ?? '') as Rehearsal
      onWrite(file, JSON.stringify({ ...rest, outcome: 'blocked', stages: [] }))
      expect(await run(...upgrade)).toMatchObject({
        code: 2,
        err: expect.stringContaining('it was blocked before its first step'),
      })
      onWrite(file, JSON.stringify({ ...rest, outcome: 'stalls' }))
      expect(await run(...upgrade)).toMatchObject({
        code: 0,
        out: expect.stringContaining('rehearsal: it stalled, the upgrade did not'),
      })
    })
  })

  test('an upgrade by OLM is compared with nothing', async () => {
    const olm = okdOlm({ installed: '1.17.3', channel: 'stable-v1.17' })
    await onCluster((run) => run('rehearse', '--to', 'v1.8.4', '--to-file', file).then(() => undefined))
    await onCluster(
      async (run, sim) => {
        const clusterUid = sim.store.read(Namespaces, { name: 'kube-system' })?.metadata.uid
        onWrite(file, JSON.stringify({ ...(JSON.parse(files[file] ?? '') as Rehearsal), clusterUid }))
        const { code, err } = await run('upgrade', '--to', '1.18.1', '--rehearsal', file, '--yes')
        expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('by OLM') })
      },
      { olm, vms: 4, methods: ['LiveMigrate'] },
    )
  })

  test('of a run that continues another one only the stages are compared that it did from their beginning', async () => {
    await onCluster(async (run) => {
      await run('rehearse', '--to', 'v1.8.4', '--to-file', file)
      const upgrade = ['upgrade', '--to', 'v1.8.4', '--rehearsal', file, '--yes', '-o', 'json']
      expect((await run(...upgrade, '--until', 'set-image-tag')).code).toBe(0)
      const { code, out } = await run(...upgrade)
      expect(code).toBe(0)
      const { rehearsal } = JSON.parse(out) as UpgradeReport
      const measured = rehearsal?.stages.filter(({ took }) => took !== undefined).map(({ name }) => name)
      expect(measured).toEqual(['virt-handler', 'virt-controller', 'virt-api', 'Verify'])
      expect(rehearsal?.sameOrder).toBe(true)
    })
  })

  test('pulls of the twin take as long as those of the last roll-out', async () => {
    const slow = await saved('slow', byTag, async (sim) => {
      sim.faults.set({ pullsTake: 40_000 })
      for (const { metadata } of sim.store.list(Pods, { namespace: 'kubevirt' }).items)
        await sim.cluster().writer.delete(Pods, metadata)
      await (sim.store.clock as SimClock).sleep(180_000)
    })
    const { document } = await rehearsed(slow, 'v1.8.4')
    expect(document.pace?.pullSeconds).toBeGreaterThanOrEqual(40)
    const handler = document.stages.find(({ name }) => name === 'virt-handler')
    expect(handler?.takes).toBeGreaterThan(40)
    const { out } = await screen(slow, 'v1.8.4')
    expect(out).toMatch(/a pod takes 4\d s to pull its image/u)
  })

  test('another upgrade, another document and a dry run are refused before anything is read of the target', async () => {
    await onCluster(async (run) => {
      await run('rehearse', '--to', 'v1.8.4', '--to-file', file)
      const other = 'other.json'
      onWrite(other, (files[file] ?? '').replace('"from": "v1.7.4"', '"from": "v1.6.6"'))
      const refused = async (...flags: string[]) => {
        const { code, err } = await run('upgrade', '--to', 'v1.8.4', '--yes', ...flags)
        return [code, err.split('\n')[0]]
      }
      expect(await refused('--rehearsal', other)).toEqual([
        2,
        expect.stringContaining('the rehearsal is of KubeVirt v1.6.6 -> v1.8.4'),
      ])
      onWrite(other, '{"kind":"Rehearsal","stages":[1]}')
      expect(await refused('--rehearsal', other)).toEqual([2, expect.stringContaining('has no rehearsal')])
      expect(await refused('--rehearsal', 'none.json')).toEqual([
        2,
        expect.stringContaining('cannot read the rehearsal'),
      ])
      expect(await refused('--rehearsal', file, '--dry-run=client')).toEqual([
        2,
        expect.stringContaining('exclude each other'),
      ])
    })
  })
})

/** Lines name the file. */
const withoutFile = (document: Rehearsal): string =>
  JSON.stringify(document).replaceAll(/(?:without-orders|ordered-[a-z0-9-]+)\.ndjson/gu, 'FILE')

describe('what anybody wrote into an object is no order to the twin', () => {
  const orders = {
    'simulator.kvup.io/migration': 'fail',
    'simulator.kvup.io/not-migratable': 'Invented',
    'simulator.kvup.io/not-on': 'worker-1',
    'simulator.kvup.io/rebooting': '',
    'simulator.kvup.io/used-by-others': '{"pods":1000}',
  }
  const finalizers = ['simulator.kvup.io/termination']

  interface Written {
    kind?: string
    metadata?: { annotations?: object; finalizers?: readonly string[] }
    spec?: { template?: { metadata?: { annotations?: object } } }
  }

  /** Into each object of a snapshot, and into the template of each VM. */
  function ordered(from: string, migration: string): string {
    const [index = '', ...lines] = readFileSync(from, 'utf8').trimEnd().split('\n')
    const noted = lines.map((line) => {
      const object = JSON.parse(line) as Written
      const written = { ...orders, 'simulator.kvup.io/migration': migration }
      const { annotations } = object.metadata ?? {}
      object.metadata = { ...object.metadata, annotations: { ...annotations, ...written }, finalizers }
      const template = object.kind === 'VirtualMachine' ? object.spec?.template : undefined
      if (template)
        template.metadata = {
          ...template.metadata,
          annotations: { ...template.metadata?.annotations, ...written },
        }
      return JSON.stringify(object)
    })
    const file = join(folder, `ordered-${migration}.ndjson`)
    writeFileSync(file, `${[index, ...noted].join('\n')}\n`)
    return file
  }

  test.each(['fail', 'fail-once', 'hang', 'split', '999999s'])('%s', async (migration) => {
    const from = await saved('without-orders', { ...byTag, methods: ['LiveMigrate', 'Evict'] })
    const flags = ['--accept', 'evictions']
    const without = await rehearsed(from, 'v1.8.4', ...flags)
    const { code, document } = await rehearsed(ordered(from, migration), 'v1.8.4', ...flags)
    expect(document.vms.map(({ tries }) => tries)).toEqual(Array.from({ length: 6 }, () => 'migrate'))
    expect({ code, text: withoutFile(document) }).toEqual({
      code: without.code,
      text: withoutFile(without.document),
    })
  })
})

describe('what a rehearsal says', () => {
  let tag: string
  let manifest: string
  beforeAll(async () => {
    tag = await saved('tag', byTag)
    manifest = await saved('manifest', byManifest)
  })

  test('the same cluster and the same seed make the same rehearsal; another seed another one', async () => {
    const [first, again, other] = [
      await rehearsed(tag, 'v1.8.4'),
      await rehearsed(tag, 'v1.8.4'),
      await rehearsed(tag, 'v1.8.4', '--seed', '7'),
    ]
    expect(again).toEqual(first)
    expect(other.document.vms).not.toEqual(first.document.vms)
  })

  test('the screen has the verdict first and the next line last', async () => {
    const { code, out } = await screen(manifest, 'v1.9.0', '--accept', 'evictions')
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    const headline = out.split('\n  Played')[0]?.replaceAll(/\s+/gu, ' ')
    expect(headline).toMatch(
      /^. Rehearsal: KubeVirt v1\.8\.4 → v1\.9\.0 goes through in [^.]+\. KubeVirt tries to migrate 8 of 11 VMs and to evict 3; QEMU, libvirt, storage and guests are not in the twin\.$/u,
    )
    expect(out).toContain('Nothing was changed in the cluster.')
    expect(out).toContain('KubeVirt tries to evict, and is refused, 1 of 11 VMs: demo/stuck.')
    expect(out).not.toContain('VMs follow')
    expect(out).toContain('Not in the twin, and so not shown:')
    expect(lines.at(-1)).toContain('kvup upgrade --to v1.9.0 --accept evictions')
  })

  test('a risk that nobody accepted blocks it, as it would block the upgrade, and the next line plays it with the risk', async () => {
    const { code, document } = await rehearsed(manifest, 'v1.9.0')
    expect({ code, outcome: document.outcome, stages: document.stages }).toEqual({
      code: 3,
      outcome: 'blocked',
      stages: [],
    })
    expect(new Set(document.vms.map(({ becomes }) => becomes))).toEqual(new Set(['outdated']))
    const line = document.next.find((one) => one.startsWith('kvup rehearse')) ?? ''
    const argv = (line.split('     #')[0] ?? '').split(' ').slice(1)
    expect((await runText(argv, offline)).code).toBe(0)
  })

  test('an upgrade path goes through each of its minors, and the VMs follow in each', async () => {
    const file = await saved('path', { version: 'v1.7.4', vms: 2, methods: ['LiveMigrate'], workers: 2 })
    const { code, document } = await rehearsed(file, 'v1.9.0')
    expect({ code, why: document.why }).toEqual({ code: 0, why: undefined })
    expect(new Set(document.stages.map(({ hop }) => hop))).toEqual(new Set(['v1.7.4', 'v1.8.4', 'v1.9.0']))
    expect(document.vms.map(({ becomes, attempts }) => [becomes, attempts >= 2])).toEqual([
      ['updated', true],
      ['updated', true],
    ])
    // The gate of a minor is no stage of its own.
    expect(document.stages.filter(({ name, hop = '' }) => !name.startsWith(`${hop}: `))).toEqual([])
    const lines = (await screen(file, 'v1.9.0')).out.split('\n')
    expect(lines.filter((line) => line.startsWith('v1.9.0: Prepare '))).toHaveLength(1)
  })

  test('a cluster of before v1.7 is waited for at v1.7, whose second roll of virt-handler mostly does not come', async () => {
    const file = await saved('before-names', { version: 'v1.6.6', vms: 1, methods: ['LiveMigrate'] })
    const { code, document } = await rehearsed(file, 'v1.7.4')
    expect(code).toBe(0)
    const verify = document.stages.find(({ name }) => name === 'Verify')
    expect(verify?.takes).toBeGreaterThanOrEqual(120)
  })

  test('a node that is not ready is not ready in the twin', async () => {
    const file = await saved('not-ready', byTag, async (sim) => {
      sim.faults.set({ notReady: ['worker-2'] })
      await sim.store.clock.sleep(120_000)
      expect(sim.store.list(Nodes).items).toHaveLength(6)
    })
    const { code, document } = await rehearsed(file, 'v1.8.4')
    expect(code).not.toBe(0)
    expect(JSON.stringify(document.why)).toContain('worker-2')
    // Where that is accepted it stalls: what it leaves has its line, and no line names a pod of the twin.
    const stalled = await rehearsed(file, 'v1.8.4', '--accept', 'node-ready', '--accept', 'healthy-now')
    const { outcome, left, why } = stalled.document
    expect({ code: stalled.code, outcome, left: left.map(({ restores }) => restores) }).toEqual({
      code: 4,
      outcome: 'stalls',
      left: ['kvup workloads resume-updates'],
    })
    expect(why?.remedy.length).toBeGreaterThan(0)
    expect(why?.remedy.join('\n')).not.toMatch(/virt-[a-z]+-[a-z0-9]{5}/u)
  })

  test('a quota that has no room for a second launcher keeps its VMs where they are', async () => {
    const file = await saved('quota', byTag, async (sim) => {
      // Six launchers, and one pod of somebody else.
      sim.store.put(ResourceQuotas, {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'small', namespace: 'demo' },
        status: { hard: { pods: '7' }, used: { pods: '7' } },
      } as ResourceQuota)
      await sim.store.clock.sleep(1000)
    })
    const { document } = await rehearsed(file, 'v1.8.4')
    expect(document.vms.map(({ becomes }) => becomes)).toEqual(document.vms.map(() => 'outdated'))
    expect(document.vms.some(({ tries }) => tries === 'migrate')).toBe(true)
  })

  test('a VM that is evicted starts again, though its instance has the finalizers that it has in a real cluster', async () => {
    const shape = { ...byTag, vms: mixedVms, methods: ['Evict'] }
    const file = await saved('finalizers', shape, async (sim) => {
      const finalizers = ['kubevirt.io/virtualMachineControllerFinalize', 'foregroundDeleteVirtualMachine']
      for (const { metadata } of sim.store.list(VirtualMachineInstances).items)
        await sim.cluster().writer.mergePatch(VirtualMachineInstances, metadata, { metadata: { finalizers } })
    })
    const { document } = await rehearsed(file, 'v1.8.4', '--accept', 'evictions')
    expect(document.vms.find(({ name }) => name === 'pet')).toMatchObject({
      tries: 'evict',
      becomes: 'updated',
    })
  })

  test.each([
    [['--seed', 'x'], 'whole number'],
    [['--timeout', '90'], '90'],
  ])('%j is refused before anything is read', async (flags, said) => {
    const { code, err } = await runText(['rehearse', '--to', 'v1.8.4', ...flags], offline)
    expect(code).toBe(2)
    expect(err).toContain(said)
  })

  test('without a target nothing is read', async () => {
    const { code, err } = await runText(['rehearse'], offline)
    expect(code).toBe(2)
    expect(err).toContain('--to')
  })
})

test('of a running cluster it only reads', async () => {
  const clock = new SimClock()
  const sim = await simulate({ ...byTag, vms: 2, clock })
  try {
    const before = sim.store.audit.length
    const { code } = await runText(['rehearse', '--to', 'v1.8.4'], { cluster: sim.cluster(), clock })
    expect(code).toBe(0)
    const own = sim.store.audit.slice(before).filter(({ user }) => user === 'kubernetes-admin')
    expect(own.length).toBeGreaterThan(0)
    expect(own.filter(isWrite)).toEqual([])
  } finally {
    await sim.stop()
  }
})

describe('what cannot be played is refused', () => {
  test('an update that is under way', async () => {
    const file = await saved('updating', { ...byTag, vms: defaultVms(1) }, async (sim) => {
      const { writer } = sim.cluster()
      const { KubeVirts } = await import('../../src/lib/kube/kinds/kubevirt-kinds.ts')
      const kubevirt = { name: 'kubevirt', namespace: 'kubevirt' }
      await writer.mergePatch(KubeVirts, kubevirt, { spec: { imageTag: 'v1.8.4' } })
      await sim.store.clock.sleep(20_000)
    })
    const { code, err } = await screen(file, 'v1.8.4')
    expect(code).toBe(3)
    expect(err).toContain('KubeVirt is being updated')
  })
})
