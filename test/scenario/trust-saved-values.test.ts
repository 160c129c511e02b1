import { describe, expect, test } from 'vitest'
import { type ConfigMap, ConfigMaps } from '../../src/lib/kube/kinds/core-kinds.ts'
import type { Override } from '../../src/lib/engine/journal.ts'
import { byManifest, byTag, briefly as play, second, type Stage } from './stage.ts'

/** Findings H1 and L3 of an audit: what anybody but the caller can write is evidence, never an order. */
const place = { name: 'kvup-journal', namespace: 'kubevirt' }
const note = 'kvup.io/saved-workload-updates'
const path = '/spec/workloadUpdateStrategy/workloadUpdateMethods'

/** All that somebody can do who may write this one ConfigMap. */
function plant({ simulated: { store } }: Stage, data: Record<string, string>): void {
  const found = store.read(ConfigMaps, place)
  const made: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...place }, data }
  if (found === undefined) store.create(ConfigMaps, made)
  else store.patch(ConfigMaps, place, { type: 'merge', body: { data } }, { manager: 'evil' })
}

const claimOf = (stage: Stage, value: readonly string[]): Override => ({
  id: 'workload-updates',
  procedure: 'upgrade to v1.8.4',
  object: {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    namespace: 'kubevirt',
    name: 'kubevirt',
    uid: stage.kubevirt.metadata.uid ?? '',
  },
  path,
  was: { present: true, value },
  by: 'jane@here',
  at: '2026-01-01T00:00:00Z',
})

const claim = (stage: Stage, value: readonly string[]) => ({
  overrides: `${JSON.stringify(claimOf(stage, value))}\n`,
})

const takeOff = (stage: Stage) => stage.label({ annotations: { [note]: null } })

describe('trust H1: the journal is history, and no order', () => {
  test('a claim that is changed while the run is under way changes nothing that it gives back', async () => {
    await play(byTag, async (stage) => {
      stage.later(20 * second, () => plant(stage, claim(stage, ['Evict', 'LiveMigrate'])))
      expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    })
  })

  test('nor after the run was killed and another one goes on', async () => {
    await play(byTag, async (stage) => {
      await stage.upgrade('v1.8.4', { leavePaused: true })
      plant(stage, claim(stage, ['Evict', 'LiveMigrate']))
      expect(await stage.restore({}, { host: 'another' })).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    })
  })

  test('a claim that no note confirms is nobody’s order: exit 3, before anything is written', async () => {
    await play({ ...byTag, methods: [] }, async (stage) => {
      plant(stage, claim(stage, ['Evict', 'LiveMigrate']))
      const mark = stage.mark
      for (const ended of [
        await stage.upgrade('v1.8.4'),
        await stage.restore(),
        await stage.plan('v1.8.4'),
      ]) {
        expect(ended.code).toBe(3)
        expect(ended.text).toContain('saved-value-missing')
        expect(ended.text).toContain('kvup workloads strategy set --methods LiveMigrate')
        expect(ended.text).toContain('kvup workloads resume-updates --keep-current')
      }
      expect(stage.writes(mark)).toEqual([])
      expect(stage.methods).toEqual([])
    })
  })

  test('a note of what kvup never saves there, or of another form, is asked about and not obeyed', async () => {
    await play({ ...byTag, methods: [] }, async (stage) => {
      for (const was of [
        { present: true, value: ['Evict', 'Bogus'] },
        { present: true, value: 'Evict' },
        { present: true },
        'Evict',
      ]) {
        const { procedure, by, at, object } = claimOf(stage, [])
        const { apiVersion, uid } = object
        stage.label({
          annotations: { [note]: JSON.stringify({ apiVersion, uid, procedure, path, was, by, at }) },
        })
        const refused = await stage.restore()
        expect(refused).toMatchObject({
          code: 3,
          error: { reason: 'saved-value-missing' },
        })
        expect(stage.methods).toEqual([])
        expect(await stage.restore({ keepCurrent: true })).toMatchObject({ code: 0 })
        expect(stage.kubevirt.metadata.annotations?.[note]).toBeUndefined()
      }
    })
  })
})

const heldWithoutNote = async (stage: Stage) => {
  await stage.upgrade('v1.8.4', { leavePaused: true })
  takeOff(stage)
}

describe('trust: a note that is missing is asked about', () => {
  test('within the run that wrote it nobody has to be asked', async () => {
    await play(byTag, async (stage) => {
      stage.later(20 * second, () => takeOff(stage))
      expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    })
  })

  test('--yes confirms nothing, --accept saved-value-missing goes on and leaves them off, and setting the methods decides it', async () => {
    await play(byTag, async (stage) => {
      await heldWithoutNote(stage)
      expect(await stage.restore({}, { yes: true })).toMatchObject({ code: 3 })
      const accept = ['saved-value-missing', 'release-unknown']
      expect(await stage.upgrade('v1.8.5', { accept, stableFor: '5s' })).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual([])
      expect(await stage.strategy({ methods: 'LiveMigrate' })).toMatchObject({ code: 0 })
      expect(await stage.restore()).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-restore' }] })
    })
  })

  test('a person on a terminal confirms what the journal says, or does not', async () => {
    await play(byTag, async (stage) => {
      await heldWithoutNote(stage)
      const asked: string[] = []
      const answer = (yes: boolean) => ({
        decide: async (question: string) => {
          asked.push(question)
          return yes
        },
      })
      expect(await stage.restore({}, answer(false))).toMatchObject({ code: 3 })
      expect(stage.methods).toEqual([])
      expect(asked).toEqual([expect.stringContaining('has the value LiveMigrate. Restore that value?')])
      expect(await stage.restore({}, answer(true))).toMatchObject({
        code: 0,
        documents: [{ outcome: 'restored', methods: ['LiveMigrate'] }],
      })
      expect(stage.methods).toEqual(['LiveMigrate'])
    })
  })
})

