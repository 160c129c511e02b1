// Upgrades that stall, and the way back from each: more than 3 s of processor time.
import { expect, test } from 'vitest'
import { explanations } from '../../src/lib/checks/explanations.ts'
import { Deployments } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { CustomResourceDefinitions } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { migrate, migration } from './machines.ts'
import { byTag, minute, briefly as play, type Stage } from './stage.ts'

const twoWorkers = { ...byTag, workers: 2 } as const
const toV19 = { ...twoWorkers, version: 'v1.8.4', operator: 'v1.9.0' } as const
const vms = [{ name: 'web-1' }, { name: 'late', runStrategy: 'Manual' }] as const

/** Goes to the operator's version until nothing moves any more, because this image cannot be pulled. */
async function stuckAt(stage: Stage, to: string, unpullable: string) {
  const downgrade = `kvup upgrade --to ${stage.kubevirt.spec?.imageTag}`
  stage.simulated.faults.set({ unpullable })
  const ended = await stage.upgrade(to, { timeout: '5m' })
  expect(ended.code).toBe(4)
  expect(await stage.journal.overrides()).toHaveLength(1)
  return { ended, wayBack: downgrade }
}

/** The hold ends only when the way back is over. */
async function expectBack(stage: Stage, to: string) {
  expect(stage.kubevirt.spec).toMatchObject({ imageTag: to })
  expect(stage.methods).toEqual(['LiveMigrate'])
  expect(await stage.journal.overrides()).toEqual([])
  const given = stage.film.findLastIndex(
    ({ spec }) => !spec?.workloadUpdateStrategy?.workloadUpdateMethods?.length,
  )
  expect(stage.film[given]?.status).toMatchObject({
    observedKubeVirtVersion: to,
    targetKubeVirtVersion: to,
  })
}

/** What the plan says of each step before anything is done. */
async function undoInPlan(stage: Stage, to = 'v1.8.4'): Promise<ReadonlyMap<string, string>> {
  const { documents } = await stage.plan(to)
  const { steps } = documents[0] as unknown as { steps: { id: string; risk: { undo: string } }[] }
  return new Map(steps.map(({ id, risk }) => [id, risk.undo]))
}

test.each([
  ['virt-handler', 0],
  ['virt-api', 3],
] as const)('U4 the way back that the plan names for %s is done when it is typed', async (step, without) => {
  await play(twoWorkers, async (stage) => {
    const undo = (await undoInPlan(stage)).get(step) ?? ''
    await stuckAt(stage, 'v1.8.4', `/${step}:v1\\.8\\.4$`)
    stage.simulated.faults.set({ unpullable: undefined, stopped: true })
    const [, to = '', risks = ''] = /^kvup upgrade --to (\S+)((?: --accept \S+)*)$/u.exec(undo) ?? []
    const accept = risks.split(' --accept ').slice(1)
    expect(await stage.upgrade(to, { until: 'set-image-tag' })).toMatchObject({ code: without })
    expect(await stage.upgrade(to, { until: 'set-image-tag', accept })).toMatchObject({ code: 0 })
    expect(stage.kubevirt.spec).toMatchObject({ imageTag: 'v1.7.0' })
  })
})

test('U4 only virt-handler was replaced: a warning, and the hold stays until the way back is settled', async () => {
  await play(twoWorkers, async (stage) => {
    const { ended, wayBack: downgrade } = await stuckAt(stage, 'v1.8.4', '/virt-handler:v1\\.8\\.4$')
    expect(ended.text).toContain(downgrade)
    const crds = 'virt-operator then deletes the CRDs that v1.7.0 does not have, with all their objects'
    expect(ended.error?.notes).toContain(`going back to v1.7.0: ${crds}`)
    stage.simulated.faults.set({ unpullable: undefined, stopped: true })
    const back = await goBack(stage, 'v1.7.0')
    expect(back).toMatchObject({ code: 0 })
    expect(back.text).toContain(crds)
    expect(back.text).toContain('virt-handler is new on some nodes')
    await expectBack(stage, 'v1.7.0')
  })
})

/** The way back is asked for while the operator stands still: it would finish the update meanwhile. */
async function goBack(stage: Stage, to: string, accept: string[] = []) {
  stage.later(5000, () => stage.simulated.faults.set({ stopped: undefined }))
  return stage.upgrade(to, { method: 'image-tag', accept })
}

test('U4 virt-controller is new: VMIs on the new launcher are listed, and it is asked for by name', async () => {
  await play({ ...twoWorkers, vms }, async (stage) => {
    // virt-api follows at once (recording operator-v1.8.4-v1.9.0) but for an operator that hangs.
    const stop = stage.simulated.store.watch(Deployments, ({ object }) => {
      if (
        object.metadata.name === 'virt-controller' &&
        JSON.stringify(object).includes('virt-launcher:v1.8.4')
      )
        stage.simulated.faults.set({ stopped: true })
    })
    const { ended, wayBack: downgrade } = await stuckAt(stage, 'v1.8.4', 'nothing')
    stop()
    expect(ended.text).not.toContain(downgrade)
    await stage.start('late')
    const refused = await stage.upgrade('v1.7.0')
    expect(refused).toMatchObject({ code: 3, error: { reason: 'way-back' } })
    expect(refused.error?.object).toContain('demo/late')
    expect(refused.error?.object).not.toContain('demo/web-1')
    expect(refused.text).toContain('--accept way-back')
    stage.simulated.faults.set({ unpullable: undefined, stopped: true })
    expect(await goBack(stage, 'v1.7.0', ['way-back'])).toMatchObject({ code: 0 })
    await expectBack(stage, 'v1.7.0')
  })
})

