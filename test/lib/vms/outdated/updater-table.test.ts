import { expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type Due, dueFor, type OutlookRules } from '../../../../src/lib/vms/workload-updater.ts'
import { outlookOf } from '../../../../src/lib/vms/vm-outlook.ts'
import { aVm, aVmi, newLauncher } from './a-vmi.ts'

/**
 * Done 1: facts 9.3, KubeVirt's own table of the workload updater, one row or more for each of its tests. Limits and batches (224, 426, 454) say when,
 * not what: whoever waits is told the same fate as who is first. What is due is what the updater counts.
 */
interface Row {
  methods: readonly string[]
  vmi: VirtualMachineInstance
  more?: Partial<OutlookRules>
  due: Due | undefined
  /** The fate, and the reason that decides. */
  expected: string
}

const both = ['LiveMigrate', 'Evict']
const is = (type: string, status: 'True' | 'False' = 'True') => ({ conditions: [{ type, status }] })
const current = { status: { launcherContainerImageVersion: newLauncher } }
const currentWith = (type: string, status: 'True' | 'False' = 'True') => ({ ...current, ...is(type, status) })
const abortion = { 'kubevirt.io/testWorkloadUpdateMigrationAbortion': '' }
const inFlight = new Map([
  ['shop/db-0', { namespace: 'shop', name: 'move', phase: 'Running', since: '2026-11-01T00:00:00Z' }],
])
const begun = { migrationState: { startTimestamp: '2026-11-01T00:00:00Z' } }
const ended = {
  migrationState: { startTimestamp: '2026-11-01T00:00:00Z', endTimestamp: '2026-11-01T00:01:00Z' },
}
const volumeStatus = [{ name: 'data', persistentVolumeClaimInfo: { accessModes: ['ReadWriteOnce'] } }]
const otherVolume = [
  ...volumeStatus,
  { name: 'log', persistentVolumeClaimInfo: { accessModes: ['ReadWriteOnce'] } },
]
const migratedVolumes = [{ volumeName: 'data' }]
const local = { migratable: 'False', reason: 'DisksNotLiveMigratable' } as const

