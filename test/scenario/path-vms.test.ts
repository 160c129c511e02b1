// Whole paths over three minors: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { applyManifest } from '../../src/lib/manifests/apply-manifest.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { restarted } from './machines.ts'
import { all, along, onePointFive, store, stuck } from './path.ts'
import { minute, play, second, type Stage } from './stage.ts'

const pet = { name: 'pet', evictionStrategy: 'None', notMigratable: 'DisksNotLiveMigratable' }
const failing = { name: 'failing', migration: 'fail' } as const

const tagOf = ({ status }: VirtualMachineInstance) => status?.launcherContainerImageVersion?.split(':').at(-1)

function launchers(stage: Stage): Record<string, string | undefined> {
  const vmis = stage.simulated.store.list(VirtualMachineInstances).items as VirtualMachineInstance[]
  return Object.fromEntries(vmis.map((vmi) => [vmi.metadata.name, tagOf(vmi)]))
}

const observed = (stage: Stage) => stage.kubevirt.status?.observedKubeVirtVersion

/** Between two steps: KubeVirt is where the first of them leads, VM updates are resumed, and nothing is owed. */
async function expectBetween(stage: Stage): Promise<void> {
  expect(observed(stage)).toBe('v1.6.6')
  expect(stage.kubevirt.status?.targetKubeVirtVersion).toBe('v1.6.6')
  expect(stage.methods).toEqual(['LiveMigrate'])
  expect(await stage.journal.overrides()).toEqual([])
  expect(stage.holder).toBe('')
}

