import { expect, test } from 'vitest'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { byTag, briefly as play, second, type Stage } from './stage.ts'

const noteKey = 'kvup.io/saved-workload-updates'

const methods = (workloadUpdateMethods: string[]) => ({ workloadUpdateStrategy: { workloadUpdateMethods } })

/** Ends by itself when this step begins to be waited for. */
async function cutAt(stage: Stage, ms: number, to = 'v1.8.4') {
  const stop = new AbortController()
  stage.later(ms, () => stop.abort(interrupted('SIGINT')))
  return stage.upgrade(to, {}, { signal: stop.signal, commandLine: `kvup upgrade --to ${to} --yes` })
}

test('contract: after Ctrl-C it stays open, with its age and both lines; the first value wins, whoever resumes', async () => {
  await play(byTag, async (stage) => {
    const ended = await cutAt(stage, 20 * second)
    expect(ended.code).toBe(130)
    expect(stage.methods).toEqual([])
    expect(ended.text).toContain('paused 20 s ago: automatic VM updates (was LiveMigrate); VMs run on')
    expect(ended.text).toContain('kvup upgrade --to v1.8.4 --yes')
    expect(ended.text).toContain('kvup workloads resume-updates')
    const [first] = await stage.journal.overrides()
    expect(first?.was).toEqual({ present: true, value: ['LiveMigrate'] })
    expect(await stage.upgrade('v1.8.4', {}, { host: 'another-laptop' })).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
    const overrides = (await stage.journal.entries()).filter(({ what }) => what === 'saved')
    expect(overrides).toHaveLength(1)
  })
})

test('contract: methods that are absent are not borrowed and stay absent', async () => {
  const { methods: _, ...shape } = byTag
  await play(shape, async (stage) => {
    const before = stage.kubevirt.spec?.workloadUpdateStrategy
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    expect(stage.kubevirt.spec?.workloadUpdateStrategy).toEqual(before)
    expect((await stage.journal.entries()).some(({ what }) => what === 'saved')).toBe(false)
  })
})

test('contract: the loan is older than the write, and is closed only after the give-back was read back', async () => {
  await play(byTag, async (stage) => {
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    const story = stage.writes().filter(({ resource }) => resource !== 'leases')
    const patches = story.flatMap(({ resource }, i) => (resource === 'kubevirts' ? [i] : []))
    const entries = await stage.journal.entries()
    const said = entries.map(({ what, step }) => `${what} ${step}`)
    expect(said.indexOf('borrowed workload-updates')).toBeLessThan(
      said.indexOf('applied pause-workload-updates'),
    )
    expect(said.indexOf('restored workload-updates')).toBeLessThan(
      said.indexOf('applied resume-workload-updates'),
    )
    // started, intends and borrowed come before the first write to the CR.
    expect(patches[0]).toBeGreaterThanOrEqual(3)
  })
})

test('contract: --no-pause-updates borrows nothing', async () => {
  await play(byTag, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { pauseUpdates: false })).toMatchObject({ code: 0 })
    expect(
      stage.film.every(({ spec }) => spec?.workloadUpdateStrategy?.workloadUpdateMethods?.length === 1),
    ).toBe(true)
  })
})

test('contract: a foreign hold is never filled in', async () => {
  await play({ ...byTag, methods: [] }, async (stage) => {
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual([])
    const restored = await stage.restore()
    expect(restored).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-restore' }] })
    expect(restored.text).toContain('kvup did not turn them off')
    expect(stage.methods).toEqual([])
  })
})

test('contract: --leave-paused ends before it; restore from another laptop gives back what the object itself says, a second one writes nothing', async () => {
  await play({ ...byTag, vms: 1 }, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', { leavePaused: true })
    expect(ended).toMatchObject({ code: 0, documents: [{ workloads: { paused: true } }] })
    expect(stage.methods).toEqual([])
    expect(await stage.journal.overrides()).toHaveLength(1)
    const mark = stage.mark
    expect(await stage.restore({}, { host: 'another-laptop' })).toMatchObject({
      code: 0,
      documents: [{ outcome: 'restored', methods: ['LiveMigrate'] }],
    })
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
    const again = stage.mark
    expect(stage.writes(mark)).not.toHaveLength(0)
    expect(await stage.restore({}, { host: 'another-laptop' })).toMatchObject({
      code: 0,
      documents: [{ outcome: 'nothing-to-restore' }],
    })
    expect(stage.writes(again)).toEqual([])
  })
})

