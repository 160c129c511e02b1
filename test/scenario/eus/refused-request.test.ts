import { describe, expect, test } from 'vitest'
import { interrupted } from '../../../src/lib/kube/errors.ts'
import { play, type Stage } from '../stage.ts'
import { beforeWrite } from './before-write.ts'
import { after, loanIds, refusing } from './meanwhile.ts'
import { doneSteps, eusAbortOn, eusRunOn, eusStatusOn, platformOf, small418 } from './window-stage.ts'

const minute = 60_000
const askedFor = (stage: Stage) => platformOf(stage).spec?.desiredUpdate?.version
const releaseOf = (stage: Stage) => platformOf(stage).status?.desired?.version

/** A run ended behind its request, and the platform refuses it since. */
async function refusedMeanwhile(stage: Stage): Promise<void> {
  const ended = await eusRunOn(stage, { until: 'request-4.19' })
  expect(ended.error).toBeUndefined()
  stage.simulated.faults.set(refusing)
  await stage.until(2 * minute)
  expect(askedFor(stage)).toBe('4.19.14')
  expect(releaseOf(stage)).toBe('4.18.21')
}

/** The platform refuses the request while a run writes down that it stops. */
const refusedBeforeItsEnd = (stage: Stage) =>
  beforeWrite(
    stage,
    (text) => text.includes('stopped before it'),
    async () => {
      stage.simulated.faults.set(refusing)
      await stage.until(2 * minute)
    },
  )

/** Nothing starts by itself once the way is free. */
async function expectTakenBack(stage: Stage): Promise<void> {
  expect(askedFor(stage)).toBeUndefined()
  expect(await loanIds(stage)).not.toContain('desired-update')
  stage.simulated.faults.set({ notUpgradeable: [] })
  await stage.until(30 * minute)
  expect(releaseOf(stage)).toBe('4.18.21')
}

describe('night E6: what was refused is taken back on every way out', () => {
  test('refused after a run was cut off: the next one goes to the request, takes it back and says why', () =>
    play(small418, async (stage) => {
      await refusedMeanwhile(stage)
      const ended = await eusRunOn(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'update-refused' } })
      expect(ended.error?.message).toContain('a disk is broken')
      expect(ended.took).toBeLessThan(10 * minute)
      await expectTakenBack(stage)
    }))

  test('refused while the run ends behind it, as it was told to: taken back all the same, and said', () =>
    play(small418, async (stage) => {
      const ended = await eusRunOn(stage, { until: 'request-4.19' }, { cluster: refusedBeforeItsEnd(stage) })
      expect(ended).toMatchObject({ code: 0 })
      expect(doneSteps(ended)).not.toContain('accepted-4.19')
      expect(ended.text).toContain('the request for 4.19.14 was refused')
      await expectTakenBack(stage)
    }))

  test('Ctrl-C while it is written down that it will be taken back', () =>
    play(small418, async (stage) => {
      const stop = new AbortController()
      const cluster = beforeWrite(
        stage,
        (text) => text.includes('which was refused'),
        async () => stop.abort(interrupted('SIGINT')),
      )
      const onEvent = after('request-4.19', () => stage.simulated.faults.set(refusing), 'step-applied')
      const ended = await eusRunOn(stage, {}, { cluster, signal: stop.signal, onEvent })
      expect(ended.code).toBe(130)
      expect(ended.text).not.toContain('it starts by itself; kvup eus abort')
      await expectTakenBack(stage)
    }))

  test('--leave-requested leaves it, whatever ends the run: status shows it armed, abort takes it back', () =>
    play(small418, async (stage) => {
      const spec = structuredClone(platformOf(stage).spec)
      const terminal = { cluster: refusedBeforeItsEnd(stage) }
      await eusRunOn(stage, { leaveRequested: true, until: 'request-4.19' }, terminal)
      const ended = await eusRunOn(stage, { leaveRequested: true })
      expect(ended.error?.reason).toBe('update-refused')
      expect(askedFor(stage)).toBe('4.19.14')
      expect(await loanIds(stage)).toContain('desired-update')
      const status = await eusStatusOn(stage)
      expect(status.documents.at(-1)).toMatchObject({ armed: { version: '4.19.14', by: 'kvup' } })
      expect(status.text).toContain('it starts by itself')
      expect(await eusAbortOn(stage)).toMatchObject({ code: 0 })
      expect(platformOf(stage).spec).toEqual(spec)
    }))

  test('what is not judged yet stays requested when a run is ended', () =>
    play(small418, async (stage) => {
      const stop = new AbortController()
      const onEvent = after('request-4.19', () => stop.abort(interrupted('SIGINT')), 'step-applied')
      const ended = await eusRunOn(stage, {}, { signal: stop.signal, onEvent })
      expect(ended.code).toBe(130)
      expect(askedFor(stage)).toBe('4.19.14')
      expect(ended.text).toContain(
        'the platform update to 4.19.14 is requested but not started: it starts by itself; kvup eus abort withdraws it',
      )
    }))
})
