import { describe, expect, test } from 'vitest'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { byManifest, byTag, briefly as play, type Stage } from './stage.ts'

const lifted = { ...byTag, version: 'v1.8.4', operator: 'v1.8.4' } as const
const cases = [
  { name: 'image tag', shape: byTag, to: 'v1.8.4' },
  { name: 'operator manifest', shape: byManifest, to: 'v1.9.0' },
  { name: 'operator manifest over a tag', shape: lifted, to: 'v1.9.0' },
] as const

/** What kvup asked the server to change, kept or not. */
const attempts = (stage: Stage) =>
  stage.requests().filter((record) => isWrite({ ...record, dryRun: false }) || record.dryRun)

interface Change {
  object: { kind: string; name: string }
  is: string
  fields: { path: string; from?: unknown; to?: unknown }[]
  by: string
}

interface Plan {
  kind: string
  steps: { id: string; state: string; dependsOn?: string; changes?: Change[]; overrides?: object[] }[]
}

const planOf = async (stage: Stage, to: string, dryRun: string) =>
  (await stage.upgrade(to, { dryRun, stableFor: '5s' })).documents[0] as unknown as Plan

/** Whoever worked it out, in whichever order. */
const told = (changes: Change[] = []) =>
  changes.map(({ object, is, fields }) => ({ object, is, fields: fields.toSorted(byPath) }))
const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1)

const diff = ({ steps }: Plan) => steps.map(({ id, changes }) => [id, told(changes)])

describe.for(cases)('manner 33: contract: --dry-run, $name', ({ shape, to }) => {
  test('client asks for no change, server for dry runs alone, both show one plan; afterwards all is so already', async () => {
    await play(shape, async (stage) => {
      const here = await planOf(stage, to, 'client')
      expect(attempts(stage)).toEqual([])
      expect(stage.holder).toBeUndefined()
      const there = await planOf(stage, to, 'server')
      const asked = attempts(stage)
      expect(asked).not.toHaveLength(0)
      expect(asked.filter(({ dryRun }) => !dryRun)).toEqual([])
      expect(asked.map(({ resource }) => resource)).not.toContain('leases')
      expect(asked.map(({ resource }) => resource)).not.toContain('configmaps')
      expect(await stage.journal.entries()).toEqual([])

      expect(there.kind).toBe('UpgradePlan')
      const states = Object.fromEntries(there.steps.map(({ id, state }) => [id, state]))
      expect(states).toMatchObject({
        'pause-workload-updates': 'would-change',
        'resume-workload-updates': 'depends',
        'virt-handler': 'depends',
      })
      const ids = there.steps.map(({ id }) => id)
      expect(ids).toEqual(expect.arrayContaining(there.steps.flatMap(({ dependsOn = [] }) => dependsOn)))
      expect(there.steps.some(({ state }) => state === 'refused')).toBe(false)

      expect(diff(there)).toEqual(diff(here))
      const hold = there.steps.find(({ id }) => id === 'pause-workload-updates')
      expect(hold?.changes).toEqual([
        {
          object: { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', namespace: 'kubevirt', name: 'kubevirt' },
          is: 'changed',
          fields: [
            { path: 'spec.workloadUpdateStrategy.workloadUpdateMethods', from: ['LiveMigrate'], to: [] },
          ],
          by: 'server',
        },
      ])
      expect(hold?.overrides).toMatchObject([{ restoredBy: 'resume-workload-updates' }])
      const changes = there.steps.flatMap((step) => step.changes ?? [])
      const changed = changes.map(({ object }) => object.kind)
      expect(changed).not.toContain('ConfigMap')
      expect(changed).not.toContain('Lease')
      expect(changes.flatMap(({ fields }) => fields.map((field) => field.to))).toContain(to)

      expect(await stage.upgrade(to, { stableFor: '5s' })).toMatchObject({ code: 0 })
      const after = await planOf(stage, to, 'server')
      expect(new Set(after.steps.map(({ state }) => state))).toEqual(new Set(['already-so']))
    })
  })
})

test('contract: --dry-run=none is no dry run, anything else than client and server is exit 2', async () => {
  await play(byTag, async (stage) => {
    for (const dryRun of ['', 'true', 'all'])
      expect(await stage.upgrade('v1.8.4', { dryRun })).toMatchObject({ code: 2 })
    expect(stage.requests()).toEqual([])
    expect(await stage.upgrade('v1.8.4', { dryRun: 'none' })).toMatchObject({ code: 0 })
  })
})

test('contract: a dry run shows the plan even where a finding blocks, and exits 3', async () => {
  await play({ ...byTag, operator: 'v1.7.0' }, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', { method: 'image-tag', dryRun: 'server' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'operator-not-older' } })
    expect(ended.documents[0]).toMatchObject({ kind: 'UpgradePlan' })
  })
})

test('contract: a borrowed value that only has to be given back has a dry run', async () => {
  await play(byTag, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { leavePaused: true })).toMatchObject({ code: 0 })
    for (const dryRun of ['client', 'server']) {
      const { steps } = await planOf(stage, 'v1.8.4', dryRun)
      const back = steps.find(({ id }) => id === 'resume-workload-updates')
      expect(back).toMatchObject({ state: 'would-change' })
      expect(back).not.toHaveProperty('refused')
      expect(back?.changes?.[0]?.fields).toMatchObject([{ from: [], to: ['LiveMigrate'] }])
    }
  })
})

test('contract: what the server would refuse is shown at its step', async () => {
  await play(byTag, async (stage) => {
    stage.api.add({
      is: 'webhook-refuses',
      resource: 'kubevirts',
      webhook: 'kubevirt-update-validator.kubevirt.io',
      message: 'not on Fridays',
    })
    const ended = await stage.upgrade('v1.8.4', { dryRun: 'server' })
    expect(JSON.stringify(ended.documents[0])).toContain('not on Fridays')
    expect(attempts(stage).filter(({ dryRun }) => !dryRun)).toEqual([])
  })
})
