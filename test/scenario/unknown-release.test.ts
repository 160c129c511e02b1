import { expect, test } from 'vitest'
import { byManifest, play } from './stage.ts'

const unknown = { ...byManifest, version: 'v1.9.0' } as const

test('a release that the table does not know, by its manifest: one warning, and it works', async () => {
  await play(unknown, async (stage) => {
    const ended = await stage.upgrade('v1.10.0')
    expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'done', to: 'v1.10.0' }] })
    expect(ended.text.match(/^warning .*/gmu)?.map((line) => line.replace(/ +/u, ' '))).toEqual([
      'warning v1.10.0 is not a KubeVirt release that kvup knows (release-unknown)',
    ])
    expect(stage.kubevirt.status).toMatchObject({
      observedKubeVirtVersion: 'v1.10.0',
      targetKubeVirtVersion: 'v1.10.0',
    })
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
    const writes = stage.writes().length
    expect(await stage.upgrade('v1.10.0')).toMatchObject({
      code: 0,
      documents: [{ outcome: 'nothing-to-do' }],
    })
    expect(stage.writes()).toHaveLength(writes)
  })
})
