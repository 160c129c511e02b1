import { expect, test } from 'vitest'
import { mixedVms, type VmShape } from '../../src/simulator/vm-shape.ts'
import type { MigrationsDocument } from '../../src/lib/output/views/vms/migrations.ts'
import { runText } from '../lib/run-text.ts'
import { byTag, minute, playAnew, second, type Stage } from './stage.ts'

async function kvup(stage: Stage, line: string) {
  const { cluster, clock } = stage
  return runText(line.split(' '), { cluster, clock })
}

async function commands(stage: Stage, more = ''): Promise<MigrationsDocument> {
  const { code, out } = await kvup(stage, `workloads migrations -o json${more}`)
  expect(code).toBe(0)
  return JSON.parse(out) as MigrationsDocument
}

/** Every VM is outdated, and KubeVirt was just told to migrate them. */
function updating(
  vms: readonly VmShape[] | number,
  act: (stage: Stage, none: { out: string }) => Promise<void>,
  workers = 3,
): Promise<void> {
  return playAnew({ ...byTag, workers, methods: [], vms }, async (stage) => {
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    // Before it is told to: what a command loads when it first runs takes time, in which KubeVirt would begin.
    const none = await kvup(stage, 'workloads migrations')
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
    await act(stage, none)
  })
}

/** The first look at which it holds. */
async function lookUntil(
  stage: Stage,
  holds: (document: MigrationsDocument) => boolean,
): Promise<MigrationsDocument> {
  for (let looks = 0; looks < 60; looks++) {
    const document = await commands(stage)
    if (holds(document)) return document
    await stage.until(5 * second)
  }
  throw new Error('it never held')
}

const reasonsOf = ({ items }: MigrationsDocument) =>
  new Set(items.flatMap(({ why = [] }) => why.map((one) => one.reason)))

test('none; then what runs, how fast, and what is left', async () => {
  const vms = Array.from({ length: 12 }, (_, i) => ({ name: `slow-${i + 1}`, migration: '60s' as const }))
  await updating(vms, async (stage, none) => {
    expect(none.out).toBe(
      '0 running (5 at a time, 2 from a node), 0 waiting - in history: 0 succeeded, 0 failed\n',
    )
    const { totals, limits, items, pace, left } = await lookUntil(
      stage,
      ({ totals: { succeeded, running }, items: [first] }) =>
        succeeded > 2 && running > 0 && first?.phase === 'Running',
    )
    expect(limits).toEqual({ perCluster: 5, perNode: 2 })
    expect(totals.running).toBeGreaterThan(0)
    expect(totals.running).toBeLessThanOrEqual(5)
    expect(items[0]).toMatchObject({
      state: 'running',
      phase: 'Running',
      from: expect.stringMatching(/^worker-/),
      to: expect.stringMatching(/^worker-/),
    })
    expect(pace?.perMinute).toBeGreaterThan(0)
    expect(left).toEqual({ migrations: 12 - totals.succeeded, seconds: expect.any(Number) })
    await stage.until(10 * minute)
    const { code, out } = await kvup(stage, 'workloads migrations')
    expect(code).toBe(0)
    expect(out).toMatch(
      /^0 running \(5 at a time, 2 from a node\), 0 waiting - in history: 12 succeeded, 0 failed/,
    )
  })
})

test('what the limits hold back', async () => {
  const vms = Array.from({ length: 8 }, (_, i) => ({ name: `vm-${i + 1}`, migration: 'hang' as const }))
  await updating(
    vms,
    async (stage) => {
      await stage.until(minute)
      const byNode = await commands(stage)
      expect(byNode.totals.running).toBe(4)
      expect(reasonsOf(byNode)).toEqual(new Set(['node-limit']))
      stage.edit({ configuration: { migrations: { parallelMigrationsPerCluster: 3 } } })
      await stage.until(second)
      const byBoth = await commands(stage)
      expect(byBoth.limits).toEqual({ perCluster: 3, perNode: 2 })
      expect(byBoth.items.at(-1)?.why?.map(({ reason }) => reason)).toEqual(['cluster-limit', 'node-limit'])
      const { out } = await kvup(stage, 'workloads migrations')
      expect(out).toContain('4 migrations run, and parallelMigrationsPerCluster is 3')
    },
    2,
  )
})

