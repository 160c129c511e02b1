import { describe, expect, test } from 'vitest'
import { isWrite } from '../../src/lib/simulator/api/audit.ts'
import { byManifest, byTag, play, type Stage } from './stage.ts'

const lifted = { ...byTag, version: 'v1.8.4', operator: 'v1.8.4' } as const
const cases = [
  { name: 'image tag', shape: byTag, to: 'v1.8.4' },
  { name: 'operator manifest', shape: byManifest, to: 'v1.9.0' },
  { name: 'operator manifest over a tag', shape: lifted, to: 'v1.9.0' },
] as const

/** What kvup asked the server to change, kept or not. */
const attempts = (stage: Stage) =>
  stage.requests().filter((record) => isWrite({ ...record, dryRun: false }) || record.dryRun)

interface Plan {
  kind: string
  steps: { id: string; state: string; dependsOn?: string }[]
}

describe.for(cases)('manner 33: contract: --dry-run, $name', ({ shape, to }) => {
  test('client writes nothing and asks for no change', async () => {
    await play(shape, async (stage) => {
      expect(await stage.upgrade(to, { dryRun: 'client' })).toMatchObject({ code: 0 })
      expect(attempts(stage)).toEqual([])
      expect(stage.holder).toBeUndefined()
    })
  })

  test('server only asks for dry runs: no journal, no lock', async () => {
    await play(shape, async (stage) => {
      const ended = await stage.upgrade(to, { dryRun: 'server' })
      expect(ended).toMatchObject({ code: 0 })
      const asked = attempts(stage)
      expect(asked).not.toHaveLength(0)
      expect(asked.filter(({ dryRun }) => !dryRun)).toEqual([])
      expect(asked.map(({ resource }) => resource)).not.toContain('leases')
      expect(asked.map(({ resource }) => resource)).not.toContain('configmaps')
      expect(await stage.journal.entries()).toEqual([])
    })
  })

  test('the answer is the plan: what would change, what is so, what depends on which step', async () => {
    await play(shape, async (stage) => {
      const ended = await stage.upgrade(to, { dryRun: 'server' })
      expect(ended.documents).toHaveLength(1)
      const plan = ended.documents[0] as unknown as Plan
      expect(plan.kind).toBe('UpgradePlan')
      const states = Object.fromEntries(plan.steps.map(({ id, state }) => [id, state]))
      expect(states).toMatchObject({
        'hold-workload-updates': 'would-change',
        'give-back-workload-updates': 'depends',
        'virt-handler': 'depends',
      })
      const ids = plan.steps.map(({ id }) => id)
      expect(ids).toEqual(expect.arrayContaining(plan.steps.flatMap(({ dependsOn = [] }) => dependsOn)))
      expect(plan.steps.some(({ state }) => state === 'refused')).toBe(false)
    })
  })

  test('afterwards everything is so already', async () => {
    await play(shape, async (stage) => {
      expect(await stage.upgrade(to)).toMatchObject({ code: 0 })
      const plan = (await stage.upgrade(to, { dryRun: 'server' })).documents[0] as unknown as Plan
      expect(new Set(plan.steps.map(({ state }) => state))).toEqual(new Set(['already-so']))
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
