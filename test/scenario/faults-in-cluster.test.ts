import { expect, test } from 'vitest'
import { type Event, Events } from '../../src/lib/kube/kinds/core-kinds.ts'
import { DaemonSets } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { byManifest, byTag, minute, briefly as play, second, type Stage } from './stage.ts'

const shape = { ...byTag, workers: 2 } as const

test('a fault that heals while it is waited for is waited for', async () => {
  await play(shape, async (stage) => {
    stage.later(second, () => stage.simulated.faults.set({ withoutRights: true }))
    stage.later(4 * minute, () => stage.simulated.faults.set({ withoutRights: undefined }))
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

/** When kvup first spoke of it, ms after the pull failed first. */
function namedAfter(stage: Stage, ended: Awaited<ReturnType<Stage['upgrade']>>, what: RegExp): number {
  const said = ended.events.find((e) => e.kind === 'step-waiting' && what.test(JSON.stringify(e.state)))
  const pulls = stage.simulated.store
    .everything()
    .filter((o) => o.kind === 'Event' && /Failed to pull/.test(JSON.stringify(o)))
  const first = Math.min(...pulls.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '')))
  return Date.parse(said?.at ?? '') - first
}

test('a wrong tag: image and pod are named within 30 s of the failed pull, the way back at the end', async () => {
  await play({ ...byTag, version: 'v1.8.4' }, async (stage) => {
    stage.simulated.faults.set({ unpullable: ':v1\\.8\\.5$' })
    const ended = await stage.upgrade('v1.8.5', {
      method: 'image-tag',
      timeout: '3m',
      accept: ['release-unknown'],
    })
    expect(ended.code).toBe(4)
    expect(namedAfter(stage, ended, /virt-operator:v1\.8\.5/)).toBeLessThan(30 * second)
    expect(ended.text).toContain('kvup upgrade --to v1.8.4')
    const handler = stage.simulated.store.read(DaemonSets, { name: 'virt-handler', namespace: 'kubevirt' })
    expect(JSON.stringify(handler)).not.toContain('v1.8.5')
  })
})

const revertsMethods = {
  is: 'reverts',
  resource: 'kubevirts',
  path: ['spec', 'workloadUpdateStrategy', 'workloadUpdateMethods'],
  value: ['LiveMigrate'],
  afterMs: 2 * second,
  by: 'argocd-controller',
} as const

test('somebody who sets the methods back while they are held is named: exit 3', async () => {
  await play(byTag, async (stage) => {
    stage.api.add(revertsMethods)
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 3 })
    expect(ended.text).toContain('argocd-controller')
    expect(ended.took).toBeLessThan(30 * second)
    expect(await stage.journal.overrides()).toHaveLength(1)
  })
})

test('somebody who puts the old operator back is named: exit 3', async () => {
  await play(byManifest, async (stage) => {
    const before = stage.simulated.operatorManifest('v1.8.4').find(({ kind }) => kind === 'Deployment')
    const { template } = (before as unknown as { spec: { template: object } }).spec
    stage.api.add({
      is: 'reverts',
      resource: 'deployments',
      name: 'virt-operator',
      path: ['spec', 'template', 'spec'],
      value: (template as { spec: object }).spec,
      afterMs: 5 * second,
      by: 'helm-controller',
      times: 1,
    })
    const ended = await stage.upgrade('v1.9.0')
    expect(ended).toMatchObject({ code: 3, error: { reason: 'undone' } })
    expect(ended.text).toContain('helm-controller')
    expect(await stage.journal.overrides()).toHaveLength(1)
  })
})

const webhookDown = {
  is: 'webhook-down',
  resource: 'kubevirts',
  operations: ['UPDATE'],
  webhook: 'kubevirt-update-validator.kubevirt.io',
  service: 'kubevirt-operator-webhook.kubevirt',
} as const

test('a webhook that is down for a while is waited for', async () => {
  await play(byTag, async (stage) => {
    const lift = stage.api.add(webhookDown)
    stage.later(40 * second, lift)
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.code).toBe(0)
    expect(ended.text).toContain('failed calling webhook')
  })
})

test('once a pod that a webhook refused could be made, the event of before is not told any more', async () => {
  await play(byTag, async (stage) => {
    const lift = stage.api.add({
      is: 'webhook-refuses',
      resource: 'pods',
      webhook: 'policy.example.com',
      message: 'no pods today',
      operations: ['CREATE'],
    })
    stage.later(minute, lift)
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 0 })
    const events: readonly Event[] = stage.simulated.store.list(Events).items
    expect(events.map(({ reason }) => reason)).toContain('FailedCreate')
    const said = ended.events.findLast((e) => JSON.stringify(e).includes('cannot be created'))
    expect(said?.after).toBeLessThan(1.5 * minute)
  })
})
