import { describe, expect, test } from 'vitest'
import { mixedVms } from '../../src/simulator/vm-shape.ts'
import { minute, play } from './stage.ts'
import { editMethods, hyperConvergeds, owners, storedMethods, storedOwner } from './settings-owners.ts'

interface Row {
  name: string
  value: unknown
  origin: string
  note?: string
}

const itemsOf = (document: Record<string, unknown> | undefined) => (document?.['items'] ?? []) as Row[]
const rowsOf = (document: Record<string, unknown> | undefined) =>
  Object.fromEntries(itemsOf(document).map(({ name, value, origin }) => [name, [value, origin]]))

describe.each(owners)('$name', ({ shape, kind, apiVersion }) => {
  test('show: what holds, and who says so', () =>
    play(shape, async (stage) => {
      const mark = stage.mark
      const { code, documents } = await stage.showStrategy()
      expect(code).toBe(0)
      expect(documents).toMatchObject([
        { kind: 'WorkloadStrategy', owner: { kind, apiVersion }, version: 'v1.8.4' },
      ])
      const rows = rowsOf(documents[0])
      expect(rows['workloadUpdateMethods']).toEqual([['Evict', 'LiveMigrate'], kind])
      const byDefault = kind === 'KubeVirt' ? 'default' : kind
      expect(rows['batchEvictionSize']).toEqual([10, byDefault])
      expect(rows['parallelMigrationsPerCluster']).toEqual([5, byDefault])
      expect(rows['pendingPodTimeout']).toEqual([900, 'default'])
      expect(stage.writes(mark)).toEqual([])
    }))

  test('W7: set writes it to the owner in one patch, and ends once KubeVirt has it', () =>
    play(shape, async (stage) => {
      const options = {
        methods: 'LiveMigrate,Evict',
        batchSize: '20',
        batchInterval: '2m',
        parallelPerCluster: '8',
        bandwidth: '64Mi',
        completionTimeout: '5m',
      }
      const mark = stage.mark
      const set = await stage.strategy(options)
      expect(set).toMatchObject({ code: 0, documents: [{ outcome: 'set' }] })
      expect(rowsOf(set.documents[0])).toMatchObject({
        batchEvictionSize: [20, kind],
        batchEvictionInterval: ['2m0s', kind],
        parallelMigrationsPerCluster: [8, kind],
        bandwidthPerMigration: ['64Mi', kind],
        completionTimeoutPerGiB: [300, kind],
      })
      expect(stage.kubevirt.spec?.workloadUpdateStrategy).toMatchObject({
        batchEvictionSize: 20,
        batchEvictionInterval: '2m0s',
      })
      expect(stage.kubevirt.spec?.configuration?.['migrations']).toMatchObject({
        parallelMigrationsPerCluster: 8,
        bandwidthPerMigration: '64Mi',
        completionTimeoutPerGiB: 300,
      })
      const patched = stage
        .writes(mark)
        .filter(({ resource }) => /^(kubevirts|hyperconvergeds)$/.test(resource))
      expect(patched).toHaveLength(1)
      // Their order has no meaning, so that nothing was to be changed of the methods.
      expect(storedMethods(stage)).toBe('["Evict","LiveMigrate"]')
      const again = stage.mark
      expect(await stage.strategy(options)).toMatchObject({ code: 0, documents: [{ outcome: 'already-so' }] })
      expect(stage.writes(again)).toEqual([])
    }))

  test('a dry run and a no change nothing, and say what it would; none is an explicit []', () =>
    play(shape, async (stage) => {
      const mark = stage.mark
      const no = await stage.strategy({ batchSize: '3' }, { yes: false })
      expect(no).toMatchObject({ code: 3, error: { reason: 'answered-no' } })
      for (const dryRun of ['client', 'server'] as const) {
        const ended = await stage.strategy({ methods: 'LiveMigrate', dryRun })
        expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'dry-run', dryRun }] })
        expect(ended.text).toMatch(
          /- .*workloadUpdateMethods: \[Evict, LiveMigrate\]\n.*\+ .*: \[LiveMigrate\]/,
        )
        expect(ended.text).toContain('hotplug of CPU')
      }
      expect(stage.writes(mark).filter((write) => !write.dryRun)).toEqual([])
      const none = await stage.strategy({ methods: 'none' })
      expect(none).toMatchObject({ code: 0, documents: [{ outcome: 'set' }] })
      expect([storedMethods(stage), stage.methods]).toEqual(['[]', []])
      expect(await stage.journal.overrides()).toEqual([])
    }))

  test('held methods are not set, for a restore would find another value: everything else is', () =>
    play(shape, async (stage) => {
      await stage.hold()
      const refused = await stage.strategy({ methods: 'LiveMigrate' })
      expect(refused).toMatchObject({ code: 3, error: { reason: 'paused-updates' } })
      expect(refused.text).toContain('kvup workloads resume-updates')
      expect(storedMethods(stage)).toBe('[]')
      expect(await stage.strategy({ batchSize: '3' })).toMatchObject({
        code: 0,
        documents: [{ outcome: 'set', paused: { methods: ['Evict', 'LiveMigrate'], by: 'jane@here' } }],
      })
      await stage.restore()
      expect(storedMethods(stage)).toBe('["Evict","LiveMigrate"]')
      expect(rowsOf((await stage.showStrategy()).documents[0])['batchEvictionSize']).toEqual([3, kind])
    }))

  test('Helm or GitOps would set it back: said by name', () =>
    play(shape, async (stage) => {
      const owner = storedOwner(stage)
      const found = stage.simulated.store.kinds.ofObject(owner)
      if (!found) throw new Error('not served')
      const labels = { 'app.kubernetes.io/managed-by': 'Helm' }
      const annotations = { 'meta.helm.sh/release-name': 'virt' }
      stage.simulated.store.patch(found, owner.metadata, {
        type: 'merge',
        body: { metadata: kind === 'KubeVirt' ? { labels, annotations } : { annotations } },
      })
      const refused = await stage.strategy({ batchSize: '3' })
      expect(refused).toMatchObject({ code: 3, error: { reason: 'managed-by-helm' } })
      expect(await stage.strategy({ batchSize: '3', accept: ['managed-by-helm'] })).toMatchObject({ code: 0 })
    }))
})

