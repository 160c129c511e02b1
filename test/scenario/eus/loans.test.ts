import { describe, expect, test } from 'vitest'
import { play, type Stage } from '../stage.ts'
import { lying } from './lying-reader.ts'
import {
  after,
  forget,
  loanIds,
  offered,
  patchPlatform,
  patchWorkers,
  refusing,
  setMethods,
} from './meanwhile.ts'
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
    playAt('accepted-4.19')(async (stage) => {
      const at = new Date(stage.now).toISOString()
      const entry = { at, by: 'x', procedure: 'workloads update', step: 's', what: 'applied' } as const
      for (const wave of Array.from({ length: 300 }).keys())
        await stage.journal.record({ ...entry, text: `wave ${wave}` })
      expect((await stage.journal.entries()).some(({ step }) => step === 'pause-worker')).toBe(false)
      await patchWorkers(stage, { paused: false })
      const ended = await eusRunOn(stage, { until: 'pause-worker' })
      expect(ended.error?.reason).toBe('override-changed')
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
      expect(ended.text).toContain('someone set it to fast-4.18')
      expect(channelOf(stage)).toBe('fast-4.18')
      await restoreOn(stage, { whats: ['platform-channel'], overwrite: true })
      expect(channelOf(stage)).toBe('eus-4.18')
      await withTheirChannel(stage)
      await restoreOn(stage, { whats: ['platform-channel'], keepCurrent: true })
      expect(await loanIds(stage)).not.toContain('platform-channel')
      expect((await eusAbortOn(stage)).error).toBeUndefined()
      expect(channelOf(stage)).toBe('fast-4.18')
    }))

  test('desiredUpdate: a request that a person forces is theirs; restore --keep-current keeps one, which is nobody’s loan from then on', () =>
    play(small418, async (stage) => {
      await runToARefusal(stage, { leaveRequested: true })
      expect((await eusStatusOn(stage)).text).toContain('by kvup')
      await patchPlatform(stage, { desiredUpdate: { architecture: '', force: false } })
      expect((await eusStatusOn(stage)).text).toContain('by kvup')
      await patchPlatform(stage, { desiredUpdate: { force: true } })
      expect((await eusStatusOn(stage)).text).toContain('by somebody else')
      await patchPlatform(stage, { desiredUpdate: { force: false } })
      expect((await eusStatusOn(stage)).text).toContain('by kvup')
      await restoreOn(stage, { whats: ['desired-update'], keepCurrent: true })
      expect(askedFor(stage)).toBe('4.19.14')
      expect(await loanIds(stage)).not.toContain('desired-update')
      expect((await eusStatusOn(stage)).text).toContain('by somebody else')
    }))

  test('desiredUpdate: what kvup took back, and a person asks for afterwards, is theirs', () =>
    play(small418, async (stage) => {
      const refused = await runToARefusal(stage)
      expect(refused.error?.reason).toBe('update-refused')
      const { version, image } = offered(stage, '4.19.14')
      for (const more of [{}, { force: false }]) {
        expect(askedFor(stage)).toBeUndefined()
        await patchPlatform(stage, { desiredUpdate: { version, image, ...more } })
        await stage.until(2 * minute)
        expect((await eusStatusOn(stage)).text).toContain('by somebody else')
        if ('force' in more) continue
        await patchPlatform(stage, { desiredUpdate: null })
        await stage.until(2 * minute)
      }
      await eusAbortOn(stage)
      expect(askedFor(stage)).toBe('4.19.14')
    }))
})

const another = (stage: Stage, methods: readonly string[] = []) =>
  lying(stage.cluster, 'hyperconvergeds', (one) => {
    one.metadata.uid = 'another'
    one.spec.workloadUpdateStrategy.workloadUpdateMethods = methods
    return one
  })

describe('a HyperConverged that was made anew in the window, with the empty methods that it was saved with', () => {
  test('abort is not done with it, and the loan stays until it is decided', () =>
    playAt('pause-worker')(async (stage) => {
      const ended = await eusAbortOn(stage, {}, { cluster: another(stage) })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'changed-meanwhile' } })
      expect(ended.text).toContain('was deleted and created again')
      expect(await loanIds(stage)).toContain('workload-updates')
      const terminal = { cluster: another(stage) }
      await restoreOn(stage, { whats: ['workload-updates'], keepCurrent: true }, terminal)
      expect(await loanIds(stage)).not.toContain('workload-updates')
    }))

  test('with the methods as they were it has them back: the loan is closed, with the reason', () =>
    playAt('pause-worker')(async (stage) => {
      const cluster = another(stage, ['LiveMigrate'])
      const ended = await eusAbortOn(stage, {}, { cluster })
      expect(ended.error).toBeUndefined()
      expect(ended.text).toContain(
        'Not restored: workload-updates: the HyperConverged that it belonged to is gone',
      )
      expect(await loanIds(stage)).toEqual([])
    }))
})

test('an update that somebody else asked for, and that is refused: abort names it before and after, says how it is taken back, and leaves it', () =>
  playAt('pause-worker')(async (stage) => {
    stage.simulated.faults.set(refusing)
    await stage.until(minute)
    await patchPlatform(stage, { desiredUpdate: { version: '4.19.17' } })
    await stage.until(2 * minute)
    const ended = await eusAbortOn(stage)
    expect(ended.error).toBeUndefined()
    expect(ended.text.match(/someone else requested the platform update to 4\.19\.17/gu)).toHaveLength(2)
    expect(ended.text).toContain('oc adm upgrade --clear withdraws it')
    expect(ended.text).not.toContain('the update request is withdrawn')
    expect(askedFor(stage)).toBe('4.19.17')
  }))

const heldAndForgotten = async (stage: Stage) => {
  await eusRunOn(stage, { until: 'pause-workload-updates' })
  await forget(stage)
  expect(stage.methods).toEqual([])
  return stage.mark
}

describe('a journal that was deleted right behind the hold, and the note with it', () => {
  test('abort and run ask about methods that kvup has emptied; who takes it so goes on', () =>
    play(small418, async (stage) => {
      const mark = await heldAndForgotten(stage)
      const aborted = await eusAbortOn(stage)
      expect(aborted).toMatchObject({ code: 3, error: { reason: 'window-not-in-journal' } })
      expect(aborted.text).toContain('kvup emptied workloadUpdateMethods')
      expect(aborted.text).toContain('kvup workloads strategy set --methods LiveMigrate')
      expect(aborted.text).toContain('kvup eus run --accept methods-empty-without-override')
      const ended = await eusRunOn(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'methods-empty-without-override' } })
      expect(stage.writes(mark)).toEqual([])
      const accept = ['methods-empty-without-override']
      expect((await eusRunOn(stage, { accept, until: 'pause-worker' })).error).toBeUndefined()
    }))

  test('with methods that somebody set since there is nothing to ask', () =>
    play(small418, async (stage) => {
      await heldAndForgotten(stage)
      await setMethods(stage, ['LiveMigrate'])
      await stage.until(2 * minute)
      expect(await eusAbortOn(stage)).toMatchObject({ code: 0 })
      expect((await eusRunOn(stage, { until: 'keep-baseline' })).error).toBeUndefined()
    }))
})
