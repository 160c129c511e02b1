// VMs that are moved, each time behind an upgrade: more than 3 s of processor time.
import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { type Pod, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ApiError, interrupted } from '../../src/lib/kube/errors.ts'
import { rolesFor } from '../../src/lib/upgrade/roles.ts'
import { runText } from '../lib/run-text.ts'
import { grantTo } from './granted.ts'
import { instance } from './machines.ts'
import { minute, second, type Stage } from './stage.ts'
import { documentOf, labelled, madeAt, migrationsIn, outdated } from './updates.ts'

const lasting = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ name: `vm-${i + 1}`, ...more }))
const pets = lasting(2, { notMigratable: 'DisksNotLiveMigratable' })
const restarting = { restartUnmigratable: true, accept: ['data-loss'], parallel: '1' }
const outcomes = (ended: Parameters<typeof documentOf>[0]) =>
  documentOf(ended).items.map(({ name, outcome }) => `${name} ${outcome}`)
const restartsAsked = ({ simulated }: Stage) =>
  simulated.store.audit.filter(({ subresource, status }) => subresource === 'restart' && status < 400)
const kvup = (stage: Stage, line: string, cluster = stage.cluster) =>
  runText(line.split(' '), { cluster, clock: stage.clock })

/** The cluster, but virt-api answers a restart of one VM in another way. */
function answering(
  { cluster }: Stage,
  vm: string,
  answer: (pass: () => Promise<unknown>) => Promise<unknown>,
): Cluster {
  const { reader, writer, reviewer } = cluster
  const subresource: typeof writer.subresource = (kind, ref, call) => {
    const pass = () => writer.subresource(kind, ref, call)
    return ref.name === vm ? answer(pass) : pass()
  }
  const methods = ['create', 'mergePatch', 'jsonPatch', 'apply', 'delete'] as const
  const rest = Object.fromEntries(
    methods.map((name) => [name, (writer[name] as (...all: never[]) => unknown).bind(writer)]),
  )
  return { reader, reviewer, writer: { ...rest, subresource } as never }
}
const conflict = (why: string) => new ApiError(409, 'Conflict', `Operation cannot be fulfilled on vm: ${why}`)

test('W2 a VM that no node would take again is left out by name, and the others are restarted', async () => {
  await outdated(pets, async (stage) => {
    labelled(stage, 'vm-1', {}, { nodeSelector: { zone: 'gone' } })
    const ended = await stage.update(restarting)
    expect(ended).toMatchObject({ code: 0 })
    expect(outcomes(ended)).toEqual(['vm-1 left', 'vm-2 restarted'])
    expect(ended.text).toContain('no node can take it again: 3 no label zone=gone')
    expect(ended.text).not.toContain('restart: demo/vm-1')
  })
})

test('W2 it is asked again right before the restart: where no node is left meanwhile, it is left out and counts as no failure', async () => {
  await outdated(pets, async (stage) => {
    const { store, faults } = stage.simulated
    const before = instance(stage, 'vm-1')?.metadata.uid
    store.watch(VirtualMachineInstances, ({ object }) => {
      const { metadata, status } = object as VirtualMachineInstance
      const isRestored = metadata.name === 'vm-1' && metadata.uid !== before && status?.phase === 'Running'
      if (isRestored) faults.set({ tainted: ['worker-1', 'worker-2', 'worker-3'] })
    })
    const ended = await stage.update(restarting)
    expect(ended).toMatchObject({ code: 0 })
    expect(outcomes(ended)).toEqual(['vm-2 left', 'vm-1 restarted'])
    expect(ended.text).toContain('no node can take it again: 3 taint dedicated')
    const entries = await stage.journal.entries()
    expect(entries.filter(({ what }) => what === 'failed').map(({ text }) => text)).toEqual([
      expect.stringMatching(/^restart demo\/vm-2, .*: no node can take it again: 3 taint dedicated$/),
    ])
    expect(restartsAsked(stage)).toHaveLength(1)
  })
})