test('W8 a migration that fails without end is named: reason, back-off, remedy, history', async () => {
  await updating(mixedVms, async (stage) => {
    await stage.until(90 * second)
    const early = (await commands(stage)).items.find(({ vm }) => vm === 'failing')
    expect(early?.failures).toMatchObject({ again: true, endless: false })
    await stage.until(20 * minute)
    const { items, totals } = await commands(stage)
    expect(totals).toMatchObject({ failing: 1, endless: 1, succeeded: 7 })
    const failures = { inARow: 5, kept: 5, again: true, endless: true }
    expect(items[0]).toMatchObject({ vm: 'failing', failures })
    const { out } = await kvup(stage, 'workloads migrations')
    expect(out).toContain('failed 5 of 5 shown; KubeVirt retries forever: operation failed: guest CPU')
    expect(out).toContain('-> virtctl restart failing -n demo')
    await untilBackOffIsOver(stage)
    await expectHistory(stage)
  })
})

const backOff = ({ items }: MigrationsDocument) => items[0]?.why?.find(({ reason }) => reason === 'back-off')

/** The simulator keeps to the same rule (facts 3.3): nothing runs before that time, and the next one soon after it. */
async function untilBackOffIsOver(stage: Stage): Promise<void> {
  const waiting = await lookUntil(stage, (document) => backOff(document) !== undefined)
  const [why, { takenAt }] = [backOff(waiting), waiting]
  const left = Date.parse(why?.until ?? '') - Date.parse(takenAt)
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThanOrEqual(320 * second)
  await stage.until(left - second)
  expect((await commands(stage)).totals).toMatchObject({ running: 0, pending: 1 })
  await stage.until(3 * second)
  expect((await commands(stage)).items[0]?.why?.[0]?.reason).not.toBe('back-off')
}

async function expectHistory(stage: Stage): Promise<void> {
  const { items } = await commands(stage, ' --history')
  const over = items.filter(({ state }) => state === 'succeeded' || state === 'failed')
  expect(over.filter(({ state }) => state === 'succeeded')).toHaveLength(7)
  const failed = over.find(({ state }) => state === 'failed')
  expect(failed).toMatchObject({ vm: 'failing', reason: expect.stringContaining('guest CPU') })
  expect(await commands(stage, ' --history -n default')).toMatchObject({
    items: [],
    totals: { succeeded: 0 },
  })
}

test('a target pod that no node takes: the scheduler’s words, and when KubeVirt gives it up', async () => {
  await updating(1, async (stage) => {
    stage.simulated.faults.set({ unschedulable: '^virt-launcher-' })
    await stage.until(30 * second)
    const { items, takenAt } = await commands(stage)
    const [why] = items[0]?.why ?? []
    expect(why).toMatchObject({
      reason: 'unschedulable',
      sentence: expect.stringContaining('nodes are available'),
    })
    const left = Date.parse(why?.until ?? '') - Date.parse(takenAt)
    expect(left).toBeGreaterThan(4 * minute)
    expect(left).toBeLessThan(5 * minute)
    expect(why?.commands).toMatch(/^kubectl -n demo describe pod virt-launcher-web-1-/)
  })
})

test('a quota that leaves no room for the second pod', async () => {
  await updating(1, async (stage) => {
    stage.simulated.faults.set({ quota: 'demo' })
    await stage.until(30 * second)
    const [item] = (await commands(stage)).items
    expect(item).toMatchObject({
      state: 'pending',
      why: [{ reason: 'quota', commands: 'kubectl -n demo get resourcequotas' }],
    })
  })
})