test('contract: restore does not give back while the control plane moves', async () => {
  await play(byTag, async (stage) => {
    stage.simulated.faults.set({ unpullable: '/virt-controller:v1\\.8\\.4$' })
    await stage.upgrade('v1.8.4', { timeout: '3m' })
    expect(await stage.restore({ timeout: '2m' })).toMatchObject({ code: 4 })
    expect(stage.methods).toEqual([])
    expect(await stage.journal.overrides()).toHaveLength(1)
    stage.simulated.faults.set({ unpullable: undefined })
    expect(await stage.restore()).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
  })
})

test('contract: somebody who sets the methods while they are held stops the run, and nothing is overwritten', async () => {
  await play(byTag, async (stage) => {
    await cutAt(stage, 20 * second)
    stage.edit(methods(['Evict']), 'kubectl-edit')
    const ended = await stage.upgrade('v1.8.4', { accept: ['evictions'] })
    expect(ended).toMatchObject({ code: 3 })
    expect(ended.text).toContain('Evict')
    expect(stage.methods).toEqual(['Evict'])
  })
})

test('contract: giving Evict back is accepted by name, with the VMs that it hits, by restore and by the upgrade that goes on', async () => {
  const vms = [{ name: 'pet', evictionStrategy: 'None', notMigratable: 'DisksNotLiveMigratable' }]
  await play({ ...byTag, methods: ['LiveMigrate', 'Evict'], vms }, async (stage) => {
    await stage.upgrade('v1.8.4', { leavePaused: true })
    const refused = await stage.restore()
    expect(refused).toMatchObject({ code: 3, error: { reason: 'evictions' } })
    expect(refused.text).toContain('demo/pet')
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 3, error: { reason: 'evictions' } })
    expect(stage.methods).toEqual([])
    expect(await stage.restore({ accept: ['evictions'] })).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate', 'Evict'])
  })
})

test('contract: restore in the middle of an update counts every VM, for none is labelled outdated yet', async () => {
  const vms = [{ name: 'pet', evictionStrategy: 'None', notMigratable: 'DisksNotLiveMigratable' }]
  await play({ ...byTag, methods: ['LiveMigrate', 'Evict'], vms }, async (stage) => {
    const stop = new AbortController()
    stage.later(5 * second, () => stop.abort(interrupted('SIGTERM')))
    const ended = await stage.upgrade('v1.8.4', { accept: ['evictions'] }, { signal: stop.signal })
    expect(ended.code).toBe(143)
    expect(await stage.restore()).toMatchObject({ code: 3, error: { reason: 'evictions' } })
  })
})

test('contract: what makes VMs move says the forecast before the question', async () => {
  await play({ ...byTag, vms: 3, workers: 2 }, async (stage) => {
    const asked = await stage.upgrade('v1.8.4', {}, { answer: async () => false })
    expect(asked.text).toContain('migrates 3')
    await stage.upgrade('v1.8.4', { leavePaused: true })
    const restored = await stage.restore({}, { answer: async () => false })
    expect(restored).toMatchObject({ code: 3 })
    expect(restored.text).toContain('migrates 3')
  })
})

test('contract: the journal that cannot be written: nothing is changed', async () => {
  await play(byTag, async (stage) => {
    stage.api.add({ is: 'webhook-refuses', resource: 'configmaps', webhook: 'no.example', message: 'no' })
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.code).toBe(3)
    expect(stage.writes().filter(({ resource }) => resource !== 'leases')).toEqual([])
  })
})

/** As after a backup was played in, or KubeVirt was deleted and created again from a copy, with the methods emptied as they were then. */
async function heldOnAnEarlierKubevirt(stage: Stage): Promise<void> {
  await stage.upgrade('v1.8.4', { leavePaused: true })
  const { uid = '', annotations = {} } = stage.kubevirt.metadata
  const note = annotations[noteKey]?.replace(uid, 'the-one-before')
  if (note === undefined) throw new Error('nothing is borrowed')
  stage.label({ annotations: { [noteKey]: note } })
}

test.each([
  [{ overwrite: true }, ['LiveMigrate']],
  [{ keepCurrent: true }, []],
])(
  'contract: the value of a KubeVirt that was replaced is named, and a person decides: %j',
  (how, methodsThen) =>
    play(byTag, async (stage) => {
      await heldOnAnEarlierKubevirt(stage)
      const asked = await stage.restore()
      expect(asked).toMatchObject({ code: 3, error: { reason: 'kubevirt-replaced' } })
      expect(asked.text).toMatch(/was LiveMigrate[\s\S]*--overwrite[\s\S]*--keep-current/)
      expect(stage.methods).toEqual([])
      expect(await stage.restore(how)).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(methodsThen)
      expect(await stage.journal.overrides()).toEqual([])
    }),
)