describe.each(hyperConvergeds)('$name', ({ shape }) => {
  test('verified on KubeVirt: what is not passed on is not said to be set', () =>
    play(shape, async (stage) => {
      stage.simulated.faults.set({ hyperConvergedStopped: true })
      const late = await stage.strategy({ batchSize: '3', timeout: '1m' })
      expect(late).toMatchObject({ code: 4 })
      expect(late.text).toContain('to pass batchEvictionSize 3 on to kubevirts/')
      const { documents } = await stage.showStrategy()
      const row = itemsOf(documents[0]).find(({ name }) => name === 'batchEvictionSize')
      expect(row).toMatchObject({ value: 10, origin: 'KubeVirt' })
      expect(row?.note).toContain('HyperConverged has 3: not passed on yet')
    }))
})

test('contract: Evict is accepted by name, with the VMs that it interrupts and what it means before the question', () =>
  play(
    {
      version: 'v1.7.0',
      operator: 'v1.8.4',
      method: 'image-tag',
      workers: 2,
      controlPlanes: 1,
      vms: mixedVms,
    },
    async (stage) => {
      await stage.upgrade('v1.8.4')
      await stage.until(minute)
      const refused = await stage.strategy({ methods: 'LiveMigrate,Evict' })
      expect(refused).toMatchObject({ code: 3, error: { reason: 'evictions' } })
      expect(refused.text).toContain('demo/pet (restarts)')
      expect(refused.text).toContain('demo/once (shuts down)')
      let asked = ''
      const accepted = await stage.strategy(
        { methods: 'LiveMigrate,Evict', accept: ['evictions'] },
        {
          answer: async (question) => {
            asked = question
            return true
          },
        },
      )
      expect(accepted).toMatchObject({ code: 0, documents: [{ outcome: 'set' }] })
      expect(asked).toContain('workloadUpdateMethods')
      expect(accepted.text).toContain('of the outdated VMs, KubeVirt migrates')
      expect(stage.methods).toEqual(['LiveMigrate', 'Evict'])
    },
  ))

test('a value that somebody sets at the same time is not lost: the other fields stay', () =>
  play(owners[0]?.shape ?? {}, async (stage) => {
    const both = await Promise.all([
      stage.strategy({ batchSize: '3' }),
      stage.strategy({ batchInterval: '5m' }, { host: 'another' }),
    ])
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    editMethods(stage, ['LiveMigrate'])
    expect(stage.kubevirt.spec?.workloadUpdateStrategy).toEqual({
      workloadUpdateMethods: ['LiveMigrate'],
      batchEvictionSize: 3,
      batchEvictionInterval: '5m0s',
    })
  }))
