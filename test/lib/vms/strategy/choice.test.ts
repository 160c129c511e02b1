import { expect, test } from 'vitest'
import type { KubeVirt } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Forecast } from '../../../../src/lib/vms/forecast/vm-forecast.ts'
import { choiceFindings, choiceText } from '../../../../src/lib/vms/strategy/set-strategy.ts'

const kubevirt = (version: string, featureGates: readonly string[] = []): KubeVirt => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: 'kubevirt', namespace: 'kubevirt' },
  spec: { configuration: { developerConfiguration: { featureGates } } },
  status: { observedKubeVirtVersion: version },
})

const forecast = (interrupted: readonly string[] = []): Forecast => ({
  counts: { migrates: 2, restarts: interrupted.length, 'shuts down': 0, 'is lost': 0, stays: 1 },
  interrupted,
  onLauncher: [],
  evacuating: [],
})

const ids = (findings: ReturnType<typeof choiceFindings>) => findings.map(({ id, level }) => `${id} ${level}`)

test.each([
  ['v0.55.2', [], ['live-migration-gate blocker']],
  ['v0.55.2', ['LiveMigration'], []],
  ['v0.56.0', [], []],
  ['v1.8.4', [], []],
  ['devel', [], []],
])('W7: LiveMigrate on %s with the gates %j', (version, gates, found) => {
  const wanted = { workloadUpdateMethods: ['LiveMigrate'] }
  expect(ids(choiceFindings({ wanted, kubevirt: kubevirt(version, gates), forecast: forecast() }))).toEqual(
    found,
  )
})

test('W7: the migration network makes virt-handler roll, which is said', () => {
  const found = choiceFindings({ wanted: { network: 'fast' }, kubevirt: kubevirt('v1.8.4') })
  expect(ids(found)).toEqual(['migration-network-rolls warning'])
  const without = { wanted: { progressTimeout: 100 }, kubevirt: kubevirt('v1.8.4') }
  expect(choiceFindings(without)).toEqual([])
})

test('contract: Evict is accepted by name where it interrupts VMs, and only there', () => {
  const wanted = { workloadUpdateMethods: ['LiveMigrate', 'Evict'] }
  const found = choiceFindings({
    wanted,
    kubevirt: kubevirt('v1.8.4'),
    forecast: forecast(['demo/pet (restarts)']),
  })
  expect(ids(found)).toEqual(['evictions blocker'])
  expect(found[0]?.objects).toEqual(['demo/pet (restarts)'])
  expect(choiceFindings({ wanted, kubevirt: kubevirt('v1.8.4'), forecast: forecast() })).toEqual([])
})

test.each([
  [['LiveMigrate'], [/KubeVirt migrates 2 VMs, leaves 1 outdated$/, /need migrations$/]],
  [['Evict'], [/KubeVirt migrates 2/, /wait until a VM restarts/]],
  [[], [/no longer moves VMs/, /wait until a VM restarts/]],
] as const)('what %j means for these VMs and for hotplug', (methods, lines) => {
  const said = choiceText({
    wanted: { workloadUpdateMethods: methods },
    kubevirt: kubevirt('v1.8.4'),
    forecast: forecast(),
  })
  expect(said).toHaveLength(lines.length)
  for (const [index, line] of lines.entries()) expect(said[index]).toMatch(line)
})

test('limits alone say nothing of the methods', () => {
  expect(choiceText({ wanted: { progressTimeout: 100 }, kubevirt: kubevirt('v1.8.4') })).toEqual([])
})
