import { expect, test } from 'vitest'
import { type Pod, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { byTag, type Ended, play, type Stage } from './stage.ts'
import { documentOf } from './updates.ts'

const count = 200
const splitVm = 'vm-120'
const vms = Array.from({ length: count }, (_, i) => ({
  name: `vm-${i + 1}`,
  migration:
    `vm-${i + 1}` === splitVm ? ('split' as const) : i % 5 === 0 ? ('fail-once' as const) : ('3s' as const),
}))

/** What the simulator itself has seen: of each VM, what was under way together, and what succeeded. */
class Record {
  readonly open = new Map<string, Set<string>>()
  readonly succeeded = new Map<string, number>()
  readonly failed = new Map<string, number>()
  most = 0
  together = 0
  readonly #over = new Set<string>()

  constructor({ simulated }: Stage) {
    simulated.store.watch(VirtualMachineInstanceMigrations, ({ type, object }) => {
      const { metadata, spec, status } = object as {
        metadata: { uid: string }
        spec?: { vmiName?: string }
        status?: { phase?: string }
      }
      const vm = spec?.vmiName ?? ''
      const open = this.open.get(vm) ?? new Set()
      this.open.set(vm, open)
      const phase = status?.phase ?? ''
      if (phase !== 'Succeeded' && phase !== 'Failed' && type !== 'DELETED') open.add(metadata.uid)
      else {
        open.delete(metadata.uid)
        if (!this.#over.has(metadata.uid)) {
          const ends = phase === 'Succeeded' ? this.succeeded : this.failed
          ends.set(vm, (ends.get(vm) ?? 0) + 1)
        }
        this.#over.add(metadata.uid)
      }
      this.most = Math.max(this.most, open.size)
      this.together = Math.max(
        this.together,
        [...this.open.values()].reduce((sum, { size }) => sum + size, 0),
      )
    })
  }
}

const inOutcome = (ended: Ended, outcome: string) =>
  documentOf(ended)
    .items.filter((item) => item.outcome === outcome)
    .map(({ name }) => name)

test('200 VMs: a fifth fails once, a node dies, one VM gets two launchers; it stops by its rules, goes on, and its report is true', async () => {
  await play({ ...byTag, workers: 6, methods: [], vms }, async (stage) => {
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    const limits = { parallelMigrationsPerCluster: 15, parallelOutboundMigrationsPerNode: 4 }
    stage.edit({ configuration: { migrations: limits } })
    const record = new Record(stage)
    const { store, faults } = stage.simulated

    // Two launchers for one VMI: nothing else may move.
    const split = await stage.update({ retries: '2' })
    expect(split).toMatchObject({ code: 3, error: { reason: 'two-launchers' } })
    expect(split.error?.message).toContain(`demo/${splitVm}`)
    const vmi: VirtualMachineInstance | undefined = store.read(VirtualMachineInstances, {
      name: splitVm,
      namespace: 'demo',
    })
    const labels = `kubevirt.io/created-by=${vmi?.metadata.uid}`
    const launchers: readonly Pod[] = store.list(Pods, { namespace: 'demo', labels }).items
    for (const pod of launchers)
      if (pod.spec?.nodeName !== vmi?.status?.nodeName) store.remove(Pods, pod.metadata, {})

    // A node dies under it.
    stage.later(20_000, () => faults.set({ notReady: ['worker-2'] }))
    const died = await stage.update({ retries: '1', maxFailures: '4' })
    expect(died).toMatchObject({ code: 3, error: { reason: 'too-many-failures' } })
    expect(died.error?.message).toContain('virt-handler on worker-2 is not there')
    expect(inOutcome(died, 'failed').length).toBeGreaterThanOrEqual(4)

    faults.set({ notReady: undefined })
    await stage.until(10 * 60_000)
    const done = await stage.update({ retries: '2' })
    expect(done).toMatchObject({ code: 0 })
    const left = store.list(VirtualMachineInstances, { labels: 'kubevirt.io/outdatedLauncherImage' }).items
    expect(left).toEqual([])

    // Never two migrations of one VM at a time, never more than KubeVirt takes, and each moved once.
    expect(record.most).toBe(1)
    expect(record.together).toBeLessThanOrEqual(15)
    expect([...record.succeeded.values()].filter((times) => times !== 1)).toEqual([])
    expect(record.succeeded.size).toBe(count)
    // What was under way when a run was stopped is moved once, and told by none as migrated.
    const runs = [split, died, done]
    const migrated = runs.flatMap((ended) => inOutcome(ended, 'migrated'))
    const begun = runs.flatMap((ended) => inOutcome(ended, 'moving'))
    expect(new Set(migrated).size).toBe(migrated.length)
    expect(new Set([...migrated, ...begun])).toEqual(new Set(record.succeeded.keys()))
    for (const ended of runs) {
      const told = documentOf(ended).items.filter(({ outcome }) => outcome === 'failed')
      for (const { name, failures = 0 } of told)
        expect(record.failed.get(name) ?? 0).toBeGreaterThanOrEqual(failures)
    }
  })
}, 300_000)