test('W3 a restart that was refused is told as failed, and the next run neither waits for it nor counts it', async () => {
  await outdated(pets, async (stage) => {
    const refusing = answering(stage, 'vm-1', () => Promise.reject(conflict('VM is not running')))
    const ended = await stage.update(restarting, { cluster: refusing })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-failed' } })
    expect(outcomes(ended)).toEqual(['vm-1 failed', 'vm-2 restarted'])
    expect(ended.text).toContain('VM is not running')
    const entries = await stage.journal.entries()
    const told = entries.filter(({ text }) => text.startsWith('restart demo/vm-1')).map(({ what }) => what)
    expect(told).toEqual(['intends', 'failed'])
    const again = await stage.update(restarting)
    expect(again).toMatchObject({ code: 0 })
    expect(outcomes(again)).toEqual(['vm-1 restarted'])
    expect(restartsAsked(stage)).toHaveLength(2)
  })
})

test('W3 "already underway" is waiting: somebody else restarts it at that moment, and its new instance is what counts', async () => {
  await outdated(pets.slice(0, 1), async (stage) => {
    const before = instance(stage, 'vm-1')?.metadata.uid
    const cluster = answering(stage, 'vm-1', async (pass) => {
      await pass()
      throw conflict('unable to complete request: stop/start already underway')
    })
    const ended = await stage.update(restarting, { cluster })
    expect(ended).toMatchObject({ code: 0 })
    expect(outcomes(ended)).toEqual(['vm-1 restarted'])
    expect(instance(stage, 'vm-1')?.metadata.uid).not.toBe(before)
    expect(restartsAsked(stage)).toHaveLength(1)
  })
})

const ofVms = (group: string) => group === 'kubevirt.io' || group === 'subresources.kubevirt.io'

const isOfVms = ({ apiGroups = [], resources = [] }: { apiGroups?: string[]; resources?: string[] }) =>
  apiGroups.some(ofVms) && !resources.includes('kubevirts')

/** Jane may do everything but see VMs, except in one namespace. */
function grantOnly(stage: Stage, namespace: string): Cluster {
  const [everywhere, here] = rolesFor('kvup-settings', 'kubevirt')
  const rules = everywhere.rules ?? []
  grantTo(stage, 'jane', [
    { ...everywhere, rules: rules.filter((rule) => !isOfVms(rule)) },
    here,
    { ...here, metadata: { name: 'vms', namespace }, rules: rules.filter(isOfVms) },
    {
      ...everywhere,
      metadata: { name: 'names' },
      rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['list'] }],
    },
  ])
  return storeCluster(stage.simulated.store, { user: 'jane' })
}

test('contract: a namespace that may not be read is said, the others are moved, and the end is exit 7', async () => {
  const vms = [...lasting(2), { name: 'hidden', namespace: 'secret' }]
  await outdated(vms, async (stage) => {
    const cluster = grantOnly(stage, 'demo')
    const ended = await stage.update({}, { cluster })
    expect(ended).toMatchObject({ code: 7, error: { reason: 'partly-unread' } })
    expect(outcomes(ended)).toEqual(['vm-1 migrated', 'vm-2 migrated'])
    const places = new Set(documentOf(ended).unread?.map(({ namespace }) => namespace))
    expect(places.has('secret') && !places.has('demo')).toBe(true)
    expect(ended.text).toMatch(
      /virtualmachineinstances may not be read in .*secret: kvup does nothing there: .*jane/,
    )
    const again = await kvup(stage, 'workloads update --yes', cluster)
    expect(again.code).toBe(7)
    expect(again.out).toContain('no VM is outdated among those that kvup may read')
    expect(again.out.replaceAll(/\s+/g, ' ')).toMatch(/virtualmachineinstances may not be read in .*secret/)
    const one = await kvup(stage, 'workloads update -n demo --yes', cluster)
    expect(one).toMatchObject({
      code: 0,
      out: expect.stringContaining('no VM is outdated among the selected ones'),
    })
    expect(await kvup(stage, 'workloads update -n secret --yes', cluster)).toMatchObject({ code: 7, out: '' })
    expect(await kvup(stage, 'workloads restart --yes', cluster)).toMatchObject({
      code: 7,
      out: expect.stringContaining('no VM waits for a restart among those that kvup may read'),
    })
  })
})