const evil = 'evil.example/kubevirt'

const keptTag = (stage: Stage, version: string, value: object) => ({
  kept: `${JSON.stringify({ key: `tag-at/${stage.kubevirt.metadata.uid}/${version}`, value })}\n`,
})

describe('trust H1: a registry is never taken from the journal', () => {
  test.each([{ tag: null, registry: evil }, { tag: 'v1.8.4', registry: evil }, 'evil'])(
    'a tag that was kept as %j: the tag moves, the registry does not',
    async (value) => {
      await play(byTag, async (stage) => {
        const { imageRegistry: before } = stage.kubevirt.spec ?? {}
        plant(stage, keptTag(stage, 'v1.8.4', value as object))
        const ended = await stage.upgrade('v1.8.4')
        expect(ended).toMatchObject({ code: 0 })
        expect(stage.kubevirt.spec?.imageRegistry).toBe(before)
        expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
        expect(JSON.stringify(stage.film)).not.toContain(evil)
      })
    },
  )

  test('a sealed plan runs exactly what it shows, or nothing: exit 5 with the difference', async () => {
    await play(byTag, async (stage) => {
      expect(await stage.plan('v1.8.4')).toMatchObject({ code: 0 })
      plant(stage, keptTag(stage, 'v1.8.4', { tag: null, registry: evil }))
      const ended = await stage.upgrade(undefined, { plan: 'plan.yaml' })
      expect(ended).toMatchObject({ code: 5, error: { reason: 'drifted' } })
      expect(ended.text).toContain(
        'spec.imageTag of kubevirts/kubevirt in namespace kubevirt would become absent; the plan sets v1.8.4',
      )
      expect(JSON.stringify(stage.film)).not.toContain(evil)
      expect(stage.kubevirt.spec?.imageTag).toBe('v1.7.0')
    })
  })

  test('a claim of a tag that was taken out puts none in, and no registry', async () => {
    await play(byManifest, async (stage) => {
      const { object, ...rest } = claimOf(stage, [])
      const was = { present: true, value: { tag: 'v1.8.4', registry: evil } }
      const forged = { ...rest, id: 'image-tag', object, path: '/spec/imageTag', was }
      plant(stage, { overrides: `${JSON.stringify(forged)}\n` })
      const refused = await stage.upgrade('v1.9.0')
      expect(refused).toMatchObject({ code: 3, error: { reason: 'saved-value-missing' } })
      const ended = await stage.upgrade('v1.9.0', { accept: ['saved-value-missing'] })
      expect(ended).toMatchObject({ code: 0 })
      expect(stage.kubevirt.spec?.imageTag).toBeUndefined()
      expect(JSON.stringify(stage.film)).not.toContain(evil)
    })
  })

  test('what kvup itself set is taken out again on the way back', async () => {
    await play(byManifest, async (stage) => {
      const accept = ['release-unknown']
      const imageRegistry = 'mirror.example/kubevirt'
      const there = { method: 'image-tag', imageRegistry, timeout: '2m', accept } as const
      stage.simulated.faults.set({ unpullable: ':v1\\.8\\.5$' })
      expect(await stage.upgrade('v1.8.5', there)).toMatchObject({ code: 4 })
      expect(stage.kubevirt.spec?.imageRegistry).toBe('mirror.example/kubevirt')
      const back = await stage.upgrade('v1.8.4', { method: 'image-tag' })
      expect(back).toMatchObject({ code: 0 })
      const intents = (await stage.journal.entries()).filter(({ what }) => what === 'intends')
      expect(intents.map(({ text }) => text)).toContain(
        'remove imageTag v1.8.5 and imageRegistry mirror.example/kubevirt from kubevirts/kubevirt in namespace kubevirt again',
      )
      expect(stage.kubevirt.spec?.imageRegistry).toBeUndefined()
      expect(stage.kubevirt.spec?.imageTag).toBeUndefined()
    })
  })
})

describe('trust L3: a garbled journal', () => {
  test('in a run: said, moved aside, and the run ends as it would', async () => {
    await play(byTag, async (stage) => {
      stage.later(20 * second, () => plant(stage, { overrides: 'garbage', entries: '{"broken' }))
      const ended = await stage.upgrade('v1.8.4')
      expect(ended).toMatchObject({ code: 0 })
      expect(ended.text).toContain('has entries that kvup did not write')
      expect(ended.text).not.toContain('Nothing was changed')
      expect(stage.methods).toEqual(['LiveMigrate'])
      const journal = stage.simulated.store.read(ConfigMaps, place) as ConfigMap
      expect(journal.data?.['unreadable']).toBe('{"broken\ngarbage\n')
    })
  })
})
