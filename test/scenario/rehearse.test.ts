// Whole upgrades beside their rehearsals: more than 3 s of processor time.
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
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
import type { SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { defaultVms, mixedVms } from '../../src/simulator/vm-shape.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { runText } from '../lib/run-text.ts'
import {
  changed,
  offline,
  rehearseAnew,
  rehearsed,
  saveCluster,
  type Shape,
  snapshotFolder,
  wordsOf,
} from './rehearse-stage.ts'
import { Stage } from './stage.ts'
import { settled } from '../lib/settled.ts'

const folder = snapshotFolder()
const saved = (name: string, shape: Shape, before?: (sim: SimulatedCluster) => Promise<void>) =>
  saveCluster(join(folder, `${name}.ndjson`), shape, before)

let tag: string
let manifest: string
beforeAll(async () => {
  tag = await saved('tag', byTag)
  manifest = await saved('manifest', byManifest)
})

const byTag: Shape = {
  version: 'v1.7.4',
  operator: 'v1.8.4',
  method: 'image-tag',
  vms: 6,
  methods: ['LiveMigrate'],
  workers: 3,
}
const byManifest: Shape = { version: 'v1.8.4', vms: mixedVms, methods: ['LiveMigrate', 'Evict'] }

const played = async (file: string, to: string, ...flags: readonly string[]) => {
  const document = await rehearsed(file, '--to', to, ...flags)
  return { code: document.code, document }
}

async function screen(file: string, to: string, ...flags: readonly string[]) {
  return runText(['rehearse', '--to', to, '--from', file, ...flags], { ...offline, columns: 80 })
}

/** The upgrade itself, on the cluster that was saved. */
async function upgraded(shape: Shape, to: string, accept: string[]) {
  const clock = new SimClock()
  const stage = new Stage(clock, await settled({ ...shape, clock }))
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
    { name: 'by image tag', file: () => tag, shape: byTag, to: 'v1.8.4', accept: [], unforeseen: [] },
    {
      name: 'by the manifest of the operator',
      file: () => manifest,
      shape: byManifest,
      to: 'v1.9.0',
      accept: ['evictions'],
      // Why QEMU ends its migrations nobody sees beforehand.
      unforeseen: ['failing'],
    },
  ])(
    '$name: the stages, how long they take, and what is tried with VMs',
    async ({ file, shape, to, accept, unforeseen }) => {
      const real = await upgraded(shape, to, accept)
      const { code, document } = await played(file(), to, ...accept.flatMap((risk) => ['--accept', risk]))
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
    const sim = await settled({ ...shape, clock })
    try {
      await clock.sleep(60_000)
      await act((...argv) => runText(argv, { cluster: sim.cluster(), clock, files, onWrite }), sim, clock)
    } finally {
      await sim.stop()
    }
  }

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

  test('another cluster, another upgrade, another document, a dry run and what was blocked are refused before anything is written; where nobody knows of which cluster it is, that is said; of a run that continues only its own stages are compared', async () => {
    await onCluster(async (run, sim) => {
      await run('rehearse', '--to', 'v1.8.4', '--to-file', file)
      const whole = files[file] ?? ''
      const { clusterUid = '', ...rest } = JSON.parse(whole) as Rehearsal
      expect(clusterUid).toBe(sim.store.read(Namespaces, { name: 'kube-system' })?.metadata.uid)
      const before = sim.store.audit.filter(isWrite).length
      const upgrade = ['upgrade', '--to', 'v1.8.4', '--yes', '--rehearsal']
      const blocked = { ...rest, clusterUid, outcome: 'blocked', stages: [] }
      for (const [text, says, ...flags] of [
        [whole.replace(clusterUid, 'uid-of-another'), 'other.json was made for another cluster'],
        [
          whole.replace('"from": "v1.7.4"', '"from": "v1.6.6"'),
          'the rehearsal is of KubeVirt v1.6.6 -> v1.8.4',
        ],
        ['{"kind":"Rehearsal","stages":[1]}', 'has no rehearsal'],
        [JSON.stringify(blocked), 'it was blocked before its first step'],
        [whole, 'exclude each other', '--dry-run=client'],
      ] as const) {
        onWrite('other.json', text)
        const { code, err } = await run(...upgrade, 'other.json', ...flags)
        expect([code, err.split('\n')[0]]).toEqual([2, expect.stringContaining(says)])
      }
      const none = await run(...upgrade, 'none.json')
      expect([none.code, none.err]).toEqual([2, expect.stringContaining('cannot read the rehearsal')])
      expect(sim.store.audit.filter(isWrite).length).toBe(before)

      onWrite('other.json', whole.replace(`"clusterUid": "${clusterUid}",`, ''))
      const unknown = await run(...upgrade, 'other.json', '--until', 'set-image-tag')
      expect(unknown).toMatchObject({
        code: 0,
        err: expect.stringContaining('other.json does not say of which cluster it is') as string,
      })
      const { code, out } = await run(...upgrade, file, '-o', 'json')
      expect(code).toBe(0)
      const { rehearsal } = JSON.parse(out) as UpgradeReport
      const measured = rehearsal?.stages.filter(({ took }) => took !== undefined).map(({ name }) => name)
      expect(measured).toEqual(['virt-handler', 'virt-controller', 'virt-api', 'Verify'])
      expect(rehearsal?.sameOrder).toBe(true)
    })
  })

  test('an upgrade by OLM is compared with nothing', async () => {
    const olm = okdOlm({ installed: '1.17.3', channel: 'stable-v1.17' })
    await onCluster(
      async (run, sim) => {
        const clusterUid = sim.store.read(Namespaces, { name: 'kube-system' })?.metadata.uid
        onWrite(file, JSON.stringify({ ...(JSON.parse(files[file] ?? '') as Rehearsal), clusterUid }))
        const { code, err } = await run('upgrade', '--to', '1.18.1', '--rehearsal', file, '--yes')
        expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('by OLM') as string })
      },
      { olm, vms: 1, methods: ['LiveMigrate'] },
    )
  })

  test('pulls of the twin take as long as those of the last roll-out', async () => {
    const slow = await saved('slow', byTag, async (sim) => {
      sim.faults.set({ pullsTake: 40_000 })
      for (const { metadata } of sim.store.list(Pods, { namespace: 'kubevirt' }).items)
        await sim.cluster().writer.delete(Pods, metadata)
      await (sim.store.clock as SimClock).sleep(180_000)
    })
    const { document } = await played(slow, 'v1.8.4')
    expect(document.pace?.pullSeconds).toBeGreaterThanOrEqual(40)
    const handler = document.stages.find(({ name }) => name === 'virt-handler')
    expect(handler?.takes).toBeGreaterThan(40)
    const { out } = await screen(slow, 'v1.8.4')
    expect(out).toMatch(/a pod takes 4\d s to pull its image/u)
  })
})

