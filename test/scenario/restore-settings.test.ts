import { describe, expect, test } from 'vitest'
import { whatOf } from '../../src/lib/engine/overrides.ts'
import { history } from '../../src/commands/history.ts'
import { playLent, lentFields, run } from './eus/lending-window.ts'
import { all, along, onePointFive, store } from './path.ts'
import { byTag, briefly as play, type Stage } from './stage.ts'

const openIds = async (stage: Stage) => (await stage.journal.overrides()).map(({ id }) => id)
const first = 'no VM, no data and no version'

describe('in an EUS upgrade in which all is changed that kvup ever changes', () => {
  test('without a name, and with --pools, it is refused as a whole; each change goes by its name alone, a pool behind the check of the room', () =>
    playLent(async (stage, before) => {
      await run(stage, {}, { until: 'operator-4.19' })
      const held = lentFields(stage)
      for (const pools of [false, true]) {
        const refused = await stage.restore({ pools }, { yes: true })
        expect(refused).toMatchObject({ code: 3, error: { reason: 'window-open' } })
        expect(refused.lines[0]).toContain(first)
        expect(refused.error?.remedy.join('\n')).toMatch(/kvup eus run\b[^]*kvup eus abort\b/u)
      }
      expect(lentFields(stage)).toEqual(held)
      for (const id of await openIds(stage)) {
        const others = (await openIds(stage)).filter((one) => one !== id)
        const accept = ['vms-that-stay', 'outdated-launchers', 'no-room']
        const ended = await stage.restore({ whats: [whatOf(id)], accept, stableFor: '5s' })
        expect([id, ended.error]).toEqual([id, undefined])
        expect(await openIds(stage)).toEqual(others)
      }
      expect(await stage.restore({ whats: ['vm/demo/db'] })).toMatchObject({ code: 0 })
      expect(lentFields(stage)).toEqual(before)
    }))

  test('the risk taken by name: all but the pools', () =>
    playLent(async (stage, before) => {
      await run(stage, {}, { until: 'operator-4.19' })
      expect(await stage.restore({ accept: ['window-open'] })).toMatchObject({ code: 0 })
      const { paused, ...rest } = lentFields(stage)
      expect(paused).not.toEqual(before.paused)
      expect(rest).toEqual(Object.fromEntries(Object.entries(before).filter(([key]) => key !== 'paused')))
      expect(await openIds(stage)).toEqual(['pool-paused/worker'])
    }))
})

test('between two steps of an upgrade over several minors nothing is resumed without a name', () =>
  play({ ...onePointFive, version: 'v1.6.6' }, async (stage) => {
    store(stage, ...all)
    await along(stage, { via: 'v1.7.4', until: 'healthy-v1.7.4' })
    const refused = await stage.restore()
    expect(refused).toMatchObject({ code: 3, error: { reason: 'window-open' } })
    expect(refused.error?.remedy[0]).toMatch(/^kvup upgrade --to v1\.8\.4\b/u)
    expect(stage.methods).toEqual([])
    expect(await stage.restore({ whats: ['workload-updates'] })).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
  }))

test('a name that is no temporary change is exit 2 and writes nothing; history names what there is', () =>
  play(byTag, async (stage) => {
    await stage.hold()
    const mark = stage.mark
    for (const what of ['pool/worker', 'workload-update', 'vm/db', 'vm/demo/', 'pool-paused/worker'])
      expect(await stage.restore({ whats: [what] })).toMatchObject({
        code: 2,
        error: { reason: 'no-such-override' },
      })
    expect(stage.writes(mark)).toEqual([])
    const told = await stage.perform((cx) => history(cx).then(() => 0), { commandLine: 'kvup history' })
    expect(told.text).toContain('kvup workloads resume-updates')
  }))
