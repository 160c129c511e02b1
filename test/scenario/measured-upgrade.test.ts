import { expect, test } from 'vitest'
import { history } from '../../src/commands/history.ts'
import type { HistoryDocument } from '../../src/lib/output/views/history.ts'
import { creates, availabilityOf, probeOf, virtApiAway, withVms } from './measured-stage.ts'
import { playAnew, second } from './stage.ts'
import { outdated } from './updates.ts'

const rateOf = ({ calls, seconds }: { calls: number; seconds: number }) => calls / (seconds / 60)

test('a measured upgrade confirms the promise, makes the calls that it states, and creates nothing', async () => {
  await playAnew(withVms, async (stage) => {
    const since = stage.mark
    const ended = await stage.upgrade('v1.8.4', { measure: true })
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.lines.at(-1)).toBe('+ API available throughout; 0 of 2 VMs interrupted')
    const measured = availabilityOf(ended)
    expect(measured.promise.is).toBe('kept')
    expect(measured.callsPerMinute).toBe(300)
    expect(rateOf(measured)).toBeGreaterThan(300 * 0.95)
    expect(rateOf(measured)).toBeLessThan(300 * 1.05)
    expect(creates(stage, since).length).toBeGreaterThan(50)
    expect(creates(stage, since).filter(({ dryRun }) => !dryRun)).toEqual([])
  })
})

test('the seconds without virt-api are told, with when and what was rolling; the journal and kvup history keep them', async () => {
  await playAnew(withVms, async (stage) => {
    virtApiAway(stage, 10 * second, 10 * second)
    const ended = await stage.upgrade('v1.8.4', { measure: true }, { cluster: stage.shaky })
    expect(ended).toMatchObject({ code: 0 })
    const measured = availabilityOf(ended)
    const api = probeOf(measured, 'api')
    expect(api.unavailableSeconds).toBeGreaterThan(9)
    expect(api.unavailableSeconds).toBeLessThan(11)
    expect(api.outages[0]?.rolling).toContain('virt-handler')
    expect(probeOf(measured, 'create')).toMatchObject({ count: 1, unavailableSeconds: 10 })
    expect(probeOf(measured, 'list').count).toBe(0)
    expect(measured.promise).toMatchObject({ is: 'broken' })
    expect(ended.text).toMatch(/! API unavailable for 10(\.\d)? s; 0 of 2 VMs interrupted/u)
    expect(ended.text).toMatch(
      /create +10 s: 00:00:\d\d to 00:00:\d\d, while virt-controller, virt-handler rolled/u,
    )

    const told = await stage.perform(async (cx) => {
      await history(cx, {}, '1')
      return 0
    })
    const [document] = told.documents as unknown as HistoryDocument[]
    expect(document?.runs[0]?.availability).toMatchObject({
      promise: 'broken',
      callsPerMinute: 300,
      unavailable: { create: 10, subresource: 10 },
      outages: [{ rolling: api.outages[0]?.rolling }],
    })
    expect(told.text).toMatch(/measured +API unavailable for 10/u)
    expect(told.text).toContain('virt-handler rolled')
  })
})

test('what says something of a measurement that nobody asked for is refused before anything is asked', async () => {
  await playAnew(withVms, async (stage) => {
    const since = stage.mark
    const alone = await stage.upgrade('v1.8.4', { measureNamespace: 'x', measureSelector: 'a=b' })
    expect(alone).toMatchObject({ code: 2, error: { reason: 'contradiction' } })
    expect(alone.error?.message).toContain('--measure-namespace, --measure-selector needs --measure')
    expect(stage.writes(since)).toEqual([])
  })
})

test('labels that no VMI has are said, and what is no selector is refused', async () => {
  await playAnew(withVms, async (stage) => {
    const none = await stage.upgrade('v1.8.4', { measure: true, measureSelector: 'app=nothing' })
    expect(none.code).toBe(0)
    expect(none.text).toContain('No running VM has the labels app=nothing')
    const wrong = await stage.upgrade('v1.9.0', { measure: true, measureSelector: 'a=,,b!!' })
    expect(wrong.code).toBe(3)
    expect(wrong.error?.message).toContain("in selector 'a=,,b!!'")
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
  })
})

test('a dry run, and a run with nothing to do, measure nothing', async () => {
  await playAnew(withVms, async (stage) => {
    const since = stage.mark
    const dry = await stage.upgrade('v1.8.4', { measure: true, dryRun: 'client' })
    expect(dry).toMatchObject({ code: 0 })
    const nothing = await stage.upgrade('v1.7.0', { measure: true })
    expect(nothing).toMatchObject({ code: 0 })
    expect([...dry.documents, ...nothing.documents].some((one) => 'availability' in one)).toBe(false)
    expect(creates(stage, since)).toEqual([])
  })
})

test('VMs that are moved and measured: their migrations are counted, and none is interrupted', async () => {
  await outdated(4, async (stage) => {
    const ended = await stage.update({ measure: true })
    expect(ended).toMatchObject({ code: 0 })
    const { vms, promise } = availabilityOf(ended)
    expect(promise.is).toBe('kept')
    expect(vms).toMatchObject({ watched: 4, interrupted: { count: 0 }, migrations: { count: 4, failed: 0 } })
    expect(vms.migrations.items.every(({ seconds = 0 }) => seconds > 0)).toBe(true)
  })
})

test('VMs that are restarted are interrupted, and named', async () => {
  const local = [1, 2, 3].map((i) => ({ name: `vm-${i}`, notMigratable: 'DisksNotLiveMigratable' }))
  await outdated(local, async (stage) => {
    const restarting = { restartUnmigratable: true, accept: ['data-loss'], parallel: '1' }
    const ended = await stage.update({ measure: true, ...restarting })
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).toContain('! API available throughout; 3 of 3 VMs interrupted')
    const { items } = availabilityOf(ended).vms.interrupted
    expect(items.map(({ how }) => how)).toEqual(['restarted', 'restarted', 'restarted'])
  })
})
