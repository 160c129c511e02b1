import { expect, test } from 'vitest'
import { play } from '../stage.ts'
import { patchWorkers, seal } from './meanwhile.ts'
import { eusRunOn, small418 } from './window-stage.ts'

/** As typed: all else is the plan's. */
const planned = { plan: 'plan.yaml' } as const

test('a sealed plan takes effect, stopped and gone on with; a flag that would make another plan is refused', () =>
  play(small418, async (stage) => {
    expect((await seal(stage)).error).toBeUndefined()
    for (const flags of [{ to: '4.19' }, { accept: ['vms-that-stay'] }, { graphFile: 'other.json' }])
      expect(await eusRunOn(stage, { ...planned, ...flags })).toMatchObject({ code: 2 })
    expect(stage.writes()).toEqual([])
    for (const until of ['pause-worker', 'request-4.19'])
      expect((await eusRunOn(stage, { ...planned, until })).error).toBeUndefined()
    const begun = (await stage.journal.entries()).filter(({ what }) => what === 'intends')
    expect(begun.map(({ step }) => step)).toContain('request-4.19')
    expect(begun.filter(({ plan }) => plan === undefined)).toEqual([])
  }))

test('a pool that somebody paused since is drift: exit 5, nothing is written, and the line makes the plan anew as it was made, beside the one that was reviewed', () =>
  play(small418, async (stage) => {
    await seal(stage)
    await patchWorkers(stage, { paused: true })
    const mark = stage.mark
    const ended = await eusRunOn(stage, planned)
    expect(ended).toMatchObject({ code: 5, error: { reason: 'drifted' } })
    expect(ended.text).toContain('worker.paused')
    expect(ended.error?.remedy).toEqual([
      'kvup eus plan --to 4.20 --graph-file graph.json --catalog-file catalog.yaml --to-file plan.new.yaml      makes a new plan: review the difference before you use it',
    ])
    expect(stage.writes(mark)).toEqual([])
  }))
