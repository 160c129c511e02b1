import { afterEach, describe, expect, test } from 'vitest'
import { type Reader, readerWith } from '../../src/lib/kube/cluster.ts'
import type { Kind } from '../../src/lib/kube/object.ts'
import { KubeVirts, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { configMapJournal } from '../../src/lib/engine/journal-config-map.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { SimulatedCluster, Simulation } from '../../src/simulator/simulated-cluster.ts'
import { type Place, runText } from '../lib/run-text.ts'
import { settled } from '../lib/settled.ts'

const running: SimulatedCluster[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

/** A cluster of this version and kvup in front of it. */
async function on(shape: Omit<Simulation, 'clock'>) {
  const clock = new SimClock()
  const sim = await settled({ workers: 2, controlPlanes: 1, ...shape, clock })
  running.push(sim)
  const admin = sim.cluster()
  const { hyperconverged } = shape
  const kubevirt = {
    name: hyperconverged ? 'kubevirt-kubevirt-hyperconverged' : 'kubevirt',
    namespace: 'kubevirt',
  }
  const configure = (configuration: object) =>
    admin.writer.mergePatch(KubeVirts, kubevirt, { spec: { configuration } })
  const version = (text: string) =>
    admin.writer.mergePatch(KubeVirts, kubevirt, { status: { observedKubeVirtVersion: text } }, 'status')
  const change = (name: string, spec: object) =>
    admin.writer.mergePatch(VirtualMachines, { name, namespace: 'demo' }, { spec })
  const kvup = (line: string, place: Partial<Place> = {}) =>
    runText(line.split(' '), { cluster: admin, clock, ...place })
  const configuration = async () => {
    const found = await admin.reader.get(KubeVirts, kubevirt)
    return found.is === 'object' ? found.object.spec?.configuration : undefined
  }
  return { sim, clock, configure, version, change, kvup, configuration }
}

const domain = (fields: object) => ({ template: { spec: { domain: fields } } })

/** Objects of this resource are read as somebody who may not. */
function without(plural: string, reader: Reader, nobody: Reader): Reader {
  const as = (kind: Kind) => (kind.plural === plural ? nobody : reader)
  return readerWith(reader, {
    get: (kind, ref) => as(kind).get(kind, ref),
    list: (kind, where) => as(kind).list(kind, where),
    pages: (kind, where) => as(kind).pages(kind, where),
    watch: (kind, where, signal) => as(kind).watch(kind, where, signal),
  })
}

const jsonOf = async (ran: Promise<{ out: string }>): Promise<Record<string, unknown>> =>
  JSON.parse((await ran).out) as Record<string, unknown>

describe('workloads live-update show', () => {
  test.each([
    ['v1.1.1', {}, 'Stage', 'has no vmRolloutStrategy, which came with v1.2'],
    ['v1.4.1', {}, 'Stage', 'from v1.6 on the default is LiveUpdate'],
    ['v1.4.1', { vmRolloutStrategy: 'LiveUpdate' }, 'Stage', 'needs the feature gate VMLiveUpdateFeatures'],
    [
      'v1.4.1',
      {
        vmRolloutStrategy: 'LiveUpdate',
        developerConfiguration: { featureGates: ['VMLiveUpdateFeatures'] },
      },
      'LiveUpdate',
      'from KubeVirt kubevirt',
    ],
    ['v1.5.2', {}, 'Stage', 'from v1.6 on the default is LiveUpdate'],
    ['v1.6.0', {}, 'LiveUpdate', 'the default since v1.6'],
    ['v1.8.4', { vmRolloutStrategy: 'Stage' }, 'Stage', 'from KubeVirt kubevirt'],
  ])('%s with %j: %s', async (text, configuration, strategy, said) => {
    const { version, configure, kvup, sim } = await on({ version: 'v1.8.4', methods: ['LiveMigrate'] })
    await sim.stop()
    running.splice(0)
    await configure(configuration)
    await version(text)
    const { code, out } = await kvup('workloads live-update show')
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^${strategy} \\(`, 'u'))
    expect(out).toContain(said)
    expect(await jsonOf(kvup('workloads live-update show -o json'))).toMatchObject({
      kind: 'VmRollout',
      strategy,
    })
  })

  test('says that live changes wait where LiveMigrate is not among the methods', async () => {
    const { kvup } = await on({ version: 'v1.8.4' })
    const { out } = await kvup('workloads live-update show')
    expect(out).toContain('LiveMigrate is not among workloadUpdateMethods')
    expect(out).toContain('\n  -> kvup workloads strategy show     shows the methods')
  })

  test('W10: on HyperConverged it is fixed, unless its annotation says otherwise', async () => {
    const hyperconverged = { stored: 'v1beta1', served: ['v1beta1', 'v1'], conversion: 'Webhook' } as const
    const { kvup, sim } = await on({ version: 'v1.8.4', hyperconverged, methods: ['LiveMigrate'] })
    expect((await kvup('workloads live-update show')).out).toContain('HyperConverged fixes it to LiveUpdate')
    const [hco] = sim.store.list({
      apiVersion: 'hco.kubevirt.io/v1beta1',
      kind: '',
      plural: 'hyperconvergeds',
      namespaced: true,
    }).items
    const annotations = {
      'kubevirt.kubevirt.io/jsonpatch': '[{"path":"/spec/configuration/vmRolloutStrategy"}]',
    }
    sim.store.patch(
      { apiVersion: 'hco.kubevirt.io/v1beta1', kind: '', plural: 'hyperconvergeds', namespaced: true },
      hco?.metadata ?? { name: '' },
      { type: 'merge', body: { metadata: { annotations } } },
    )
    expect(await jsonOf(kvup('workloads live-update show -o json'))).toMatchObject({ origin: 'annotation' })
  })
})

describe('workloads live-update set', () => {
  test('sets it, says what it means, and a second time changes nothing', async () => {
    const { kvup, configuration, sim } = await on({ version: 'v1.8.4', methods: ['LiveMigrate'] })
    const first = await kvup('workloads live-update set Stage --yes')
    expect(first).toMatchObject({ code: 0 })
    expect(first.err).toContain('from now on a change of a running VM makes it RestartRequired')
    expect(first.out).toContain('set, and in effect')
    const back = await kvup('workloads live-update set LiveUpdate --yes')
    expect(back.err).toContain('\n  -> kvup workloads restart-required     shows them')
    await kvup('workloads live-update set Stage --yes')
    expect(await configuration()).toMatchObject({ vmRolloutStrategy: 'Stage' })
    const mark = sim.store.audit.length
    expect((await kvup('workloads live-update set Stage --yes')).out).toContain(
      'already so, nothing was changed',
    )
    const writes = sim.store.audit
      .slice(mark)
      .filter((one) => isWrite(one) && one.user === 'kubernetes-admin')
    expect(writes).toEqual([])
    expect(await kvup('workloads live-update set default --yes')).toMatchObject({ code: 0 })
    expect(await configuration()).not.toHaveProperty('vmRolloutStrategy')
  })

  test.each(['client', 'server'])('a %s dry run shows the change and makes none', async (mode) => {
    const { kvup, configuration } = await on({ version: 'v1.8.4' })
    const { code, out } = await kvup(`workloads live-update set Stage --dry-run=${mode}`)
    expect(code).toBe(0)
    expect(out).toContain(`${mode} dry run: nothing was changed`)
    expect(out).toContain('vmRolloutStrategy default -> Stage')
    expect(await configuration()).not.toHaveProperty('vmRolloutStrategy')
  })

  test('W10: before v1.5 LiveUpdate is refused without its gate, and comes with it in one patch', async () => {
    const { kvup, version, configure, configuration, sim } = await on({ version: 'v1.8.4' })
    await sim.stop()
    running.splice(0)
    await version('v1.4.1')
    await configure({ developerConfiguration: { featureGates: ['Snapshot'] } })
    const refused = await kvup('workloads live-update set LiveUpdate --yes')
    expect(refused).toMatchObject({ code: 3 })
    expect(refused.err).toContain('kvup workloads live-update set LiveUpdate --add-gate')
    const mark = sim.store.audit.length
    expect(await kvup('workloads live-update set LiveUpdate --add-gate --yes')).toMatchObject({ code: 0 })
    expect(await configuration()).toMatchObject({
      vmRolloutStrategy: 'LiveUpdate',
      developerConfiguration: { featureGates: ['Snapshot', 'VMLiveUpdateFeatures'] },
    })
    const patches = sim.store.audit.slice(mark).filter((one) => isWrite(one) && one.resource === 'kubevirts')
    expect(patches).toHaveLength(1)
  })

  test('W10: HyperConverged overwrites it: refused, with the annotation that it takes and its taint', async () => {
    const hyperconverged = { stored: 'v1', served: ['v1beta1', 'v1'], conversion: 'Webhook' } as const
    const { kvup } = await on({ version: 'v1.8.4', hyperconverged, methods: ['LiveMigrate'] })
    const { code, err } = await kvup('workloads live-update set Stage --yes')
    expect(code).toBe(3)
    expect(err).toContain('HyperConverged fixes the VM rollout strategy to LiveUpdate')
    expect(err).toContain('TaintedConfiguration')
    expect(err).toContain(
      `kubectl -n kubevirt annotate hyperconvergeds.hco.kubevirt.io/kubevirt-hyperconverged 'kubevirt.kubevirt.io/jsonpatch=`,
    )
  })

  test.each([
    ['v1.8.4', 'workloads live-update set LiveUpdate --add-gate', 2, 'needs no feature gate'],
    ['v1.8.4', 'workloads live-update set Stage --add-gate', 2, '--add-gate goes with LiveUpdate only'],
    ['v1.8.4', 'workloads live-update set liveupdate', 2, 'choose LiveUpdate, Stage, default'],
    ['v1.1.1', 'workloads live-update set Stage', 3, 'has no vmRolloutStrategy'],
  ])('on %s: %s is exit %d', async (text, line, exit, said) => {
    const { kvup, version, sim } = await on({ version: 'v1.8.4' })
    await sim.stop()
    running.splice(0)
    await version(text)
    const { code, err } = await kvup(`${line} --yes`)
    expect({ code, err }).toMatchObject({ code: exit, err: expect.stringContaining(said) })
  })
})

describe('workloads restart-required', () => {
  test('none, and a document that says so', async () => {
    const { kvup } = await on({ version: 'v1.8.4', vms: 1 })
    expect(await kvup('workloads restart-required')).toMatchObject({
      code: 0,
      out: 'no VM waits for a restart\n',
    })
    const document = await jsonOf(kvup('workloads restart-required -o json'))
    expect(document).toMatchObject({ kind: 'RestartRequired', items: [], status: 'complete' })
  })

  test('W11: every staged difference, what is frozen by it, and that putting it back clears it since v1.8', async () => {
    const { kvup, change, clock } = await on({ version: 'v1.8.4', vms: 3 })
    const still = new SimClock(new Date(clock.now().getTime() + 3_600_000).toISOString())
    await change(
      'web-1',
      domain({ cpu: { cores: 2, sockets: 3 }, memory: { guest: '1Gi' }, machine: { type: 'q35' } }),
    )
    await change('web-2', domain({ memory: { guest: '256Mi' } }))
    await clock.sleep(60_000)
    const { code, out } = await kvup('workloads restart-required', { clock: still })
    expect(code).toBe(0)
    expect(out.replace(/\d+m(\d+s)? /u, '59m ').split('\n')).toEqual([
      'NAMESPACE   NAME    SINCE   UPGRADE   FROZEN        CHANGED',
      'demo        web-1   59m     <none>    CPU, memory   domain.cpu.cores 1 -> 2; domain.cpu.sockets 1 -> 3 (frozen); domain.memory.guest 128Mi -> 1Gi (frozen); domain.machine.type q35 added',
      '',
      'until their restart, they get no other change of CPU, memory, placement or volumes. VMs get changed cluster defaults only at a restart',
      'since v1.8, setting the fields back clears it too',
      '1 VM waits for a restart: 1 with hotplug waiting for it -> kvup workloads restart     # it is down meanwhile',
      '',
    ])
    const narrowed = await kvup('workloads restart-required -n demo -l app!=db')
    expect(narrowed.out).toMatch(
      / -> kvup workloads restart -n demo -l 'app!=db' {5}# it is down meanwhile\n$/u,
    )
    expect(await kvup('workloads restart-required --exit-code -o name')).toMatchObject({
      code: 10,
      out: 'virtualmachine.kubevirt.io/web-1\n',
    })
    await change(
      'web-1',
      domain({ cpu: { cores: 1, sockets: 1 }, memory: { guest: '128Mi' }, machine: null }),
    )
    await clock.sleep(60_000)
    expect((await kvup('workloads restart-required')).out).toBe('no VM waits for a restart\n')
    expect((await kvup('workloads restart-required --exit-code')).code).toBe(0)
    for (const [flags, exit, says] of [
      ['-n nosuch', 2, 'there is no namespace nosuch'],
      ['-l no=such', 3, 'no VM has the labels no=such'],
    ] as const) {
      const asked = await kvup(`workloads restart-required --exit-code ${flags}`)
      expect([asked.code, asked.err]).toEqual([exit, expect.stringContaining(says)])
      expect((await kvup(`workloads restart-required ${flags}`)).code).toBe(0)
    }
  })

  test('before v1.8 putting it back does not clear it: said, and the VM is told to have nothing left to wait for', async () => {
    const { kvup, change, clock } = await on({ version: 'v1.7.4', vms: 1 })
    await change('web-1', domain({ cpu: { cores: 2 } }))
    await clock.sleep(60_000)
    await change('web-1', domain({ cpu: { cores: 1 } }))
    await clock.sleep(60_000)
    const { out } = await kvup('workloads restart-required')
    expect(out).toContain('nothing')
    expect(out).toContain('only a restart clears it')
    expect(await jsonOf(kvup('workloads restart-required -o json'))).toMatchObject({
      revertingClears: false,
      totals: { total: 1, reverted: 1 },
      items: [{ name: 'web-1', reverted: true, changes: [] }],
    })
  })

  test('with Stage a change of the sockets is what it waits for, and -l narrows it on the server', async () => {
    const { kvup, change, clock, configure } = await on({ version: 'v1.8.4', vms: 2 })
    await configure({ vmRolloutStrategy: 'Stage' })
    await change('web-1', domain({ cpu: { sockets: 2 } }))
    await clock.sleep(60_000)
    expect(await jsonOf(kvup('workloads restart-required -o json'))).toMatchObject({
      strategy: 'Stage',
      items: [
        {
          name: 'web-1',
          message: 'a non-live-updatable field was changed in the template spec',
          changes: [{ path: 'template.spec.domain.cpu.sockets', from: 1, to: 2, waits: 'restart' }],
          frozen: [],
        },
      ],
    })
    expect(await jsonOf(kvup('workloads restart-required -l no=such -o json'))).toMatchObject({ items: [] })
  })

  test('since which upgrade: the one that was at work when it began, by the journal', async () => {
    const { kvup, change, clock, sim } = await on({ version: 'v1.8.4', vms: 2 })
    const place = { namespace: 'kubevirt', who: 'jane@host', clock }
    const journal = configMapJournal(sim.cluster(), place)
    const record = (what: 'started' | 'finished') =>
      journal.record({
        at: clock.now().toISOString(),
        by: 'jane@host',
        procedure: 'upgrade to v1.8.4',
        step: '',
        what,
        text: '',
      })
    await record('started')
    await clock.sleep(60_000)
    await change('web-1', domain({ firmware: { uuid: 'd633a622-2335-5606-93ae-d432b7c7f2d2' } }))
    await clock.sleep(60_000)
    await record('finished')
    await clock.sleep(3_600_000)
    await change('web-2', domain({ cpu: { cores: 2 } }))
    await clock.sleep(60_000)
    const { out } = await kvup('workloads restart-required')
    expect(out).toMatch(/web-1 +\S+ +upgrade to v1\.8\.4 /u)
    expect(out).toMatch(/web-2 +\S+ +<none> /u)
    expect(out).toContain('2 VMs wait for a restart: 1 since an upgrade')
    expect(out).toContain('domain.firmware.uuid is what KubeVirt itself writes into VMs')
  })

  test('what may not be read is said: exit 7, and the VMs are told all the same', async () => {
    const { kvup, change, clock, sim } = await on({ version: 'v1.8.4', vms: 1 })
    await change('web-1', domain({ cpu: { cores: 2 } }))
    await clock.sleep(60_000)
    const cluster = sim.cluster()
    const nobody = sim.cluster({ user: 'jane', groups: [] }).reader
    const { code, out, err } = await kvup('workloads restart-required', {
      cluster: { ...cluster, reader: without('controllerrevisions', cluster.reader, nobody) },
    })
    expect(code).toBe(7)
    expect(out).toContain('unknown: kvup may not read the record of its last start')
    expect(out).toContain('controllerrevisions in namespace demo may not be read')
    expect(err).toContain('kvup rbac kvup-view')
  })
})
