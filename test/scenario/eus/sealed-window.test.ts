import { expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { play, type Stage } from '../stage.ts'
import { eusRunOn, serveFiles, small418 } from './window-stage.ts'

/** `kvup eus plan --graph-file graph.json --to-file plan.yaml`. */
async function seal(stage: Stage): Promise<void> {
  serveFiles(stage)
  const options = { accept: [], graphFile: 'graph.json', catalogFile: 'catalog.yaml', toFile: 'plan.yaml' }
  const ended = await stage.perform((cx) => planEus(cx, options), { commandLine: 'kvup eus plan' })
  expect(ended.error).toBeUndefined()
}

/** As typed: all else is the plan's. */
const planned = { plan: 'plan.yaml' } as const

test('a sealed plan takes effect, stopped and gone on with', () =>
  play(small418, async (stage) => {
    await seal(stage)
    const first = await eusRunOn(stage, { ...planned, until: 'pause-worker' })
    expect(first.error).toBeUndefined()
    const again = await eusRunOn(stage, { ...planned, until: 'request-4.19' })
    expect(again.error).toBeUndefined()
    const entries = await stage.journal.entries()
    const begun = entries.filter(({ what }) => what === 'intends')
    expect(begun.map(({ step }) => step)).toContain('request-4.19')
    expect(begun.filter(({ plan }) => plan === undefined)).toEqual([])
  }))

test('a pool that somebody paused since is drift: exit 5, and nothing is written', () =>
  play(small418, async (stage) => {
    await seal(stage)
    await stage.cluster.writer.mergePatch(MachineConfigPools, { name: 'worker' }, { spec: { paused: true } })
    const mark = stage.mark
    const ended = await eusRunOn(stage, planned)
    expect(ended).toMatchObject({ code: 5, error: { reason: 'drifted' } })
    expect(ended.text).toContain('worker.paused')
    expect(stage.writes(mark)).toEqual([])
  }))

test.each([{ to: '4.19' }, { accept: ['vms-that-stay'] }, { graphFile: 'other.json' }])(
  'a flag that would make another plan is refused: %o',
  (flags) =>
    play(small418, async (stage) => {
      await seal(stage)
      expect(await eusRunOn(stage, { ...planned, ...flags })).toMatchObject({ code: 2 })
      expect(stage.writes()).toEqual([])
    }),
)
