import { expect, test } from 'vitest'
import { play } from '../stage.ts'
import { borrowedFields, eus418, eusRunOn, platformOf } from './window-stage.ts'

test('4.18 to 4.20: platform, operator, pools, and every borrowed field as it was', () =>
  play(eus418, async (stage) => {
    const before = borrowedFields(stage)
    const ended = await eusRunOn(stage)
    expect(ended.code).toBe(0)
    expect(platformOf(stage).status?.desired?.version).toBe('4.20.5')
    expect(borrowedFields(stage)).toEqual(before)
    expect(await stage.journal.overrides()).toEqual([])
    expect(ended.text).toContain('labels and taints of the nodes are unchanged')
    const mark = stage.mark
    expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
    expect(stage.writes(mark)).toEqual([])
  }))
