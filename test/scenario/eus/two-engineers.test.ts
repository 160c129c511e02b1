import { describe, expect, test } from 'vitest'
import { isWrite } from '../../../src/simulator/api/api-request.ts'
import { minute, play, second, type Stage } from '../stage.ts'
import {
  borrowedFields,
  eusAbortOn,
  restoreOn,
  eusRunOn,
  eusStatusOn,
  platformOf,
  small418,
  playAt,
} from './window-stage.ts'

/** Each asks the API server as somebody of their own, so that the audit log tells them apart. */
const as = ({ simulated }: Stage, user: string) => simulated.cluster({ user, groups: ['system:masters'] })
const writesBy = ({ simulated }: Stage, by: string, since = 0) =>
  simulated.store.audit.slice(since).filter((record) => record.user === by && isWrite(record))
const versionOf = (stage: Stage) => platformOf(stage).status?.desired?.version
const firstOn = (stage: Stage) => ({ cluster: as(stage, 'first'), host: 'one' })
const secondOn = (stage: Stage) => ({ cluster: as(stage, 'second'), host: 'two' })

describe('two engineers at one window', () => {
  test('while one runs it, a second run, abort or restore exits 6, names who is at work, and writes nothing; who takes over goes on at once, and the one before writes nothing any more', () =>
    play(small418, async (stage) => {
      const first = eusRunOn(stage, {}, firstOn(stage))
      await stage.until(20 * minute)
      const others = [
        await eusRunOn(stage, {}, secondOn(stage)),
        await eusAbortOn(stage, {}, secondOn(stage)),
        await restoreOn(stage, {}, secondOn(stage)),
      ]
      for (const other of others) {
        expect(other).toMatchObject({ code: 6, error: { reason: 'locked' } })
        expect(other.text).toContain('jane@one')
        expect(other.text).toContain('--take-over=jane@one')
        expect(other.took).toBeLessThanOrEqual(15 * second)
      }
      expect(await eusStatusOn(stage, {}, secondOn(stage))).toMatchObject({ code: 0 })
      expect(writesBy(stage, 'second')).toEqual([])
      const overrides = await stage.journal.overrides()
      expect(new Set(overrides.map(({ by }) => by))).toEqual(new Set(['jane@one']))
      const mark = stage.mark
      const takeOver = stage.holder ?? ''
      const other = eusRunOn(stage, { takeOver, until: 'control-plane-4.19' }, secondOn(stage))
      expect(await first).toMatchObject({ code: 6, error: { reason: 'lock-lost' } })
      expect(await other).toMatchObject({ code: 0 })
      expect(writesBy(stage, 'first', mark)).toEqual([])
      expect(versionOf(stage)).toBe('4.19.14')
    }))

  test('two that begin in the same moment: one wins, the other is told, and each setting is borrowed once', () =>
    play(small418, async (stage) => {
      const before = borrowedFields(stage)
      const ended = await Promise.all(
        ['one', 'two'].map((host) => eusRunOn(stage, { until: 'accepted-4.19' }, { host })),
      )
      expect(ended.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 6])
      expect(await eusAbortOn(stage)).toMatchObject({ code: 0 })
      expect(borrowedFields(stage)).toEqual(before)
    }))
})

const toPatch = { method: 'olm', stableFor: '5s' } as const

test('kvup upgrade beside a window that is open is refused by name; with --leave-paused it takes the operator along, and what the window has borrowed stays borrowed', () =>
  playAt('control-plane-4.19')(async (stage) => {
    const [held, mark] = [borrowedFields(stage), stage.mark]
    const refused = await stage.upgrade('4.19.8', toPatch)
    expect(refused).toMatchObject({ code: 3, error: { reason: 'window-open' } })
    expect(refused.text).toContain('kvup eus run')
    expect(refused.text).toContain('--leave-paused')
    expect(stage.writes(mark)).toEqual([])
    const overrides = await stage.journal.overrides()
    const ended = await stage.upgrade('4.19.8', { ...toPatch, leavePaused: true })
    expect(ended.error).toBeUndefined()
    expect(ended.text).toContain('are paused until kvup eus run')
    const again = await stage.upgrade('4.19.8', { ...toPatch, leavePaused: true })
    for (const { text } of [ended, again])
      expect(text).not.toMatch(/kvup workloads (?:restore|resume-updates)/u)
    expect(borrowedFields(stage)).toEqual(held)
    expect(await stage.journal.overrides()).toEqual(overrides)
    expect(await eusRunOn(stage, { until: 'operator-4.19' })).toMatchObject({ code: 0 })
  }))
