import { expect, test } from 'vitest'
import type { EusStatusDocument } from '../../../src/lib/eus/run/window-status-report.ts'
import { play, type Stage } from '../stage.ts'
import { eusRunOn, eusStatusOn, small418 } from './window-stage.ts'

async function statusOf(stage: Stage): Promise<EusStatusDocument & { text: string }> {
  const ended = await eusStatusOn(stage)
  expect(ended.error).toBeUndefined()
  return { ...(ended.documents.at(-1) as unknown as EusStatusDocument), text: ended.text }
}

test('no window is open: it says so, and writes nothing', () =>
  play(small418, async (stage) => {
    const mark = stage.mark
    expect(await statusOf(stage)).toMatchObject({ open: false, at: '4.18.21', overrides: [], steps: [] })
    expect(stage.writes(mark)).toEqual([])
  }))

test('between hops: what is behind, where it stands, what is ahead, and what is borrowed', () =>
  play(small418, async (stage) => {
    await eusRunOn(stage, { until: 'operator-4.19' })
    await stage.until(2 * 3_600_000)
    const mark = stage.mark
    const status = await statusOf(stage)
    expect(status).toMatchObject({ open: true, from: '4.18', to: '4.20', at: '4.19.14' })
    expect(status.parts.map(({ name, state }) => `${state} ${name}`)).toEqual([
      'done Pause automatic VM updates',
      'done Pause pools',
      'done Update the platform to 4.19',
      'done Update virtualization to 4.19',
      'now Update the platform to 4.20',
      'ahead Update virtualization to 4.20',
      'ahead Resume automatic VM updates',
      'ahead Unpause pools',
    ])
    expect(status.overridesText).toBe('automatic VM updates, 1 pool, 1 health check')
    expect(status.text).toContain('day 1')
    expect(stage.writes(mark)).toEqual([])
  }))

test('at the end of all that is known no way is offered to where it is already', () =>
  play(small418, async (stage) => {
    expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
    const { text, next } = await statusOf(stage)
    expect(text).toContain('no EUS upgrade is running (platform 4.20.5)')
    expect(next).toEqual([])
  }))
