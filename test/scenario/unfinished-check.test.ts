import { expect, test } from 'vitest'
import { interrupted } from '../../src/lib/kube/errors.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { byTag, play, type Stage } from './stage.ts'

const shape = { ...byTag, workers: 2, methods: ['LiveMigrate'], vms: [{ name: 'a' }, { name: 'b' }] }

/** Ctrl-C when that step is done. */
async function stopBehind(stage: Stage, id: string): Promise<void> {
  const stop = new AbortController()
  const ended = await stage.upgrade(
    'v1.8.4',
    {},
    {
      signal: stop.signal,
      onEvent: (event) =>
        void (event.kind === 'step-done' && event.step.id === id && stop.abort(interrupted('SIGINT'))),
    },
  )
  expect(ended).toMatchObject({ code: 130 })
}

test.each(['set-image-tag', 'healthy'])(
  'an upgrade that was interrupted behind %s: check says so, and its next line continues it',
  async (id) => {
    await play(shape, async (stage) => {
      await stopBehind(stage, id)
      await stage.until(10 * 60_000)
      const { documents, text } = await stage.check('v1.8.4')
      expect(text).toMatch(/interrupted by jane@here/u)
      expect(documents.at(-1)).toMatchObject({
        next: [expect.stringMatching(/^kvup upgrade --to v1\.8\.4 .*continues/u)],
      })
      expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
      const after = await stage.check('v1.8.4')
      expect(after.text).not.toContain('interrupted')
    })
  },
)

test('while another kvup upgrades KubeVirt, check says who, and its next line watches it', async () => {
  await play(shape, async (stage) => {
    let looked: ReturnType<Stage['check']> | undefined
    const onEvent = (event: RunEvent) => {
      if (event.kind === 'step-done' && event.step.id === 'set-image-tag')
        looked ??= stage.check('v1.8.4', {}, { host: 'there' })
    }
    expect(await stage.upgrade('v1.8.4', {}, { onEvent })).toMatchObject({ code: 0 })
    const { text, documents } = (await looked) ?? { text: '', documents: [] }
    expect(text).toMatch(/another kvup is running: jane@here/u)
    expect(documents.at(-1)).toMatchObject({ next: [expect.stringMatching(/^kvup (?:status -w|wait)/u)] })
  })
})

test('an upgrade that ended with automatic VM updates paused, as it was asked to, is not unfinished', async () => {
  await play(shape, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { leavePaused: true })).toMatchObject({ code: 0 })
    expect((await stage.check('v1.8.4')).text).not.toContain('interrupted')
  })
})