/** Lines name the file. */
const withoutFile = (document: object): string =>
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
  const ordered = (from: string, migration: string) =>
    changed(from, join(folder, `ordered-${migration}.ndjson`), (found) => {
      const object = found as Written
      const written = { ...orders, 'simulator.kvup.io/migration': migration }
      const annotations = { ...object.metadata?.annotations, ...written }
      const metadata = { ...object.metadata, annotations, finalizers }
      const template = object.kind === 'VirtualMachine' ? object.spec?.template : undefined
      if (template)
        template.metadata = {
          ...template.metadata,
          annotations: { ...template.metadata?.annotations, ...written },
        }
      return { ...object, metadata }
    })

  test('whatever stands in it', async () => {
    const migration = 'fail'
    const from = await saved('without-orders', { ...byTag, methods: ['LiveMigrate', 'Evict'] })
    const flags = ['--accept', 'evictions']
    const without = await played(from, 'v1.8.4', ...flags)
    const { code, document } = await played(ordered(from, migration), 'v1.8.4', ...flags)
    expect(document.vms.map(({ tries }) => tries)).toEqual(Array.from({ length: 6 }, () => 'migrate'))
    expect({ code, text: withoutFile(document) }).toEqual({
      code: without.code,
      text: withoutFile(without.document),
    })
  })
})

describe('what a rehearsal says', () => {
  test('the same cluster and the same seed make the same rehearsal; another seed another one', async () => {
    const first = await played(tag, 'v1.8.4')
    const other = await played(tag, 'v1.8.4', '--seed', '7')
    const again = await rehearseAnew(tag, '--to', 'v1.8.4', '-o', 'json')
    expect({ ...(JSON.parse(again.out) as Rehearsal), code: again.code }).toEqual(first.document)
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
    const { code, document } = await played(manifest, 'v1.9.0')
    expect({ code, outcome: document.outcome, stages: document.stages }).toEqual({
      code: 3,
      outcome: 'blocked',
      stages: [],
    })
    expect(new Set(document.vms.map(({ becomes }) => becomes))).toEqual(new Set(['outdated']))
    const line = document.next.find((one) => one.startsWith('kvup rehearse'))
    expect((await runText(wordsOf(line), offline)).code).toBe(0)
  })

  test('an upgrade path goes through each of its minors, and the VMs follow in each', async () => {
    const file = await saved('path', { version: 'v1.7.4', vms: 2, methods: ['LiveMigrate'], workers: 2 })
    const { code, document } = await played(file, 'v1.9.0')
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

  test('a cluster of before v1.7 with several nodes is not waited for at v1.7, where no second roll of virt-handler comes (recording operator-v1.6.0-v1.7.0)', async () => {
    const file = await saved('before-names', { version: 'v1.6.6', vms: 1, methods: ['LiveMigrate'] })
    const { code, document } = await played(file, 'v1.7.4')
    expect(code).toBe(0)
    const verify = document.stages.find(({ name }) => name === 'Verify')
    expect(verify?.takes).toBeLessThan(60)
  })

  test('a node that is not ready is not ready in the twin', async () => {
    const file = await saved('not-ready', byTag, async (sim) => {
      sim.faults.set({ notReady: ['worker-2'] })
      await sim.store.clock.sleep(120_000)
      expect(sim.store.list(Nodes).items).toHaveLength(6)
    })
    const { code, document } = await played(file, 'v1.8.4')
    expect(code).not.toBe(0)
    expect(JSON.stringify(document.why)).toContain('worker-2')
    // Where that is accepted it stalls: what it leaves has its line, and no line names a pod of the twin.
    const stalled = await played(file, 'v1.8.4', '--accept', 'node-ready', '--accept', 'healthy-now')
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
    const { document } = await played(file, 'v1.8.4')
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
    const { document } = await played(file, 'v1.8.4', '--accept', 'evictions')
    expect(document.vms.find(({ name }) => name === 'pet')).toMatchObject({
      tries: 'evict',
      becomes: 'updated',
    })
  })

  test.each([
    [['--to', 'v1.8.4', '--seed', 'x'], 'whole number'],
    [['--to', 'v1.8.4', '--timeout', '90'], '90'],
    [[], '--to'],
  ])('%j is refused before anything is read', async (flags, said) => {
    const { code, err } = await runText(['rehearse', ...flags], offline)
    expect([code, err]).toEqual([2, expect.stringContaining(said)])
  })
})

test('of a running cluster it only reads', async () => {
  const clock = new SimClock()
  const sim = await settled({ ...byTag, vms: 2, clock })
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
