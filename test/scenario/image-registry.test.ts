import { expect, test } from 'vitest'
import { byManifest, play } from './stage.ts'

const mirror = 'mirror.example/kubevirt'

test('--image-registry with the operator manifest: a second run finds it there', async () => {
  await play(byManifest, async (stage) => {
    expect(await stage.upgrade('v1.9.0', { imageRegistry: mirror })).toMatchObject({ code: 0 })
    expect(stage.kubevirt.status?.observedKubeVirtRegistry).toBe(mirror)
    const mark = stage.mark
    const again = await stage.upgrade('v1.9.0', { imageRegistry: mirror })
    expect(again).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-do' }] })
    expect(stage.writes(mark)).toEqual([])
  })
})

test('--image-registry where tag and registry were taken out: the new registry is put in with the tag, one roll', async () => {
  await play({ ...byManifest, method: 'image-tag' }, async (stage) => {
    expect(stage.kubevirt.spec?.imageRegistry).toBe('quay.io/kubevirt')
    expect(await stage.upgrade('v1.9.0', { imageRegistry: mirror })).toMatchObject({ code: 0 })
    expect(stage.kubevirt.spec).toMatchObject({ imageTag: 'v1.9.0', imageRegistry: mirror })
    expect(new Set(stage.film.map(({ status }) => status?.targetDeploymentID)).size).toBe(2)
  })
})
