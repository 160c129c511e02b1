import { expect, test } from 'vitest'
import {
  type VirtualMachine,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { VmShape } from '../../src/simulator/vm-shape.ts'
import { overrideAnnotation } from '../../src/lib/vms/unblock/vm-overrides.ts'
import { runText } from '../lib/run-text.ts'
import { byManifest, minute, play, type Stage } from './stage.ts'

const disk = { notMigratable: 'DisksNotLiveMigratable' }
const vms: readonly VmShape[] = [
  { name: 'web', migration: '3s' },
  { name: 'db', ...disk },
  { name: 'job', runStrategy: 'RerunOnFailure', ...disk },
  { name: 'pet', evictionStrategy: 'None', ...disk },
]
const shape = { ...byManifest, vms }
const accept = ['data-loss']

function vmOf(stage: Stage, name: string): VirtualMachine {
  const found: VirtualMachine | undefined = stage.simulated.store.read(VirtualMachines, {
    name,
    namespace: 'demo',
  })
  if (!found) throw new Error(`no VM ${name}`)
  return found
}
const specOf = (stage: Stage, name: string) => JSON.stringify(vmOf(stage, name).spec)
const overrides = (stage: Stage, name: string) => vmOf(stage, name).metadata.annotations?.[overrideAnnotation]

function edit(stage: Stage, name: string, spec: object): void {
  const ref = { name, namespace: 'demo' }
  stage.simulated.store.patch(
    VirtualMachines,
    ref,
    { type: 'merge', body: { spec } },
    { manager: 'kubectl-edit' },
  )
}

/** As a drain or KubeVirt's updater would. */
async function stopInstance(stage: Stage, name: string): Promise<void> {
  stage.simulated.store.remove(VirtualMachineInstances, { name, namespace: 'demo' })
  await stage.until(minute)
}

async function kvup(stage: Stage, line: string) {
  return runText(line.split(' '), { cluster: stage.cluster, clock: stage.clock })
}

test('W1 unblock lends None, and Always only where the VM would not come back, once the loss of data is accepted by name; restore gives both back', async () => {
  await play(shape, async (stage) => {
    const names = vms.map(({ name }) => name)
    const before = names.map((name) => specOf(stage, name))
    const begun = stage.mark
    const refused = await stage.unblock()
    expect(refused).toMatchObject({ code: 3, error: { reason: 'data-loss' } })
    expect(refused.text).toContain('demo/db (containerDisk root)')
    const { code, out } = await kvup(stage, 'workloads unblock --all --dry-run=client')
    expect(code).toBe(0)
    expect(out).toMatch(
      /client dry run: nothing was changed[^]*evictionStrategy.*None[^]*runStrategy.*Always/,
    )
    const server = await kvup(stage, 'workloads unblock --all --dry-run=server -o json')
    expect(JSON.parse(server.out)).toMatchObject({
      dryRun: 'server',
      steps: [{ state: 'would-change' }, { state: 'would-change' }],
    })
    expect(stage.writes(begun).filter(({ dryRun }) => !dryRun)).toEqual([])
    const ended = await stage.unblock({ accept })
    expect(ended.code).toBe(0)
    expect(ended.text).toContain(
      'demo/job: evictionStrategy None (was LiveMigrate), runStrategy Always (was RerunOnFailure)',
    )
    expect(ended.text).toContain('RestartRequired')
    expect(vmOf(stage, 'db').spec).toMatchObject({
      runStrategy: 'Always',
      template: { spec: { evictionStrategy: 'None' } },
    })
    expect(vmOf(stage, 'job').spec).toMatchObject({
      runStrategy: 'Always',
      template: { spec: { evictionStrategy: 'None' } },
    })
    expect(['web', 'pet'].map((name) => overrides(stage, name))).toEqual([undefined, undefined])
    const mark = stage.mark
    expect(await stage.unblock({ accept })).toMatchObject({ code: 0 })
    expect(stage.writes(mark)).toEqual([])
    expect(await stage.restore({}, { host: 'another-laptop' })).toMatchObject({ code: 0 })
    expect(names.map((name) => specOf(stage, name))).toEqual(before)
    expect(names.map((name) => overrides(stage, name))).toEqual([undefined, undefined, undefined, undefined])
    const again = stage.mark
    expect(await stage.restore()).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-restore' }] })
    expect(stage.writes(again)).toEqual([])
  })
})

test('W1 restore asks where the VM does not run, or somebody changed it, and gives back to the others', async () => {
  await play({ ...shape, vms: [...vms, { name: 'other', ...disk }] }, async (stage) => {
    const [db, job] = [specOf(stage, 'db'), specOf(stage, 'job')]
    await stage.unblock({ accept })
    edit(stage, 'other', { template: { spec: { evictionStrategy: 'External' } } })
    edit(stage, 'job', { runStrategy: 'Always' })
    stage.simulated.faults.set({ unschedulable: '^virt-launcher-job' })
    await stopInstance(stage, 'job')
    const ended = await stage.restore()
    expect(ended).toMatchObject({ code: 3 })
    expect(ended.text).toContain(
      'demo/other: evictionStrategy was LiveMigrate and became None; somebody set it to External meanwhile',
    )
    expect(ended.text).toContain(
      'demo/job: it is not running, and runStrategy RerunOnFailure could start or stop it',
    )
    expect(ended.text).toMatch(/--keep-current[\s\S]*--overwrite/)
    expect([specOf(stage, 'db'), overrides(stage, 'db')]).toEqual([db, undefined])
    expect(overrides(stage, 'job')).toBeDefined()
    expect(await stage.restore({ overwrite: true })).toMatchObject({ code: 0 })
    expect(specOf(stage, 'job')).toBe(job)
    expect(vmOf(stage, 'other').spec?.template?.spec?.evictionStrategy).toBe('LiveMigrate')
    expect(['job', 'other'].map((name) => overrides(stage, name))).toEqual([undefined, undefined])
  })
})

test('W1 evictionStrategy alone is given back whether the VM runs or not: it starts and stops nothing', async () => {
  await play(shape, async (stage) => {
    const before = specOf(stage, 'db')
    await stage.unblock({ accept })
    await stopInstance(stage, 'job')
    const drained = stage.simulated.store.read(VirtualMachineInstances, { name: 'job', namespace: 'demo' })
    expect(drained).toMatchObject({ spec: { evictionStrategy: 'None' }, status: { phase: 'Running' } })
    const again = await kvup(stage, 'workloads unblock --all')
    expect(again.out).toMatch(/db +unblocked before/)
    expect(again.out).not.toContain('job')
    edit(stage, 'db', { runStrategy: 'Halted' })
    await stopInstance(stage, 'db')
    const { code, out } = await kvup(stage, 'restore-settings --yes')
    expect([code, out.includes('db')]).toEqual([0, true])
    expect(out).toContain('1 VM still runs with the temporary settings until restarted:')
    expect(out).toContain('-> virtctl restart job -n demo')
    expect(out).not.toContain('virtctl restart db')
    expect(specOf(stage, 'db')).toBe(before.replace('"runStrategy":"Always"', '"runStrategy":"Halted"'))
    expect(overrides(stage, 'db')).toBeUndefined()
    await stage.until(minute)
    expect(
      stage.simulated.store.read(VirtualMachineInstances, { name: 'db', namespace: 'demo' }),
    ).toBeUndefined()
  })
})

test('W1 running VMs only: one that does not run is not unblocked, and one that stops before its turn is left alone', async () => {
  await play(shape, async (stage) => {
    edit(stage, 'db', { runStrategy: 'Halted' })
    await stopInstance(stage, 'db')
    const before = specOf(stage, 'db')
    const { code, out } = await kvup(stage, 'workloads unblock db -n demo --yes --accept data-loss')
    expect(code).toBe(0)
    expect(out).toMatch(/db +does not block +it does not run/)
    expect([specOf(stage, 'db'), overrides(stage, 'db')]).toEqual([before, undefined])
  })
})

test('W1 a VM that stops between the look and the give-back is asked about, and nothing of it is written', async () => {
  await play(shape, async (stage) => {
    await stage.unblock({ accept })
    const set = specOf(stage, 'job')
    // KubeVirt begins to stop it right after the first look of its step.
    const onEvent = ({ kind, ...event }: { kind: string }) => {
      if (kind !== 'step-started' || !JSON.stringify(event).includes('restore/demo/job')) return
      stage.simulated.faults.set({ unschedulable: '^virt-launcher-job' })
      stage.simulated.store.remove(VirtualMachineInstances, { name: 'job', namespace: 'demo' })
    }
    const ended = await stage.restore({}, { onEvent })
    expect(ended).toMatchObject({ code: 3 })
    expect(ended.text).toContain('it is not running')
    expect(specOf(stage, 'job')).toBe(set)
    expect(overrides(stage, 'job')).toBeDefined()
  })
})

test('contract: a note that was changed keeps nobody else from what is theirs, and is taken off when a person says so', async () => {
  await play(shape, async (stage) => {
    expect(await stage.unblock({ accept })).toMatchObject({ code: 0 })
    expect(await stage.hold()).toMatchObject({ code: 0 })
    const note = (metadata: object) =>
      stage.simulated.store.patch(
        VirtualMachines,
        { name: 'db', namespace: 'demo' },
        { type: 'merge', body: { metadata } },
      )
    note({ annotations: { [overrideAnnotation]: '{}' } })
    for (const overwrite of [false, true]) {
      const ended = await stage.restore(overwrite ? { overwrite } : {})
      expect(ended).toMatchObject({ code: 3, error: { reason: 'override-unreadable' } })
      expect(ended.text).toContain('demo/db: its note kvup.io/override was changed and cannot be read')
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(overrides(stage, 'job')).toBeUndefined()
    }
    expect((await kvup(stage, 'history')).err).toContain('VM demo/db has a temporary change')
    note({ annotations: { [overrideAnnotation]: null } })
    expect(await stage.restore()).toMatchObject({ code: 3, error: { reason: 'override-unreadable' } })
    const before = specOf(stage, 'db')
    expect(await stage.restore({ keepCurrent: true })).toMatchObject({ code: 0 })
    expect(specOf(stage, 'db')).toBe(before)
    expect(await stage.restore()).toMatchObject({ code: 0 })
  })
})

test('contract: the first value wins, whoever unblocks again and whatever is there then', async () => {
  await play(shape, async (stage) => {
    const before = specOf(stage, 'db')
    await stage.unblock({ accept })
    edit(stage, 'db', { template: { spec: { evictionStrategy: 'LiveMigrate' } }, runStrategy: 'Manual' })
    expect(await stage.unblock({ accept }, { host: 'another-laptop' })).toMatchObject({ code: 0 })
    const { by, fields } = JSON.parse(overrides(stage, 'db') ?? '') as { by: string; fields: object[] }
    expect(by).toBe('jane@here')
    expect(fields).toMatchObject([
      { was: { value: 'LiveMigrate' } },
      { was: { value: 'Manual' }, set: 'Always' },
    ])
    edit(stage, 'db', { runStrategy: 'Always' })
    expect(await stage.restore()).toMatchObject({ code: 0 })
    expect(specOf(stage, 'db')).toBe(before.replace('"Always"', '"Manual"'))
  })
})

test('by name: what blocks, what does not, and why; a VM that does not exist', async () => {
  await play(shape, async (stage) => {
    const { code, out } = await kvup(stage, 'workloads unblock web db pet -n demo --yes --accept data-loss')
    expect(code).toBe(0)
    expect(out).toMatch(/web +does not block +it can be migrated/)
    expect(out).toMatch(/pet +does not block +its evictionStrategy is None: it can be evicted/)
    expect(out).toMatch(/db +unblocked +evictionStrategy None \(was LiveMigrate\)/)
    expect(out).toContain('-> virtctl restart db -n demo')
    expect(await kvup(stage, 'workloads unblock nobody -n demo --yes')).toMatchObject({
      code: 3,
      err: expect.stringContaining('there is no VM nobody in namespace demo'),
    })
    expect(overrides(stage, 'job')).toBeUndefined()
  })
})

test.each([
  ['workloads unblock', 'which VMs?'],
  ['workloads unblock db', 'in which namespace?'],
  ['workloads unblock db --all -n demo', 'exclude each other'],
])('%s is a usage error', async (line, why) => {
  const nowhere = { cluster: {} as never, clock: { now: () => new Date(), sleep: async () => undefined } }
  const { code, err } = await runText(line.split(' '), nowhere)
  expect([code, err.includes(why)]).toEqual([2, true])
})

test('a copy of a VM that was lent something has no loan of its own: it asks, and its settings are left or set', async () => {
  await play(shape, async (stage) => {
    expect(await stage.unblock({ accept })).toMatchObject({ code: 0 })
    const note = JSON.parse(overrides(stage, 'job') ?? '') as { uid?: string }
    expect(note.uid).toBe(vmOf(stage, 'job').metadata.uid)
    const { annotations, labels } = vmOf(stage, 'job').metadata
    for (const name of ['copy', 'other'])
      await stage.cluster.writer.create(VirtualMachines, {
        ...VirtualMachines,
        metadata: { name, namespace: 'demo', ...(annotations && { annotations }), ...(labels && { labels }) },
        spec: vmOf(stage, 'job').spec ?? {},
      })
    await stage.until(minute)
    const set = specOf(stage, 'copy')
    const ended = await stage.restore()
    expect(ended).toMatchObject({ code: 3, error: { reason: 'copied-note' } })
    expect(ended.text).toContain(
      'demo/copy: its annotation was copied from another VM, which had evictionStrategy LiveMigrate, runStrategy RerunOnFailure',
    )
    // Those that were lent it have it back.
    expect(['db', 'job'].map((name) => overrides(stage, name))).toEqual([undefined, undefined])
    expect((await kvup(stage, 'history')).out).toContain(
      'Temporary change: the VM that was copied to demo/copy',
    )

    // Its own loan takes the place of the note.
    edit(stage, 'other', { template: { spec: { evictionStrategy: 'LiveMigrate' } } })
    await stopInstance(stage, 'other')
    expect(await stage.unblock({ accept })).toMatchObject({ code: 0 })
    expect(JSON.parse(overrides(stage, 'other') ?? '')).toMatchObject({
      uid: vmOf(stage, 'other').metadata.uid,
      fields: [{ path: '/spec/template/spec/evictionStrategy', was: { value: 'LiveMigrate' } }],
    })

    expect(await stage.restore({ keepCurrent: true })).toMatchObject({ code: 0 })
    expect(overrides(stage, 'copy')).toBeUndefined()
    expect(specOf(stage, 'copy')).toBe(set)
  })
})