describe('VMs between two steps of an upgrade path', () => {
  test('one that cannot be migrated ends the run there, named; restarted, the same line goes on', () =>
    play({ ...onePointFive, vms: [{ name: 'web-1' }, stuck] }, async (stage) => {
      store(stage, ...all)
      const ended = await along(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
      expect(ended.text).toContain('demo/stuck (not migratable: a host device (HostDeviceNotLiveMigratable))')
      expect(ended.text).toContain('virtctl restart stuck -n demo')
      expect(ended.error?.message).not.toContain('web-1')
      expect(launchers(stage)).toEqual({ 'web-1': 'v1.6.6', stuck: 'v1.5.2' })
      await expectBetween(stage)
      await restarted(stage, 'stuck')
      await stage.until(minute)
      // Its next virt-launcher is too old for the step after the next one.
      const again = await along(stage, {}, { host: 'other' })
      expect(again).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
      expect(observed(stage)).toBe('v1.7.4')
      await restarted(stage, 'stuck')
      await stage.until(minute)
      // A restart between two runs is none that a run has lost.
      const last = await along(stage)
      expect(last.code).toBe(0)
      expect(last.documents.at(-1)).toMatchObject({ outcome: 'done', to: 'v1.8.4' })
      expect(observed(stage)).toBe('v1.8.4')
    }))

  test('one that Evict would shut down is a risk of the whole path, taken once by its name', () =>
    play(
      { ...onePointFive, methods: ['LiveMigrate', 'Evict'], vms: [{ name: 'web-1' }, pet] },
      async (stage) => {
        store(stage, ...all)
        const refused = await along(stage)
        expect(refused).toMatchObject({ code: 3, error: { reason: 'evictions' } })
        expect(refused.text).toContain('--accept evictions')
        expect(refused.text).not.toContain('goes as far as')
        expect(refused.text).not.toContain('--leave-paused')
        expect(await along(stage, { accept: ['evictions'] })).toMatchObject({ code: 0 })
        expect(observed(stage)).toBe('v1.8.4')
      },
    ))

  test('one whose migrations fail again and again is told after three of them', () =>
    play({ ...onePointFive, vms: [{ name: 'web-1' }, failing] }, async (stage) => {
      store(stage, ...all)
      const ended = await along(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
      expect(ended.text).toMatch(/demo\/failing \(its migration failed \d times in a row/u)
      expect(ended.took).toBeLessThan(15 * minute)
      await expectBetween(stage)
    }))

  test('where no updates are set it is said before the question, and the run ends after the first step', () =>
    play({ ...onePointFive, vms: 1, methods: [] }, async (stage) => {
      store(stage, ...all)
      const ended = await along(stage)
      expect(ended.lines.join('\n')).toContain(
        '1 VM does not move by itself: the run ends before the first step that it is too old for',
      )
      expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
      expect(ended.text).toContain('kvup workloads update')
      expect(observed(stage)).toBe('v1.6.6')
    }))

  test('stopped behind a roll, VM updates still paused: they are resumed and VMs waited for before the next', () =>
    play({ ...onePointFive, vms: [stuck] }, async (stage) => {
      store(stage, ...all)
      expect(await along(stage, { until: 'healthy-v1.6.6' })).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual([])
      const ended = await along(stage, {}, { host: 'other' })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-do-not-follow' } })
      await expectBetween(stage)
    }))

  test('--between none is a risk to take by name, and then waits for nobody', () =>
    play({ ...onePointFive, vms: [stuck] }, async (stage) => {
      store(stage, ...all)
      const { mark } = stage
      const refused = await along(stage, { between: 'none' })
      expect(refused).toMatchObject({ code: 3, error: { reason: 'launcher-age' } })
      expect(refused.text).toContain('--accept launcher-age')
      expect(stage.writes(mark)).toEqual([])
      const ended = await along(stage, { between: 'none', accept: ['launcher-age'] })
      expect(ended).toMatchObject({ code: 0 })
      expect(launchers(stage)).toEqual({ stuck: 'v1.5.2' })
    }))

  test('Ctrl-C while VMs are waited for leaves their updates resumed', () =>
    play({ ...onePointFive, vms: [{ name: 'slow', migration: '3600s' }] }, async (stage) => {
      store(stage, ...all)
      const stop = new AbortController()
      const ended = await along(
        stage,
        {},
        {
          signal: stop.signal,
          commandLine: 'kvup upgrade --to v1.8.4 --manifest-base releases --yes',
          onEvent: ({ kind, ...event }: { kind: string; step?: { id: string } }) => {
            if (kind === 'step-waiting' && event.step?.id === 'vms-follow-v1.6.6')
              stop.abort(interrupted('SIGINT'))
          },
        },
      )
      expect(ended.code).toBe(130)
      expect(ended.text).toContain('--yes     continues')
      expect(ended.text).not.toContain('saved')
      await expectBetween(stage)
    }))

  test('--timeout is of each step', () =>
    play({ ...onePointFive, vms: 0 }, async (stage) => {
      store(stage, ...all)
      const ended = await along(stage, { timeout: '2m' })
      expect(ended).toMatchObject({ code: 0 })
      expect(ended.took).toBeGreaterThan(150 * second)
    }))
})

test('somebody upgraded it by hand between two steps: told, and the same line plans the rest', () =>
  play({ ...onePointFive, vms: [{ name: 'slow', migration: '40s' }] }, async (stage) => {
    store(stage, ...all, 'v1.7.0')
    let done: Promise<unknown> | undefined
    const onEvent = ({ kind, ...event }: { kind: string; step?: { id: string } }) => {
      if (kind === 'step-waiting' && event.step?.id === 'vms-follow-v1.6.6')
        done ??= applyManifest(stage.simulated.operatorManifest('v1.7.0'), {
          reader: stage.cluster.reader,
          writer: stage.cluster.writer,
        })
    }
    const ended = await along(stage, {}, { onEvent })
    await done
    expect(ended.code).toBe(3)
    expect(ended.text).toMatch(/v1\.7\.0/u)
    await stage.until(3 * minute)
    expect(await along(stage, { accept: ['healthy-now'] })).toMatchObject({ code: 0 })
    expect(observed(stage)).toBe('v1.8.4')
  }))
