import { describe, expect, test } from 'vitest'
import { byManifest, byTag, minute, play, type Stage } from './stage.ts'

const lifted = { ...byTag, version: 'v1.8.4' } as const
const pinned = { ...byTag, version: 'v1.8.3' } as const

const procedures = [
  { name: 'image tag', shape: byTag, run: (stage: Stage) => stage.upgrade('v1.8.4') },
  { name: 'operator manifest', shape: byManifest, run: (stage: Stage) => stage.upgrade('v1.9.0') },
  { name: 'operator manifest, tag taken out', shape: lifted, run: (stage: Stage) => stage.upgrade('v1.9.0') },
  { name: 'operator manifest, tag pinned', shape: pinned, run: (stage: Stage) => stage.upgrade('v1.9.0') },
  {
    name: 'without hold',
    shape: byTag,
    run: (stage: Stage) => stage.upgrade('v1.8.4', { pauseUpdates: false }),
  },
  {
    name: 'an image registry of its own',
    shape: byTag,
    run: (stage: Stage) => stage.upgrade('v1.8.4', { imageRegistry: 'mirror.example/kubevirt' }),
  },
  {
    name: 'waiting for workloads',
    shape: { ...byTag, workers: 2, vms: 2 },
    run: (stage: Stage) => stage.upgrade('v1.8.4', { waitWorkloads: true }),
  },
] as const

describe.for(procedures)('run twice: $name', ({ shape, run }) => {
  test('the second says nothing to do and writes nothing', async () => {
    await play(shape, async (stage) => {
      expect(await run(stage)).toMatchObject({ code: 0, documents: [{ outcome: 'done' }] })
      await stage.until(minute)
      const mark = stage.mark
      const { spec } = stage.kubevirt
      const again = await run(stage)
      expect(again).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-do' }] })
      expect(again.text).toContain('nothing to do')
      expect(stage.writes(mark)).toEqual([])
      expect(stage.kubevirt.spec).toEqual(spec)
    })
  })
})

test('run twice: --leave-paused, the second goes on to give back only when it is not left held', async () => {
  await play(byTag, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { leavePaused: true })).toMatchObject({ code: 0 })
    const mark = stage.mark
    expect(await stage.upgrade('v1.8.4', { leavePaused: true })).toMatchObject({ code: 0 })
    expect(stage.writes(mark).filter(({ resource }) => resource === 'kubevirts')).toEqual([])
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
  })
})