test.each([
  ['virt-handler', '/virt-handler:v1\\.9\\.0$'],
  ['virt-api', '/virt-api:v1\\.9\\.0$'],
])(
  'U4 the CRDs went ahead: whichever component it got to (%s), there is no way back, and none is promised',
  async (step, image) => {
    await play(toV19, async (stage) => {
      const undo = await undoInPlan(stage, 'v1.9.0')
      expect(undo.get('set-image-tag')).toBe('kvup upgrade --to v1.8.4')
      expect(undo.get('install-strategy')).toMatch(
        /^kvup upgrade --to v1\.8\.4 {5}until the CRDs are replaced: /u,
      )
      expect(undo.get(step)).toBe(
        'none: the CRDs of v1.9.0 store export.kubevirt.io as v1, which v1.8.4 does not have',
      )
      const { ended } = await stuckAt(stage, 'v1.9.0', image)
      expect(ended.text).not.toContain('goes back')
      const mark = stage.mark
      const back = await stage.upgrade('v1.8.4', { accept: ['way-back', 'downgrade'] })
      expect(back).toMatchObject({ code: 3, error: { reason: 'no-way-back' } })
      expect(back.text).not.toContain('--accept')
      expect(await stage.plan('v1.8.4')).toMatchObject({ code: 3, error: { reason: 'no-way-back' } })
      expect(stage.writes(mark)).toEqual([])
    })
  },
)

test('U4 before the CRDs are replaced the way back from v1.9 is free', async () => {
  await play(toV19, async (stage) => {
    await stuckAt(stage, 'v1.9.0', '/virt-operator:v1\\.9\\.0$')
    stage.simulated.faults.set({ unpullable: undefined, stopped: true })
    expect(await goBack(stage, 'v1.8.4')).toMatchObject({ code: 0 })
    await expectBack(stage, 'v1.8.4')
  })
})

test('U4 a CRD without objects can be made to forget what it stores, as kvup explain says, and the way is open again', async () => {
  await play(toV19, async (stage) => {
    await stuckAt(stage, 'v1.9.0', '/virt-handler:v1\\.9\\.0$')
    const refused = await stage.upgrade('v1.8.4')
    expect(refused.error?.remedy.at(-1)).toMatch(/^kvup explain no-way-back {3,}/u)
    // No line patches a status: the page says in a sentence what a person can do.
    const name = 'virtualmachineexports.export.kubevirt.io'
    expect(explanations.find(({ id }) => id === refused.error?.reason)?.fix).toContain(`get ${name} -A`)
    const change = { status: { storedVersions: ['v1beta1'] } }
    await stage.cluster.writer.mergePatch(CustomResourceDefinitions, { name }, change, 'status')
    stage.simulated.faults.set({ unpullable: undefined, stopped: true })
    expect(await goBack(stage, 'v1.8.4')).toMatchObject({ code: 0 })
    await expectBack(stage, 'v1.8.4')
  })
})

test('U4 a tag that somebody set back by hand hangs as on a real API server, and forward is the way out', async () => {
  await play(toV19, async (stage) => {
    await stuckAt(stage, 'v1.9.0', '/virt-handler:v1\\.9\\.0$')
    stage.simulated.faults.set({ unpullable: undefined, stopped: true })
    stage.edit({ imageTag: 'v1.8.4' })
    stage.simulated.faults.set({ stopped: undefined })
    await stage.until(5 * minute)
    const failed = stage.kubevirt.status?.conditions?.find(({ reason }) => reason === 'DeploymentFailed')
    expect(failed?.message).toMatch(
      /status\.storedVersions\[1\]: Invalid value: "v1": missing from spec\.versions/u,
    )
    const back = await stage.upgrade('v1.8.4')
    expect(back).toMatchObject({ code: 3, error: { reason: 'no-way-back' } })
    const [forward = ''] = back.error?.remedy ?? []
    const [, to] = /^kvup upgrade --to (\S+) {3,}/u.exec(forward) ?? []
    expect(await stage.upgrade(to)).toMatchObject({ code: 0 })
    await expectBack(stage, 'v1.9.0')
  })
})

test('U4 done, and the CRDs went ahead: not even a downgrade that is accepted', async () => {
  await play(toV19, async (stage) => {
    expect(await stage.upgrade('v1.9.0')).toMatchObject({ code: 0 })
    const mark = stage.mark
    const refused = await stage.upgrade('v1.8.4', { accept: ['downgrade'] })
    expect(refused).toMatchObject({ code: 3, error: { reason: 'no-way-back' } })
    expect(refused.error?.remedy[0]).toBe('Keep v1.9.0, or upgrade to a newer patch of v1.9')
    const checked = await stage.check('v1.8.4')
    expect(checked.code).toBe(3)
    expect(JSON.stringify(checked.documents)).toContain('"no-way-back"')
    expect(stage.writes(mark)).toEqual([])
  })
})

test('U4 the way back rolls virt-handler again: migrations in flight are not left to it (U1)', async () => {
  const hanging = [{ name: 'web-1', migration: 'hang' }] as const
  await play({ ...twoWorkers, vms: hanging }, async (stage) => {
    await stuckAt(stage, 'v1.8.4', '/virt-handler:v1\\.8\\.4$')
    await migrate(stage, 'web-1')
    stage.simulated.faults.set({ unpullable: undefined, stopped: true })
    stage.later(5000, () => stage.simulated.faults.set({ stopped: undefined }))
    const back = await stage.upgrade('v1.7.0', { method: 'image-tag', migrations: 'cancel' })
    expect(back).toMatchObject({ code: 0 })
    expect(migration(stage, 'move-web-1')).toBeUndefined()
  })
})
