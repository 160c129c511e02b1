import { expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type Due, dueFor, type OutlookRules } from '../../../../src/lib/vms/workload-updater.ts'
import { outlookOf } from '../../../../src/lib/vms/vm-outlook.ts'
import { aVm, aVmi, newLauncher } from './a-vmi.ts'

/**
 * Done 1: facts 9.3, KubeVirt's own table of the workload updater, one row or more for each of its tests. Limits and batches (224, 426, 454) say when,
 * not what: whoever waits is told the same fate as who is first. What is due is what the updater counts: the launcher, by both methods, unless it is said.
 */
type Row = readonly [
  what: string,
  vmi: VirtualMachineInstance,
  /** The fate, and the reason that decides. */
  expected: string,
  more?: { methods?: readonly string[]; due?: Due | undefined } & Partial<OutlookRules>,
]

const is = (type: string, status: 'True' | 'False' = 'True') => ({ conditions: [{ type, status }] })
const current = { status: { launcherContainerImageVersion: newLauncher } }
const currentWith = (type: string, status: 'True' | 'False' = 'True') => ({ ...current, ...is(type, status) })
const stuck = aVmi({ migratable: 'False' })
const migrating = new Map([
  ['shop/db-0', { namespace: 'shop', name: 'move', phase: 'Running', since: '2026-11-01T00:00:00Z' }],
])
const begun = { migrationState: { startTimestamp: '2026-11-01T00:00:00Z' } }
const ended = { migrationState: { ...begun.migrationState, endTimestamp: '2026-11-01T00:01:00Z' } }
const onNode = (name: string) => ({
  name,
  persistentVolumeClaimInfo: { accessModes: ['ReadWriteOnce'] },
})
/** Its disks are not shared; they move along with their volumes. */
const local = (volumes: readonly string[], why: string, more = {}) =>
  aVmi({
    migratable: 'False',
    reason: 'DisksNotLiveMigratable',
    ...more,
    status: {
      migratedVolumes: [{ volumeName: 'data' }],
      volumeStatus: volumes.map(onNode),
      conditions: [{ type: why, status: 'False' }],
    },
  })
const [migrates, restarts] = ['migrates (migratable)', 'restarts (evict-on, comes-back)']
const stays = 'stays (current, no-way-back)'
const live = { methods: ['LiveMigrate'] }
const evict = { methods: ['Evict'] }
const idle = { due: undefined }

const rows: readonly Row[] = [
  ['122, 158, 224, 305 outdated and migratable, now or later', aVmi(), migrates],
  ['158, 224, 305 outdated and not migratable', stuck, restarts],
  ['141 nothing while KubeVirt is updating', aVmi(), 'migrates (migratable, updating)', { updating: true }],
  ['158 up to date, not migratable', aVmi({ migratable: 'False', ...current }), stays, idle],
  ['265 one in flight is counted and left alone', aVmi(), 'migrates (migrating)', { migrating }],
  ['265 one whose migration has ended is taken again', aVmi({ status: ended }), migrates],
  ['305 up to date and migratable', aVmi(current), stays, idle],
  ['349 no method, migratable', aVmi(), 'stays (no-methods)', { methods: [] }],
  ['349 no method, not migratable', stuck, 'stays (no-methods)', { methods: [] }],
  ['373, 426, 454 Evict alone shuts down even what is migratable', aVmi(), restarts, evict],
  [
    '403 no eviction while a migratable one migrates',
    aVmi(),
    'migrates (migrating)',
    { ...evict, migrating },
  ],
  [
    '403 no eviction while one that is not migratable migrates',
    aVmi({ migratable: 'False', status: begun }),
    'migrates (migrating)',
    evict,
  ],
  [
    '501 memory hotplug needs a migration',
    aVmi(currentWith('HotMemoryChange')),
    'migrates (migratable, no-way-back)',
    { due: 'hotplug' },
  ],
  [
    '501 memory that is not to be changed does not',
    aVmi(currentWith('HotMemoryChange', 'False')),
    stays,
    idle,
  ],
  [
    '501 CPU hotplug does, whatever its status',
    aVmi(currentWith('HotVCPUChange', 'False')),
    'migrates (migratable, no-way-back)',
    { due: 'hotplug' },
  ],
  ['572 a change that is taken back is due no more', aVmi(current), stays, { ...live, ...idle }],
  [
    '605 a change in progress is due',
    aVmi(currentWith('HotMemoryChange')),
    'migrates (migrating, no-way-back)',
    { ...live, migrating, due: 'hotplug' },
  ],
  [
    '620 aborted by its annotation, with the change',
    aVmi({
      ...currentWith('HotMemoryChange'),
      metadata: { annotations: { 'kubevirt.io/testWorkloadUpdateMigrationAbortion': '' } },
    }),
    stays,
    { ...live, ...idle },
  ],
  [
    '636 the domain is ready on the target: not aborted',
    aVmi({ status: { ...current.status, ...begun } }),
    'migrates (migrating, no-way-back)',
    { ...live, ...idle },
  ],
  [
    '665 a volume change',
    aVmi(currentWith('VolumesChange')),
    'migrates (migratable, no-way-back)',
    { due: 'volumes' },
  ],
  [
    '665 volumes move along although the disks are not shared',
    local(['data'], 'LiveMigratable', is('VolumesChange')),
    'migrates (volumes-move)',
  ],
  [
    '665 but not where another disk stays on its node',
    local(['data', 'log'], 'LiveMigratable'),
    'stays (not-migratable)',
    live,
  ],
  [
    '665 nor where more than its disks keeps it',
    local(['data'], 'StorageLiveMigratable', is('StorageLiveMigratable', 'False')),
    'stays (not-migratable)',
    live,
  ],
  ['694 an upgrade and a hotplug differ in priority only', aVmi(is('HotMemoryChange')), migrates],
  [
    '366 what does not run is not considered',
    aVmi({ status: { phase: 'Scheduling' } }),
    'stays (not-running)',
    idle,
  ],
  [
    '366 nor what is being deleted',
    aVmi({ metadata: { deletionTimestamp: '2026-11-01T00:00:00Z' } }),
    'stays (not-running)',
    idle,
  ],
  [
    '301 a launcher that is not known yet is not outdated',
    aVmi({ status: { launcherContainerImageVersion: '' } }),
    migrates,
    idle,
  ],
]

const launcher = (image: string) => ({ inUse: image === newLauncher, old: false })

test.each(rows.map((row) => [row[0], row] as const))('facts 9.3: %s', (_, [, vmi, expected, more = {}]) => {
  const { due, ...rules } = { methods: ['LiveMigrate', 'Evict'], due: 'launcher' as const, ...more }
  expect(dueFor(vmi, newLauncher)).toBe(due)
  const { outcome, why } = outlookOf(vmi, aVm('Always'), { clusterEviction: undefined, launcher, ...rules })
  expect(`${outcome} (${why.map(({ id }) => id).join(', ')})`).toBe(expected)
})