test('--until canary ends there and stays on hold, however often it is run; what goes on is said, and goes on', async () => {
  await outdated(
    lasting(3),
    async (stage) => {
      await stage.restore()
      const tiers = { 'vm-1': 'dev', 'vm-2': 'prod', 'vm-3': 'prod' }
      for (const [name, tier] of Object.entries(tiers)) labelled(stage, name, { tier })
      const stop = { canary: '1', waveBy: 'label=tier', until: 'canary' }
      for (const _ of [1, 2]) {
        const ended = await stage.update(stop, {
          commandLine: 'kvup workloads update --canary 1 --until canary',
        })
        expect(ended).toMatchObject({ code: 0 })
        expect(documentOf(ended)).toMatchObject({
          outcome: 'stopped',
          stoppedBefore: { step: 'wave-prod', because: '--until' },
          next: [
            'kvup workloads update --canary 1     goes on from here',
            'kvup workloads resume-updates     resumes automatic VM updates',
          ],
        })
        expect(migrationsIn(stage)).toHaveLength(1)
        expect(stage.methods).toEqual([])
      }
      const unknown = await stage.update({ ...stop, until: 'wave-dve' })
      expect(unknown).toMatchObject({ code: 2, error: { reason: 'no-such-step' } })
      expect(unknown.text).toContain('canary, wave-prod')
      const line = 'workloads update --wave-by label=tier --until wave-prdo --dry-run=client'
      const dryRunSteps = await kvup(stage, line)
      expect(dryRunSteps).toMatchObject({ code: 2 })
      expect(dryRunSteps.err).toContain('did you mean wave-prod?')
      const order = await kvup(stage, 'workloads update --wave-by label=tier --waves prdo --dry-run=client')
      expect(order.code).toBe(0)
      expect(order.err).toContain('these waves of --waves have no VM: prdo (did you mean prod?)')
      const paused = await stage.update({ waveBy: 'label=tier', pauseBefore: ['wave-prod'] })
      expect(documentOf(paused)).toMatchObject({
        stoppedBefore: { step: 'wave-prod', because: '--pause-before' },
      })
      const last = await stage.update({ waveBy: 'label=tier', until: 'wave-prod' })
      expect(documentOf(last)).toMatchObject({ outcome: 'done', totals: { migrated: 2 } })
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
    },
    ['LiveMigrate'],
  )
})

test('a dry run shows the waves with their VMs in their order, and changes nothing', async () => {
  await outdated(
    [...lasting(3), { name: 'pet', notMigratable: 'HostDeviceNotLiveMigratable' }],
    async (stage) => {
      const tiers = { 'vm-1': 'prod', 'vm-2': 'dev', 'vm-3': 'prod', pet: 'dev' }
      for (const [name, tier] of Object.entries(tiers)) labelled(stage, name, { tier })
      const mark = stage.mark
      const line = 'workloads update --canary 1 --wave-by label=tier --waves prod --dry-run=client'
      const { code, out } = await kvup(stage, line)
      expect(code).toBe(0)
      expect(out.replaceAll(/ +/g, ' ')).toContain(
        [
          'WAVE NAMESPACE VM BY',
          'canary demo vm-1 migration',
          'wave-prod demo vm-3 migration',
          'wave-dev demo vm-2 migration',
        ].join('\n'),
      )
      expect(out).toMatch(/pet +not moved +not migratable/)
      expect(stage.writes(mark)).toEqual([])
    },
  )
})

test('W2 what a restart would do is shown beforehand: which VM only the restart itself brings back', async () => {
  const once = { name: 'once', runStrategy: 'RerunOnFailure', notMigratable: 'DisksNotLiveMigratable' }
  await outdated([...pets.slice(0, 1), once], async (stage) => {
    const dry = await stage.update({ ...restarting, dryRun: 'client' })
    expect(documentOf(dry).waves).toEqual([
      {
        id: 'wave',
        title: 'VMs',
        vms: [
          { namespace: 'demo', name: 'once', by: 'restart', onlyOnce: true },
          { namespace: 'demo', name: 'vm-1', by: 'restart' },
        ],
      },
    ])
    const no = await stage.update(restarting, { answer: async () => false })
    expect(no).toMatchObject({ code: 3, error: { reason: 'answered-no' } })
    expect(no.text).toContain('restart: demo/once: its runStrategy does not restart it')
    expect(no.text).toMatch(/restart: demo\/vm-1$/m)
  })
})