const rows: Readonly<Record<string, Row>> = {
  '122 migrates a VMI': { methods: both, vmi: aVmi(), due: 'launcher', expected: 'migrates (migratable)' },
  '141 nothing while KubeVirt is updating': {
    methods: both,
    vmi: aVmi(),
    more: { updating: true },
    due: 'launcher',
    expected: 'migrates (migratable, updating)',
  },
  '158 counts a migratable one': {
    methods: both,
    vmi: aVmi(),
    due: 'launcher',
    expected: 'migrates (migratable)',
  },
  '158 counts one that is not migratable': {
    methods: both,
    vmi: aVmi({ migratable: 'False' }),
    due: 'launcher',
    expected: 'restarts (evict-on, comes-back)',
  },
  '158 does not count one that is up to date': {
    methods: both,
    vmi: aVmi({ migratable: 'False', ...current }),
    due: undefined,
    expected: 'stays (current, no-way-back)',
  },
  '224 more than the parallel limit: migrates later': {
    methods: both,
    vmi: aVmi({ metadata: { name: 'db-49' } }),
    due: 'launcher',
    expected: 'migrates (migratable)',
  },
  '224 more than a batch: evicted later': {
    methods: both,
    vmi: aVmi({ migratable: 'False', metadata: { name: 'db-49' } }),
    due: 'launcher',
    expected: 'restarts (evict-on, comes-back)',
  },
  '265 one in flight is counted and left alone': {
    methods: both,
    vmi: aVmi(),
    more: { migrating: inFlight },
    due: 'launcher',
    expected: 'migrates (migrating)',
  },
  '265 one whose migration has ended is taken again': {
    methods: both,
    vmi: aVmi({ status: ended }),
    due: 'launcher',
    expected: 'migrates (migratable)',
  },
  '305 outdated and migratable': {
    methods: both,
    vmi: aVmi(),
    due: 'launcher',
    expected: 'migrates (migratable)',
  },
  '305 outdated and not migratable': {
    methods: both,
    vmi: aVmi({ migratable: 'False' }),
    due: 'launcher',
    expected: 'restarts (evict-on, comes-back)',
  },
  '305 up to date and migratable': {
    methods: both,
    vmi: aVmi(current),
    due: undefined,
    expected: 'stays (current, no-way-back)',
  },
  '349 no method, migratable': { methods: [], vmi: aVmi(), due: 'launcher', expected: 'stays (no-methods)' },
  '349 no method, not migratable': {
    methods: [],
    vmi: aVmi({ migratable: 'False' }),
    due: 'launcher',
    expected: 'stays (no-methods)',
  },
  '373 Evict alone shuts down even what is migratable': {
    methods: ['Evict'],
    vmi: aVmi(),
    due: 'launcher',
    expected: 'restarts (evict-on, comes-back)',
  },
  '403 no eviction while a migratable one migrates': {
    methods: ['Evict'],
    vmi: aVmi(),
    more: { migrating: inFlight },
    due: 'launcher',
    expected: 'migrates (migrating)',
  },
  '403 no eviction while one that is not migratable migrates': {
    methods: ['Evict'],
    vmi: aVmi({ migratable: 'False', status: begun }),
    due: 'launcher',
    expected: 'migrates (migrating)',
  },
  '426 the batch size says when': {
    methods: ['Evict'],
    vmi: aVmi({ metadata: { name: 'db-30' } }),
    due: 'launcher',
    expected: 'restarts (evict-on, comes-back)',
  },
  '454 so does the interval': {
    methods: ['Evict'],
    vmi: aVmi({ metadata: { name: 'db-9' } }),
    due: 'launcher',
    expected: 'restarts (evict-on, comes-back)',
  },
  '501 memory hotplug needs a migration': {
    methods: both,
    vmi: aVmi(currentWith('HotMemoryChange')),
    due: 'hotplug',
    expected: 'migrates (migratable, no-way-back)',
  },
  '501 memory that is not to be changed does not': {
    methods: both,
    vmi: aVmi(currentWith('HotMemoryChange', 'False')),
    due: undefined,
    expected: 'stays (current, no-way-back)',
  },
  '501 CPU hotplug does, whatever its status': {
    methods: both,
    vmi: aVmi(currentWith('HotVCPUChange', 'False')),
    due: 'hotplug',
    expected: 'migrates (migratable, no-way-back)',
  },
  '572 a change that is taken back is due no more': {
    methods: ['LiveMigrate'],
    vmi: aVmi(current),
    due: undefined,
    expected: 'stays (current, no-way-back)',
  },
  '605 a change in progress is due': {
    methods: ['LiveMigrate'],
    vmi: aVmi({ ...currentWith('HotMemoryChange') }),
    more: { migrating: inFlight },
    due: 'hotplug',
    expected: 'migrates (migrating, no-way-back)',
  },
  '620 aborted by its annotation, with the change': {
    methods: ['LiveMigrate'],
    vmi: aVmi({ ...currentWith('HotMemoryChange'), metadata: { annotations: abortion } }),
    due: undefined,
    expected: 'stays (current, no-way-back)',
  },
  '636 the domain is ready on the target: not aborted': {
    methods: ['LiveMigrate'],
    vmi: aVmi({ status: { ...current.status, ...begun } }),
    due: undefined,
    expected: 'migrates (migrating, no-way-back)',
  },
  '665 a volume change': {
    methods: both,
    vmi: aVmi(currentWith('VolumesChange')),
    due: 'volumes',
    expected: 'migrates (migratable, no-way-back)',
  },
  '665 volumes move along although the disks are not shared': {
    methods: both,
    vmi: aVmi({
      ...local,
      ...is('VolumesChange'),
      status: { migratedVolumes, volumeStatus, conditions: [{ type: 'LiveMigratable', status: 'False' }] },
    }),
    due: 'launcher',
    expected: 'migrates (volumes-move)',
  },
  '665 but not where another disk stays on its node': {
    methods: ['LiveMigrate'],
    vmi: aVmi({
      ...local,
      status: {
        migratedVolumes,
        volumeStatus: otherVolume,
        conditions: [{ type: 'LiveMigratable', status: 'False' }],
      },
    }),
    due: 'launcher',
    expected: 'stays (not-migratable)',
  },
  '665 nor where more than its disks keeps it': {
    methods: ['LiveMigrate'],
    vmi: aVmi({
      ...local,
      ...is('StorageLiveMigratable', 'False'),
      status: {
        migratedVolumes,
        volumeStatus,
        conditions: [{ type: 'StorageLiveMigratable', status: 'False' }],
      },
    }),
    due: 'launcher',
    expected: 'stays (not-migratable)',
  },
  '694 an upgrade and a hotplug differ in priority only': {
    methods: both,
    vmi: aVmi(is('HotMemoryChange')),
    due: 'launcher',
    expected: 'migrates (migratable)',
  },
  '366 what does not run is not considered': {
    methods: both,
    vmi: aVmi({ status: { phase: 'Scheduling' } }),
    due: undefined,
    expected: 'stays (not-running)',
  },
  '366 nor what is being deleted': {
    methods: both,
    vmi: aVmi({ metadata: { deletionTimestamp: '2026-11-01T00:00:00Z' } }),
    due: undefined,
    expected: 'stays (not-running)',
  },
  '301 a launcher that is not known yet is not outdated': {
    methods: both,
    vmi: aVmi({ status: { launcherContainerImageVersion: '' } }),
    due: undefined,
    expected: 'migrates (migratable)',
  },
}

const launcher = (image: string) => ({ inUse: image === newLauncher, old: false })

test.each(Object.entries(rows))('facts 9.3: %s', (_, { methods, vmi, more, due, expected }) => {
  expect(dueFor(vmi, newLauncher)).toBe(due)
  const { outcome, why } = outlookOf(vmi, aVm('Always'), {
    methods,
    clusterEviction: undefined,
    launcher,
    ...more,
  })
  expect(`${outcome} (${why.map(({ id }) => id).join(', ')})`).toBe(expected)
})
