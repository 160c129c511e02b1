import { expect, test } from 'vitest'
import { instance, migrate, migration, touchInstance } from './machines.ts'
import { byTag, minute, playAnew, type Stage } from './stage.ts'

const web = [{ name: 'web-1' }] as const
const slow = [{ name: 'web-1', migration: '60s' }] as const
const hanging = [{ name: 'web-1', migration: 'hang' }] as const

/** When the tag of the CR first said so. */
const tagSetAt = ({ film }: Stage, tag: string) => film.find(({ spec }) => spec?.imageTag === tag)?.at

test('U1 waits for a migration that somebody else made, after the hold and before the roll', async () => {
  await playAnew({ ...byTag, workers: 2, vms: slow }, async (stage) => {
    await migrate(stage, 'web-1')
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.code).toBe(0)
    const waited = ended.events.find((e) => e.kind === 'step-waiting' && e.step.id === 'migrations-in-flight')
    expect(waited).toMatchObject({ state: { on: expect.stringContaining('demo/web-1') } })
    const times = migration(stage, 'move-web-1')?.status?.phaseTransitionTimestamps ?? []
    const over = times.find(({ phase }) => phase === 'Succeeded')?.phaseTransitionTimestamp ?? ''
    expect(Date.parse(over)).toBeGreaterThan(0)
    expect(tagSetAt(stage, 'v1.8.4')).toBeGreaterThanOrEqual(Date.parse(over))
    const held = stage.film.find(
      ({ spec }) => spec?.workloadUpdateStrategy?.workloadUpdateMethods?.length === 0,
    )
    expect(held?.at).toBeLessThan(Date.parse(over))
  })
})

test('U1 --migrations cancel deletes what is in flight and goes on', async () => {
  await playAnew({ ...byTag, vms: hanging }, async (stage) => {
    await migrate(stage, 'web-1')
    await stage.until(10_000)
    expect(await stage.upgrade('v1.8.4', { migrations: 'cancel' })).toMatchObject({ code: 0 })
    expect(migration(stage, 'move-web-1')).toBeUndefined()
    expect(instance(stage, 'web-1')?.status?.phase).toBe('Running')
  })
})

test('U1 --migrations ignore does not wait', async () => {
  await playAnew({ ...byTag, vms: hanging }, async (stage) => {
    await migrate(stage, 'web-1')
    const ended = await stage.upgrade('v1.8.4', { migrations: 'ignore' })
    expect(ended.code).toBe(0)
    expect(ended.events.some((e) => 'step' in e && e.step.id === 'migrations-in-flight')).toBe(false)
  })
})

test('U1 has a limit of its own: exit 4, nothing rolled, the hold stays', async () => {
  await playAnew({ ...byTag, vms: hanging }, async (stage) => {
    await migrate(stage, 'web-1')
    const ended = await stage.upgrade('v1.8.4', { migrationsTimeout: '2m' })
    expect(ended).toMatchObject({ code: 4, took: 2 * minute })
    expect(ended.text).toContain('demo/web-1')
    expect(ended.text).toContain('kvup workloads resume-updates')
    expect(tagSetAt(stage, 'v1.8.4')).toBeUndefined()
    expect(await stage.journal.overrides()).toHaveLength(1)
  })
})

test('U1 new migrations during the roll are counted, the failed named with the line that repeats them', async () => {
  const vms = [{ name: 'web-1' }, { name: 'weak', migration: 'fail' }] as const
  await playAnew({ ...byTag, workers: 2, vms }, async (stage) => {
    stage.later(2000, () => void migrate(stage, 'weak'))
    stage.later(2000, () => void migrate(stage, 'web-1'))
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.documents[0]).toMatchObject({
      migrations: { began: 2, failed: 1 },
      differences: { failedMigrations: ['demo/weak'] },
    })
    expect(ended.text).toContain('1 of 2 migrations failed meanwhile')
    expect(ended.text).toContain('virtctl migrate weak -n demo')
  })
})

test('U1 does not start while a node is drained: exit 3, nothing written; accepted by name it does', async () => {
  await playAnew({ ...byTag, vms: web }, async (stage) => {
    touchInstance(stage, 'web-1', { evacuationNodeName: 'worker-1' })
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 3, error: { reason: 'node-drained' } })
    expect(ended.text).toContain('demo/web-1')
    expect(stage.writes()).toEqual([])
    expect(await stage.upgrade('v1.8.4', { accept: ['node-drained'] })).toMatchObject({ code: 0 })
  })
})
