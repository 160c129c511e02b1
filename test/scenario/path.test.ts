import { describe, expect, test } from 'vitest'
import type { UpgradeReport } from '../../src/lib/upgrade/upgrade-report.ts'
import { all, along, onePointFive, store } from './path.ts'
import { play } from './stage.ts'

const versions = ['v1.5.2', ...all]

describe('one command over several minors', () => {
  test('is asked once and goes minor by minor, with a plan, a pause of VM updates and a gate for each; a second run writes nothing', async () => {
    await play(onePointFive, async (stage) => {
      store(stage, ...all)
      const questions: string[] = []
      const answer = async (question: string) => questions.push(question) > 0
      const ended = await along(stage, {}, { yes: false, answer })
      expect(ended).toMatchObject({ code: 0 })
      expect(questions).toEqual(['Upgrade KubeVirt from v1.5.2 to v1.8.4 in 3 steps?'])
      const observed = stage.film.map(({ status }) => status?.observedKubeVirtVersion)
      expect([...new Set(observed)].filter((version) => version !== undefined)).toEqual(versions)
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
      const [started] = await stage.journal.entries()
      expect(started).toMatchObject({ what: 'started', procedure: 'upgrade to v1.8.4' })
      expect(started?.text).toMatch(/^upgrade path v1\.5\.2 → v1\.6\.6 → v1\.7\.4 → v1\.8\.4, \d+ steps$/u)
      const held = stage.film.filter(
        ({ spec }) => spec?.workloadUpdateStrategy?.workloadUpdateMethods?.length === 0,
      )
      expect(new Set(held.map(({ status }) => status?.observedKubeVirtVersion)).size).toBe(4)
      const [report] = ended.documents as unknown as UpgradeReport[]
      expect(report).toMatchObject({ from: 'v1.5.2', to: 'v1.8.4', outcome: 'done' })
      expect(report?.path?.map(({ to }) => to)).toEqual(all)
      expect(report?.differences?.vanished).toEqual([])
      expect([...stage.files.keys()].filter((file) => file.startsWith('kvup-backup-'))).toHaveLength(3)
      const { mark } = stage
      expect(await along(stage)).toMatchObject({ code: 0 })
      expect(stage.writes(mark)).toEqual([])
    })
  })

  test('at its last hop, whose steps no name of a release ends, the limits that were typed for the path still hold', async () => {
    await play({ ...onePointFive, version: 'v1.7.4' }, async (stage) => {
      store(stage, ...all)
      const limits = { pauseBefore: ['apply-operator-manifest-v1.8.4'], until: 'virt-handler-v1.8.4' }
      const before = { code: 0, documents: [{ outcome: 'stopped-before' }] }
      expect(await along(stage, limits)).toMatchObject(before)
      expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.7.4')
    })
  })

  test('by imageTag, where a newer operator is there for all of them', async () => {
    const tagged = { ...onePointFive, version: 'v1.7.0', operator: 'v1.9.0', method: 'image-tag' } as const
    await play(tagged, async (stage) => {
      const ended = await stage.upgrade('v1.9.0', { stableFor: '5s' })
      expect(ended).toMatchObject({ code: 0 })
      const tags = stage.film.map(({ spec }) => spec?.imageTag)
      expect([...new Set(tags)]).toEqual(['v1.7.0', 'v1.8.4', 'v1.9.0'])
    })
  })
})
