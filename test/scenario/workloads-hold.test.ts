import { describe, expect, test } from 'vitest'
import { kvupUser, minute, play, second, type Stage } from './stage.ts'
import { editMethods, hyperConvergeds, owners, storedMethods, storedOwner } from './settings-owners.ts'

const first = '["Evict","LiveMigrate"]'

describe.each(owners)('$name', ({ shape, kind, apiVersion }) => {
  const on = (act: (stage: Stage) => Promise<void>) => play(shape, act)

  test('contract: hold notes the value on the object that it empties, in one patch, and ends once KubeVirt has it', () =>
    on(async (stage) => {
      // Two at once: one borrows, the other finds it held.
      const both = await Promise.all([stage.hold(), stage.hold({}, { host: 'another' })])
      expect(both.map(({ code }) => code)).toEqual([0, 0])
      const [paused, already] = both.flatMap(({ documents }) => documents)
      const owner = { owner: { kind, apiVersion }, kept: ['Evict', 'LiveMigrate'] }
      expect([paused, already]).toMatchObject([
        { outcome: 'paused', ...owner },
        { outcome: 'already-paused', ...owner },
      ])
      expect(storedMethods(stage)).toBe('[]')
      expect(stage.methods).toEqual([])
      const writes = stage.simulated.store.audit.filter(
        ({ resource, user, verb, dryRun }) =>
          resource === `${kind.toLowerCase()}s` && user === kvupUser && verb === 'patch' && !dryRun,
      )
      expect(writes).toHaveLength(1)
      expect(storedOwner(stage).metadata.annotations?.['kvup.io/saved-workload-updates']).toContain(
        '"value":["Evict","LiveMigrate"]',
      )
      expect(await stage.journal.overrides()).toMatchObject([
        {
          id: 'workload-updates',
          object: { kind, apiVersion },
          was: { present: true, value: ['Evict', 'LiveMigrate'] },
          by: 'jane@here',
        },
      ])
      const entries = await stage.journal.entries()
      expect(entries.map(({ what }) => what)).toEqual(
        'started intends saved applied finished started finished'.split(' '),
      )
      expect(entries[0]?.text).toBe('1 step')
    }))

  test('contract: hold twice, restore from another laptop, restore twice', () =>
    on(async (stage) => {
      await stage.hold()
      const mark = stage.mark
      const again = await stage.hold({}, { host: 'another' })
      expect(again).toMatchObject({
        code: 0,
        documents: [{ outcome: 'already-paused', kept: ['Evict', 'LiveMigrate'], by: 'jane@here' }],
      })
      expect(again.text).toMatch(/\n {2}(?:→|->) kvup workloads resume-updates {5}# resumes them\n/u)
      expect(stage.writes(mark)).toEqual([])
      const restored = await stage.restore({}, { host: 'another' })
      expect(restored).toMatchObject({
        code: 0,
        documents: [{ outcome: 'restored', methods: ['Evict', 'LiveMigrate'] }],
      })
      // The operator has not acted on the hold itself yet: whether VMs get outdated is not known then.
      expect(restored.text).toContain('when resumed, KubeVirt moves nothing\n')
      expect(storedMethods(stage)).toBe(first)
      expect(stage.methods).toEqual(['Evict', 'LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
      const end = stage.mark
      expect(await stage.restore()).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-restore' }] })
      expect(stage.writes(end)).toEqual([])
    }))

  test('contract: what somebody set meanwhile is not overwritten, and both ways out work', () =>
    on(async (stage) => {
      await stage.hold()
      editMethods(stage, ['LiveMigrate'])
      await stage.until(minute)
      const refused = await stage.restore()
      expect(refused).toMatchObject({ code: 3, error: { reason: 'changed-meanwhile' } })
      expect(refused.text).toMatch(/was Evict, LiveMigrate[^]*set it to LiveMigrate meanwhile/)
      expect(await stage.hold()).toMatchObject({ code: 3, error: { reason: 'pause-changed' } })
      expect(storedMethods(stage)).toBe('["LiveMigrate"]')
      expect(await stage.restore({ keepCurrent: true })).toMatchObject({
        code: 0,
        documents: [{ outcome: 'left-as-it-is', methods: ['LiveMigrate'] }],
      })
      expect(storedMethods(stage)).toBe('["LiveMigrate"]')
      await stage.hold()
      editMethods(stage, ['Evict'])
      await stage.until(minute)
      expect(await stage.restore({ overwrite: true })).toMatchObject({ code: 0 })
      expect(storedMethods(stage)).toBe('["LiveMigrate"]')
      expect(await stage.journal.overrides()).toEqual([])
    }))

  test('contract: empty methods are nobody’s loan, and restore does not guess', () =>
    on(async (stage) => {
      editMethods(stage, [])
      await stage.until(minute)
      const mark = stage.mark
      expect(await stage.hold()).toMatchObject({
        code: 0,
        documents: [{ outcome: 'nothing-to-pause', kept: [] }],
      })
      const restored = await stage.restore()
      expect(restored).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-restore' }] })
      expect(restored.text).toMatch(/\n {2}(?:→|->) kvup workloads strategy set --methods LiveMigrate\n/u)
      expect(stage.writes(mark)).toEqual([])
      expect(storedMethods(stage)).toBe('[]')
    }))

  test('a dry run of both changes nothing and says what it would', () =>
    on(async (stage) => {
      const mark = stage.mark
      for (const dryRun of ['client', 'server'] as const) {
        const held = await stage.hold({ dryRun })
        expect(held).toMatchObject({
          code: 0,
          documents: [{ outcome: 'dry-run', dryRun, steps: [{ state: 'would-change' }] }],
        })
        expect(held.text).toMatch(/workloadUpdateMethods: \[Evict, LiveMigrate\]/)
      }
      expect(stage.writes(mark).filter((write) => !write.dryRun)).toEqual([])
      await stage.hold()
      const held = stage.mark
      expect(await stage.restore({ dryRun: 'server' })).toMatchObject({
        code: 0,
        documents: [{ outcome: 'dry-run', methods: [] }],
      })
      expect(stage.writes(held).filter((write) => !write.dryRun)).toEqual([])
      expect(await stage.journal.overrides()).toHaveLength(1)
    }))
})

describe.each(hyperConvergeds)('$name', ({ shape }) => {
  test('contract: hold does not end, and the loan is not closed, before KubeVirt has the value; only the stored version is written', () =>
    play(shape, async (stage) => {
      stage.simulated.faults.set({ hyperConvergedStopped: true })
      stage.later(40 * second, () => stage.simulated.faults.set({ hyperConvergedStopped: undefined }))
      const held = await stage.hold()
      expect(held).toMatchObject({ code: 0, documents: [{ outcome: 'paused' }] })
      expect(held.took).toBeGreaterThanOrEqual(40 * second)
      expect(stage.methods).toEqual([])
      stage.simulated.faults.set({ hyperConvergedStopped: true })
      const late = await stage.restore({ timeout: '1m' })
      expect(late).toMatchObject({ code: 4 })
      expect(late.text).toContain('HyperConverged to pass')
      expect(late.text).toMatch(/kvup restore-settings {5}goes on/)
      expect(storedMethods(stage)).toBe(first)
      expect(await stage.journal.overrides()).toHaveLength(1)
      stage.simulated.faults.set({ hyperConvergedStopped: undefined })
      expect(await stage.restore()).toMatchObject({ code: 0, documents: [{ outcome: 'restored' }] })
      expect(stage.methods).toEqual(['Evict', 'LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
      const owned = stage.simulated.store.audit.filter(
        ({ resource, user, verb, dryRun }) =>
          resource === 'hyperconvergeds' && user === kvupUser && verb === 'patch' && !dryRun,
      )
      // Emptied, given back, and the note taken off once KubeVirt has them again.
      expect(owned).toHaveLength(3)
      expect(storedMethods(stage)).toBe(first)
    }))

  test('night E10: kvup upgrade says which manifest moves a HyperConverged without OLM', () =>
    play(shape, async (stage) => {
      const ended = await stage.upgrade('v1.9.0')
      expect(ended).toMatchObject({ code: 3, error: { reason: 'no-olm' } })
      expect(ended.text).toContain('deploy/operator.yaml')
      expect(await stage.upgrade('v1.9.0', { method: 'operator-manifest' })).toMatchObject({
        code: 3,
        error: { reason: 'managed-by-hyperconverged' },
      })
    }))
})
