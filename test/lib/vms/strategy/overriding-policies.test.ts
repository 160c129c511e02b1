import { expect, test } from 'vitest'
import type { MigrationPolicy } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { paintFor } from '../../../../src/lib/output/terminal.ts'
import { policyLines } from '../../../../src/lib/output/views/vms/workload-strategy.ts'
import {
  type EffectiveSetting,
  overridingPolicies,
} from '../../../../src/lib/vms/strategy/workload-settings.ts'

const settings: readonly EffectiveSetting[] = [
  { name: 'bandwidthPerMigration', value: '0Mi', unit: 'bytes per second', origin: 'default' },
  { name: 'completionTimeoutPerGiB', value: 150, unit: 'seconds', origin: 'KubeVirt' },
  { name: 'allowPostCopy', value: false, origin: 'default' },
]

const policy = (
  name: string,
  spec: MigrationPolicy['spec'],
  labels?: Record<string, string>,
): MigrationPolicy => ({
  apiVersion: 'migrations.kubevirt.io/v1alpha1',
  kind: 'MigrationPolicy',
  metadata: { name, ...(labels && { labels }) },
  ...(spec && { spec }),
})

const policies = [
  policy(
    'slow',
    {
      bandwidthPerMigration: '32Mi',
      completionTimeoutPerGiB: 300,
      selectors: {
        namespaceSelector: { env: 'prod' },
        virtualMachineInstanceSelector: { app: 'db', tier: 'one' },
      },
    },
    { 'app.kubernetes.io/managed-by': 'Helm' },
  ),
  policy('every', { allowPostCopy: false, selectors: {} }),
  policy('forgotten', { allowWorkloadDisruption: true }),
  policy('says-nothing', { selectors: { virtualMachineInstanceSelector: { app: 'web' } } }),
]

test('each policy by name, with what it overrides and what holds for all others', () => {
  expect(overridingPolicies(policies, settings)).toEqual([
    {
      name: 'every',
      selects: { namespaces: {}, instances: {} },
      overrides: [{ name: 'allowPostCopy', value: false, cluster: false }],
    },
    { name: 'forgotten', overrides: [{ name: 'allowWorkloadDisruption', value: true }] },
    {
      name: 'slow',
      selects: { namespaces: { env: 'prod' }, instances: { app: 'db', tier: 'one' } },
      manager: { kind: 'helm', owner: 'Helm release' },
      overrides: [
        { name: 'bandwidthPerMigration', value: '32Mi', unit: 'bytes per second', cluster: '0Mi' },
        { name: 'completionTimeoutPerGiB', value: 300, unit: 'seconds', cluster: 150 },
      ],
    },
  ])
})

test('as a table, and nothing at all where there is none', () => {
  const paint = paintFor({ colour: false, unicode: false })
  const size = { columns: Infinity, wide: true }
  expect(policyLines([], paint, size)).toEqual([])
  expect(policyLines(overridingPolicies(policies, settings), paint, size)).toEqual([
    '',
    'For VMs that a MigrationPolicy selects, its values apply instead:',
    'POLICY      SETTING                   VALUE    SELECTS                                       MANAGED-BY',
    'every       allowPostCopy             false    every VM that no other policy selects         <none>',
    'forgotten   allowWorkloadDisruption   true     no VM: it has no selectors                    <none>',
    'slow        bandwidthPerMigration     32Mi/s   namespaces env=prod and VMs app=db,tier=one   Helm release',
    'slow        completionTimeoutPerGiB   300 s    namespaces env=prod and VMs app=db,tier=one   Helm release',
  ])
})