test('W6 where somebody switches KubeVirt’s own updater on meanwhile, nothing further is begun', async () => {
  await outdated(lasting(6, { migration: '30s' }), async (stage) => {
    let done = false
    const onEvent = ({ kind }: { kind: string }) => {
      if (kind !== 'step-applied' || done) return
      done = true
      stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
    }
    const ended = await stage.update({ parallel: '1' }, { onEvent })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'updater-switched-on' } })
    expect(ended.error?.message).toContain('workloadUpdateMethods was set to LiveMigrate meanwhile')
    expect(ended.error?.message).toContain('kubectl-edit')
    const own = migrationsIn(stage).filter(({ metadata }) => metadata.name.startsWith('kvup-update-'))
    expect(own).toHaveLength(1)
  })
})

test('--timeout ends it with exit 4 and the line that goes on; what it began is not begun again', async () => {
  await outdated(lasting(2, { migration: '60s' }), async (stage) => {
    const late = await stage.update({ parallel: '1', timeout: '30s' })
    expect(late).toMatchObject({ code: 4 })
    expect(late.error?.remedy.join()).toContain('goes on')
    expect(outcomes(late)).toEqual(['vm-1 moving', 'vm-2 waiting'])
    expect(await stage.update({ parallel: '1' })).toMatchObject({ code: 0 })
    expect(migrationsIn(stage).map(({ spec }) => spec?.vmiName)).toEqual(['vm-1', 'vm-2'])
  })
})

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16)

test('a window that closes while VMs move: what runs ends, and the next waits for the next window, over midnight', async () => {
  await outdated(lasting(2, { migration: '60s' }), async (stage) => {
    const [from, to] = [stage.now - 60 * minute, stage.now + minute]
    const opens = stage.now + 20 * minute
    const windows = [`daily ${clock(from)}-${clock(to)} UTC`, `daily ${clock(opens)}-${clock(from)} UTC`]
    const ended = await stage.update({ parallel: '1', window: windows, timeout: '1d' })
    expect(ended).toMatchObject({ code: 0 })
    const [first, second_] = migrationsIn(stage)
    expect(first?.status?.phase).toBe('Succeeded')
    expect(clock(madeAt(second_))).toBe(clock(opens))
  })
})

test('Ctrl-C while it waits for a window ends it at once, with nothing under way', async () => {
  await outdated(lasting(1), async (stage) => {
    const stop = new AbortController()
    const hour = new Date(stage.now + 120 * minute).toISOString().slice(11, 13)
    const window = [`daily ${hour}:00-${hour}:59 UTC`]
    const onEvent = ({ kind }: { kind: string }) => {
      if (kind === 'step-waiting') stage.later(5 * second, () => stop.abort(interrupted('SIGINT')))
    }
    const ended = await stage.update({ window }, { signal: stop.signal, onEvent })
    expect(ended).toMatchObject({ code: 130 })
    expect(ended.took).toBeLessThan(minute)
    expect(migrationsIn(stage)).toEqual([])
  })
})

const images = ({ spec }: Pod) => spec?.containers?.map(({ image }) => image ?? '') ?? []

/** A webhook that lets every pod pull from a mirror: to KubeVirt the image is then another one (facts 3.1). */
function rewriteImages({ simulated: { store } }: Stage): void {
  store.watch(Pods, ({ object }) => {
    const pod: Pod | undefined = store.read(Pods, object.metadata)
    if (!pod?.metadata.name.startsWith('virt-launcher-') || images(pod)[0]?.startsWith('mirror/')) return
    const containers = pod.spec?.containers?.map((one) => ({ ...one, image: `mirror/${one.image}` }))
    store.patch(Pods, pod.metadata, { type: 'merge', body: { spec: { containers } } })
  })
}

test('W3 a VM that is outdated still after its migration is not migrated again, by this run or the next', async () => {
  await outdated([{ name: 'a' }, { name: 'b' }], async (stage) => {
    rewriteImages(stage)
    const why = expect.stringContaining('as if something rewrites images')
    const ended = await stage.update({ parallel: '1' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-failed' } })
    expect(documentOf(ended).items).toMatchObject([
      { name: 'a', outcome: 'failed', why },
      { name: 'b', outcome: 'failed', why },
    ])
    expect(await stage.update({ maxFailures: '1' })).toMatchObject({
      code: 3,
      error: { reason: 'too-many-failures' },
    })
    expect(migrationsIn(stage)).toHaveLength(2)
  })
})
