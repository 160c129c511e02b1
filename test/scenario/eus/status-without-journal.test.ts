import { expect, test } from 'vitest'
import type { EusStatusDocument } from '../../../src/lib/eus/run/window-status-report.ts'
import { play, type Stage } from '../stage.ts'
import { forget } from './meanwhile.ts'
import { eusRunOn, eusStatusOn, small418 } from './window-stage.ts'

async function withoutJournal(stage: Stage, until: string) {
  expect(await eusRunOn(stage, { until })).toMatchObject({ code: 0 })
  await forget(stage)
  const mark = stage.mark
  const ended = await eusStatusOn(stage)
  expect(ended.error).toBeUndefined()
  expect(stage.writes(mark)).toEqual([])
  return { ...(ended.documents.at(-1) as unknown as EusStatusDocument), text: ended.text }
}

test('the journal was deleted in the middle of a window: status tells the window by its pools, and what can be deduced', () =>
  play(small418, async (stage) => {
    const status = await withoutJournal(stage, 'operator-4.19')
    expect(status).toMatchObject({ open: true, from: '4.18', at: '4.19.14', overrides: [], steps: [] })
    expect(status.parts).toEqual([
      { name: 'Pause pools', state: 'done', note: 'worker' },
      { name: 'Update the platform to 4.19', state: 'done' },
    ])
    expect(status.text).not.toContain('no EUS upgrade is running')
    expect(status.text).toContain(
      'EUS upgrade 4.18 → 4.20: waiting, worker pools are paused (control plane at 4.19.14)',
    )
    expect(status.text).toContain('the kubelets of the paused pools show that it started at 4.18')
    expect(status.text).toContain('workloadUpdateMethods is empty: its earlier value is unknown')
    expect(status.text).toContain('MachineHealthCheck workers is paused')
    expect(status.next.join('\n')).toContain('oc patch machineconfigpool worker')
  }))

test('the journal was deleted before the first hop: pools that are merely paused are no window', () =>
  play(small418, async (stage) => {
    const status = await withoutJournal(stage, 'pause-worker')
    expect(status).toMatchObject({ open: false, at: '4.18.21' })
    expect(status.text).toContain('no EUS upgrade is running')
  }))
