import { expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { knownReleases } from '../../../../src/lib/releases/releases.ts'
import { launchersOf, outcomeOf, type OutlookRules } from '../../../../src/lib/vms/workload-updater.ts'
import { outlookOf } from '../../../../src/lib/vms/vm-outlook.ts'
import { aVm, aVmi, newLauncher } from './a-vmi.ts'
import fixture from './outlook.json' with { type: 'json' }

const rules = (methods: readonly string[], more: Partial<OutlookRules> = {}): OutlookRules => ({
  methods,
  clusterEviction: undefined,
  ...more,
})
const both = ['LiveMigrate', 'Evict']
const now = '2026-11-01T12:00:00Z'
const ids = (outlook: ReturnType<typeof outlookOf>) => outlook.why.map(({ id }) => id).join(' ')

/** facts 3.4 and 3.5, row by row: methods, migratable, evictionStrategy, runStrategy (`bare`: no VM), fate, reasons. */
test.each<[string[], 'True' | 'False' | 'Unknown' | 'absent', string | null, string, string, string]>(
  fixture.fates as never,
)(
  'facts 3.5: methods %j, migratable %s, eviction %s, runStrategy %s: %s (%s)',
  (...[methods, migratable, eviction, run, outcome, why]) => {
    const bare = run === 'bare'
    const vmi = aVmi({ migratable, ...(eviction !== null && { eviction }), ...(bare && { owner: 'none' }) })
    const outlook = outlookOf(vmi, bare ? undefined : aVm(run), rules(methods))
    expect([outlook.outcome, ids(outlook)]).toEqual([outcome, why])
    expect(outcomeOf(vmi, rules(methods), bare ? undefined : run)).toBe(outcome)
  },
)

test('a VMI without a strategy of its own follows the cluster’s; its own wins', () => {
  const evict = rules(['Evict'], { clusterEviction: 'LiveMigrate' })
  expect(outlookOf(aVmi({ migratable: 'False' }), aVm('Always'), evict).outcome).toBe('stays')
  expect(outlookOf(aVmi({ migratable: 'False', eviction: 'None' }), aVm('Always'), evict).outcome).toBe(
    'restarts',
  )
})

const textFor = (named: string) =>
  outlookOf(aVmi({ migratable: 'False', reason: named }), aVm('Always'), rules(['LiveMigrate'])).why[0]?.text

test('the reason of the condition is told in plain words and as KubeVirt writes it; one that nobody knows as it is', () => {
  expect(textFor('HostDeviceNotLiveMigratable')).toBe(
    'not migratable: a host device (HostDeviceNotLiveMigratable)',
  )
  expect(textFor('NotMigratable')).toBe('not migratable: NotMigratable')
  expect(textFor('constructor')).toBe('not migratable: constructor')
})

const { three } = fixture

test('W2 what lives in the pod is lost with it, and named; a migration loses nothing', () => {
  const lost = ['containerDisk root', 'emptyDisk scratch', 'ephemeral copy']
  const evicted = outlookOf(aVmi({ migratable: 'False', volumes: three }), aVm('Always'), rules(both))
  expect(evicted).toMatchObject({ outcome: 'restarts', loses: lost })
  expect(evicted.why.at(-1)).toEqual({ id: 'loses-data', text: `loses data on ${lost.join(', ')}` })
  expect(ids(outlookOf(aVmi({ volumes: three }), aVm('Always'), rules(both)))).toBe('migratable')
})

const ownedBy = (owner: string) => outlookOf(aVmi({ migratable: 'False', owner }), undefined, rules(both))

test('W2 a bare VMI is lost, one of a set is replaced, one whose VM is deleted is lost', () => {
  expect(ownedBy('none')).toMatchObject({ outcome: 'is lost', remedy: [] })
  expect(ownedBy('VirtualMachine')).toMatchObject({ outcome: 'is lost' })
  expect([
    ownedBy('VirtualMachineInstanceReplicaSet').outcome,
    ids(ownedBy('VirtualMachineInstanceReplicaSet')),
  ]).toEqual(['restarts', 'evict-on replaced'])
})

test('where VMs may not be read nothing is claimed of their return', () => {
  const outlook = outlookOf(aVmi({ migratable: 'False' }), undefined, rules(both, { vmsUnread: true }))
  expect([outlook.outcome, ids(outlook)]).toEqual(['shuts down', 'evict-on vm-unread'])
})

const onLauncher = (tag: string) =>
  aVmi({ status: { launcherContainerImageVersion: `quay.io/kubevirt/virt-launcher:${tag}` } })

test('W9 a launcher older than a year is marked, and one in use has no way back', () => {
  const at = new Date('2026-11-21T00:00:00Z')
  const launcher = launchersOf({ image: newLauncher, version: 'v1.9.0' }, knownReleases, at)
  const observed = (tag: string) =>
    outlookOf(onLauncher(tag), aVm('Always'), rules(['LiveMigrate'], { launcher }))
  expect(observed('v1.5.0').why.at(-1)).toEqual({
    id: 'old-launcher',
    text: 'v1.5.0 is more than a year old',
  })
  expect(ids(observed('v1.8.4'))).toBe('migratable')
  expect([observed('v1.9.0').outcome, ids(observed('v1.9.0'))]).toEqual(['stays', 'current no-way-back'])
})

test('on one node nothing can migrate, whatever the methods say', () => {
  const alone = rules(both, { nodes: 1 })
  expect(outlookOf(aVmi(), aVm('Always'), alone)).toMatchObject({
    outcome: 'stays',
    why: [{ id: 'one-node' }],
    remedy: ['kubectl get nodes -l kubevirt.io/schedulable=true'],
  })
  expect(outlookOf(aVmi({ migratable: 'False' }), aVm('Always'), alone).outcome).toBe('restarts')
  expect(outlookOf(aVmi(), aVm('Always'), rules(both, { nodes: 2 })).outcome).toBe('migrates')
})

test.each(fixture.helps as unknown as [string, VirtualMachineInstance, string, OutlookRules, string[]][])(
  'what helps where it stays: %s',
  (...[, vmi, run, under, remedy]) => {
    expect(outlookOf(vmi, aVm(run), under)).toMatchObject({ outcome: 'stays', remedy })
  },
)

test('a name that no object could have stays one word', () => {
  const vmi = aVmi({ migratable: 'False', metadata: { name: 'x; rm -rf ~' } })
  expect(outlookOf(vmi, aVm('Always'), rules(['LiveMigrate'])).remedy).toEqual([
    "virtctl restart 'x; rm -rf ~' -n shop     restarts the guest",
  ])
})

test('one on a newer launcher than what is installed has the line that restarts it', () => {
  const vmi = aVmi({ status: { launcherContainerImageVersion: newLauncher } })
  expect(outlookOf(vmi, aVm('Always'), rules(['LiveMigrate'], { installs: 'v1.8.4' }))).toMatchObject({
    outcome: 'restart',
    remedy: ['virtctl restart db-0 -n shop     restarts the guest'],
  })
})

const moving = (since: string | undefined, phase = 'Running') => ({
  at: new Date(now),
  migrating: new Map([['shop/db-0', { namespace: 'shop', name: 'move', phase, ...(since && { since }) }]]),
})
const guest = (memory: object, config: object = {}) => {
  const vmi = aVmi()
  return {
    ...vmi,
    spec: { ...vmi.spec, domain: { memory } },
    status: { ...vmi.status, migrationState: { migrationConfiguration: config } },
  }
}

/** Of a guest of 1 GiB: phase, since when, what becomes of it, what is said. */
test.each<[string, string | null, string, string, string?]>(fixture.since as never)(
  'a migration that is %j since %s says so, and whether it hangs',
  (phase, since, outcome, text) => {
    const found = outlookOf(
      guest({ guest: '1Gi' }),
      undefined,
      rules(['LiveMigrate'], moving(since ?? undefined, phase)),
    )
    expect({ outcome: found.outcome, text: found.why[0]?.text }).toEqual({ outcome, text })
    expect(found.remedy).toEqual(
      outcome === 'stays' ? ['kvup workloads migrations -n shop     shows why, and how to cancel it'] : [],
    )
  },
)

test('a guest of half a terabyte may migrate for hours, and one that was given longer may too', () => {
  const asked = rules(['LiveMigrate'], moving('2026-11-01T05:01:00Z'))
  const large = guest({ guest: '512Gi', hugepages: { pageSize: '1Gi' } })
  const patient = guest({ guest: '1Gi' }, { completionTimeoutPerGiB: 36_000 })
  expect([large, patient].map((vmi) => ids(outlookOf(vmi, undefined, asked)))).toEqual([
    'migrating',
    'migrating',
  ])
})
