import { expect, test } from 'vitest'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { byTag, briefly as play, type Stage } from './stage.ts'

const small = { workers: 1, controlPlanes: 1, methods: ['LiveMigrate'] } as const
/** The tag says what the operator does anyway. */
const lifted = { ...small, version: 'v1.8.4', method: 'image-tag' } as const
/** The tag holds the operator back. */
const pinned = { ...small, version: 'v1.8.3', operator: 'v1.8.4', method: 'image-tag' } as const

/** Targets that the operator took, one after the other: one more than there were rolls. */
const targets = ({ film }: Stage) => [
  ...new Set(film.map(({ status }) => status?.targetDeploymentID).filter((id) => id !== undefined)),
]
const tags = ({ film }: Stage) =>
  film.map(({ spec }) => spec?.imageTag).filter((tag, i, all) => tag !== all[i - 1])

test('U2 a tag that equals the operator is taken out, and put in again as the new one: one roll', async () => {
  await play(lifted, async (stage) => {
    const ended = await stage.upgrade('v1.9.0')
    expect(ended.code).toBe(0)
    expect(targets(stage)).toHaveLength(2)
    expect(tags(stage).filter((tag, i) => i > 0 || tag !== 'v1.8.4')).toEqual([undefined, 'v1.9.0'])
    expect(stage.kubevirt.spec).toMatchObject({ imageTag: 'v1.9.0', imageRegistry: 'quay.io/kubevirt' })
    expect(await stage.journal.overrides()).toEqual([])
    expect(ended.text).toContain('one roll')
  })
})

test('U2 neither taking the tag out nor putting it in rolls anything', async () => {
  await play(lifted, async (stage) => {
    const changed = stage.film.length
    await stage.upgrade('v1.9.0', { until: 'lift-image-tag' })
    await stage.until(30_000)
    expect(tags(stage)).toContain(undefined)
    expect(new Set(stage.film.slice(changed).map(({ status }) => status?.targetDeploymentID)).size).toBe(1)
  })
})

test('U2 another tag is pinned until the same version has settled under the new operator: two rolls, one hold', async () => {
  await play(pinned, async (stage) => {
    const ended = await stage.upgrade('v1.9.0')
    expect(ended.code).toBe(0)
    expect(ended.text).toContain('two rolls')
    expect(targets(stage)).toHaveLength(3)
    const moved = stage.film.find(({ spec }) => spec?.imageTag === 'v1.9.0')
    expect(moved?.status).toMatchObject({
      observedKubeVirtVersion: 'v1.8.3',
      operatorVersion: expect.stringContaining('1.9.0'),
    })
    expect(moved?.status?.observedDeploymentID).toBe(moved?.status?.targetDeploymentID)
    const methods = stage.film.map(({ spec }) => spec?.workloadUpdateStrategy?.workloadUpdateMethods?.join())
    const held = methods.filter((now, i) => now !== methods[i - 1])
    expect(held.slice(held.indexOf(''))).toEqual(['', 'LiveMigrate'])
  })
})

test('U2 a target operator before v1.7 with another tag pinned is refused', async () => {
  const old = { ...small, version: 'v1.5.1', operator: 'v1.5.2', method: 'image-tag' } as const
  await play(old, async (stage) => {
    const ended = await stage.upgrade('v1.6.0')
    expect(ended).toMatchObject({ code: 3, error: { reason: 'pinned-tag' } })
    expect(stage.writes()).toEqual([])
  })
})

test("U2 image-tag with an operator of v0.59 to v1.6: only to that operator's own version", async () => {
  const old = { ...small, version: 'v1.5.2', operator: 'v1.6.2', method: 'image-tag' } as const
  await play(old, async (stage) => {
    const refused = await stage.upgrade('v1.6.1', { method: 'image-tag' })
    expect(refused).toMatchObject({ code: 3, error: { reason: 'operator-runs-own-strategy' } })
    expect(stage.writes()).toEqual([])
    expect(await stage.upgrade('v1.6.2', { method: 'image-tag' })).toMatchObject({ code: 0 })
  })
})

test('U3 a registry without a tag is no lock: the operator manifest, and the registry is kept', async () => {
  await play({ ...small, version: 'v1.8.4' }, async (stage) => {
    stage.edit({ imageRegistry: 'quay.io/kubevirt' })
    await stage.until(60_000)
    const ended = await stage.upgrade('v1.9.0')
    expect(ended).toMatchObject({ code: 0, documents: [{ method: 'operator-manifest' }] })
    expect(stage.kubevirt.spec).toMatchObject({ imageRegistry: 'quay.io/kubevirt' })
    expect(stage.kubevirt.spec?.imageTag).toBeUndefined()
  })
})

test('U3 tag and registry move in one patch', async () => {
  await play(byTag, async (stage) => {
    const options = { method: 'image-tag', imageRegistry: 'mirror.example/kubevirt' } as const
    expect(await stage.upgrade('v1.8.4', options)).toMatchObject({ code: 0 })
    const pairs = stage.film.map(({ spec }) => `${spec?.imageRegistry}:${spec?.imageTag}`)
    expect(pairs).not.toContain('mirror.example/kubevirt:v1.7.0')
    expect(pairs).not.toContain('quay.io/kubevirt:v1.8.4')
    expect(pairs.at(-1)).toBe('mirror.example/kubevirt:v1.8.4')
  })
})

test('--image-registry where tag and registry were taken out: the new registry is put in with the tag, one roll', async () => {
  await play(lifted, async (stage) => {
    expect(stage.kubevirt.spec?.imageRegistry).toBe('quay.io/kubevirt')
    const imageRegistry = 'mirror.example/kubevirt'
    expect(await stage.upgrade('v1.9.0', { imageRegistry })).toMatchObject({ code: 0 })
    expect(stage.kubevirt.spec).toMatchObject({ imageTag: 'v1.9.0', imageRegistry })
    expect(stage.kubevirt.status?.observedKubeVirtRegistry).toBe(imageRegistry)
    expect(new Set(stage.film.map(({ status }) => status?.targetDeploymentID)).size).toBe(2)
  })
})

test.each([20, 45])(
  'U2 cut off in the first of two rolls, after %i s: the same line waits for it and goes on',
  async (seconds) => {
    await play({ ...pinned, workers: 2 }, async (stage) => {
      const stop = new AbortController()
      stage.later(seconds * 1000, () => stop.abort(interrupted('SIGINT')))
      expect(await stage.upgrade('v1.9.0', {}, { signal: stop.signal })).toMatchObject({ code: 130 })
      const { observedDeploymentID: observed, ...status } = stage.kubevirt.status ?? {}
      expect(status).toMatchObject({ targetKubeVirtVersion: 'v1.8.3', observedKubeVirtVersion: 'v1.8.3' })
      expect(status.targetDeploymentID).not.toBe(observed)

      const ended = await stage.upgrade('v1.9.0')
      expect(ended).toMatchObject({ code: 0 })
      expect(ended.text).not.toContain('replaces it')
      const moved = stage.film.find(({ spec }) => spec?.imageTag === 'v1.9.0')
      expect(moved?.status?.observedDeploymentID).toBe(status.targetDeploymentID)
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
    })
  },
)
