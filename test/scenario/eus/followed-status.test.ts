import { expect, test } from 'vitest'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { renderLive } from '../../../src/lib/output/progress/live-view.ts'
import { progressOf } from '../../../src/lib/output/progress/run-progress.ts'
import type { RunEvent } from '../../../src/lib/engine/step.ts'
import { minute, play, second, type Stage } from '../stage.ts'
import { eusRunOn, eusStatusOn, small418, playAt } from './window-stage.ts'

const unpainted = paintFor({ colour: false, unicode: true })

/** Each look of `kvup eus status -w` reads the Infrastructure once: when it did, ms. */
const snapshots = (stage: Stage, mark: number): readonly number[] =>
  stage
    .requests(mark)
    .filter(({ resource }) => resource === 'infrastructures')
    .map(({ at }) => Date.parse(String(at)))

/** `kvup eus status -w` while something happens, until Ctrl-C. */
async function following(stage: Stage, meanwhile: () => Promise<void>): Promise<void> {
  const end = new AbortController()
  const reason = new Error('Ctrl-C')
  const watching = eusStatusOn(stage, { watch: true }, { signal: end.signal }).catch(
    (error: unknown) => error,
  )
  await meanwhile()
  end.abort(reason)
  expect(await watching).toBe(reason)
}

test('-w looks seldom where nothing changes, and within seconds where a pool is unpaused', () =>
  playAt('operator-4.19')(async (stage) => {
    await stage.until(30 * minute)
    const [mark, began] = [stage.mark, stage.now]
    await following(stage, async () => {
      await stage.until(10 * minute)
      const quiet = snapshots(stage, mark)
      expect(quiet[0]).toBeLessThan(began + second)
      // Each 20 s, so that nothing on the page is old; not each second, at which the page ticks.
      expect(quiet.length).toBeLessThan(31)
      const before = stage.mark
      await stage.cluster.writer.mergePatch(
        MachineConfigPools,
        { name: 'worker' },
        { spec: { paused: false } },
      )
      const changed = stage.now
      await stage.until(5 * second)
      const [first = Infinity] = snapshots(stage, before)
      expect(first - changed).toBeLessThan(4 * second)
    })
  }))

test('on a terminal a window is a line for each of its parts, as eus status has them', () =>
  play(small418, async (stage) => {
    const events: RunEvent[] = []
    await eusRunOn(stage, { until: 'accepted-4.20' }, { onEvent: (event) => events.push(event) })
    // Right after a channel was changed the request waits for the update service, and says no stall.
    const states = events.flatMap((event) =>
      event.kind === 'step-waiting' && event.step.id === 'request-4.19'
        ? [`${event.state.is} ${event.state.on}`]
        : [],
    )
    expect(states).toContain('waiting the update service to answer for channel eus-4.20')
    expect(states.filter((state) => state.startsWith('stalled'))).toEqual([])
    const frameAt = (step: string) => {
      const began = events.findIndex((event) => event.kind === 'step-started' && event.step.id === step)
      const run = progressOf(events.slice(0, began + 1))
      return renderLive(run, new Date(stage.now), { columns: 79, rows: 40 }, unpainted).slice(1, -1)
    }
    // The releases that OLM showed meanwhile are listed again for the next hop; they stay where they were done.
    expect(frameAt('accepted-4.20').map((line) => line.slice(0, 33).trimEnd())).toEqual([
      ' ✔ Pause automatic VM updates',
      ' ✔ Pause pools',
      ' ✔ Update the platform to 4.19',
      ' ✔ Update virtualization to 4.19',
      ' ▸ Update the platform to 4.20',
      '   Update virtualization to 4.20',
      '   Resume automatic VM updates',
      '   Unpause pools',
    ])
  }))

test('an update service that does not answer is a stall, in its words; --stalled-after ends it sooner, and the same line goes on once it is mended', () =>
  play(small418, async (stage) => {
    await eusRunOn(stage, { until: 'gate-4.19' })
    stage.simulated.faults.set({ updatesNotRetrieved: true })
    const patient = await eusRunOn(stage, { timeout: '10m' })
    expect(patient.code).toBe(4)
    expect(patient.text).toContain('Unable to retrieve available updates')
    const ended = await eusRunOn(stage, { timeout: '10m', stalledAfter: '2m' })
    expect(ended).toMatchObject({ code: 4, error: { reason: 'stalled' } })
    expect(ended.text).toContain('Unable to retrieve available updates')
    expect(ended.took).toBeLessThan(patient.took)
    expect(ended.error?.remedy).toContainEqual(expect.stringMatching(/^kvup eus run {5}/u))
    stage.simulated.faults.set({ updatesNotRetrieved: undefined })
    const on = await eusRunOn(stage, { stalledAfter: '2m', until: 'accepted-4.19' })
    expect(on).toMatchObject({ code: 0 })
  }))
