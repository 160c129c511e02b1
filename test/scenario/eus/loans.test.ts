import { describe, expect, test } from 'vitest'
import { play, type Stage } from '../stage.ts'
import { after, loanIds, offered, patchPlatform, patchWorkers, refusing } from './meanwhile.ts'
import {
  borrowedFields,
  eusAbortOn,
  eusRestoreOn,
  eusRunOn,
  eusStatusOn,
  platformOf,
  small418,
} from './window-stage.ts'

const minute = 60_000
const askedFor = (stage: Stage) => platformOf(stage).spec?.desiredUpdate?.version
const channelOf = (stage: Stage) => platformOf(stage).spec?.channel

/** Up to a request that the platform refuses. */
const runToARefusal = (stage: Stage, options: Parameters<typeof eusRunOn>[1] = {}) =>
  eusRunOn(stage, options, {
    onEvent: after('request-4.19', () => stage.simulated.faults.set(refusing), 'step-applied'),
  })

describe('what it was set to is kept with the loan', () => {
  test('a pool that somebody unpaused is asked about, however much was written to the journal since', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'accepted-4.19' })
      const at = new Date(stage.now).toISOString()
      const entry = { at, by: 'x', procedure: 'workloads update', step: 's', what: 'applied' } as const
      for (const wave of Array.from({ length: 300 }).keys())
        await stage.journal.record({ ...entry, text: `wave ${wave}` })
      expect((await stage.journal.entries()).some(({ step }) => step === 'pause-worker')).toBe(false)
      await patchWorkers(stage, { paused: false })
      const ended = await eusRunOn(stage, { until: 'pause-worker' })
      expect(ended.error?.reason).toBe('borrowed-changed')
      expect(borrowedFields(stage).paused['worker']).toBe(false)
    }))

  test('--approval that says otherwise the second time: it was kvup, not somebody; as it was in the end', () =>
    play(small418, async (stage) => {
      const before = borrowedFields(stage)
      expect(before.approval).toEqual({ 'hco-operatorhub': 'Manual' })
      await eusRunOn(stage, { approval: 'Automatic', until: 'approval' })
      expect(borrowedFields(stage).approval).toEqual({ 'hco-operatorhub': 'Automatic' })
      const ended = await eusRunOn(stage, { approval: 'Manual', until: 'approval' })
      expect(ended.error).toBeUndefined()
      expect(borrowedFields(stage).approval).toEqual({ 'hco-operatorhub': 'Manual' })
      expect((await eusAbortOn(stage)).error).toBeUndefined()
      expect(borrowedFields(stage)).toEqual(before)
      expect(await loanIds(stage)).toEqual([])
    }))
})

const withTheirChannel = async (stage: Stage) => {
  await eusRunOn(stage, { until: 'channel-4.19' })
  await patchPlatform(stage, { channel: 'fast-4.18' })
  await stage.until(2 * minute)
}

describe('what somebody else set is not overwritten unasked', () => {
  test('the channel: abort asks, and restore does what the answer is', () =>
    play(small418, async (stage) => {
      await withTheirChannel(stage)
      const ended = await eusAbortOn(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'changed-meanwhile' } })
      expect(ended.text).toContain('somebody set it to fast-4.18')
      expect(channelOf(stage)).toBe('fast-4.18')
      await eusRestoreOn(stage, { names: ['platform-channel'], overwrite: true })
      expect(channelOf(stage)).toBe('eus-4.18')
    }))

  test('the channel: restore --keep-current keeps it, and closes the loan', () =>
    play(small418, async (stage) => {
      await withTheirChannel(stage)
      await eusRestoreOn(stage, { names: ['platform-channel'], keepCurrent: true })
      expect(channelOf(stage)).toBe('fast-4.18')
      expect(await loanIds(stage)).not.toContain('platform-channel')
      expect((await eusAbortOn(stage)).error).toBeUndefined()
      expect(channelOf(stage)).toBe('fast-4.18')
    }))

  test('desiredUpdate: restore --keep-current keeps the request, which is nobody’s loan from then on', () =>
    play(small418, async (stage) => {
      await runToARefusal(stage, { leaveRequested: true })
      await eusRestoreOn(stage, { names: ['desired-update'], keepCurrent: true })
      expect(askedFor(stage)).toBe('4.19.14')
      expect(await loanIds(stage)).not.toContain('desired-update')
      expect((await eusStatusOn(stage)).text).toContain('by somebody else')
    }))

  test.each([{}, { force: false }])(
    'desiredUpdate: what kvup took back, and a person asks for afterwards, is theirs (%o)',
    (more) =>
      play(small418, async (stage) => {
        const refused = await runToARefusal(stage)
        expect(refused.error?.reason).toBe('update-refused')
        expect(askedFor(stage)).toBeUndefined()
        const { version, image } = offered(stage, '4.19.14')
        await patchPlatform(stage, { desiredUpdate: { version, image, ...more } })
        await stage.until(2 * minute)
        expect((await eusStatusOn(stage)).text).toContain('by somebody else')
        await eusAbortOn(stage)
        expect(askedFor(stage)).toBe('4.19.14')
      }),
  )

  test('desiredUpdate: a request of kvup that a person forces is theirs', () =>
    play(small418, async (stage) => {
      await runToARefusal(stage, { leaveRequested: true })
      expect((await eusStatusOn(stage)).text).toContain('by kvup')
      await patchPlatform(stage, { desiredUpdate: { architecture: '', force: false } })
      expect((await eusStatusOn(stage)).text).toContain('by kvup')
      await patchPlatform(stage, { desiredUpdate: { force: true } })
      expect((await eusStatusOn(stage)).text).toContain('by somebody else')
    }))
})

test('kvup upgrade --method olm inside of a window leaves its loan of the methods alone', () =>
  play(small418, async (stage) => {
    await eusRunOn(stage, { until: 'control-plane-4.19' })
    const ended = await stage.upgrade('4.19.8', { settle: '5s' })
    expect(ended.error?.reason).toBe('window-open')
    expect(await loanIds(stage)).toContain('workload-updates')
    expect(stage.methods).toEqual([])
  }))
